// SPDX-License-Identifier: Apache-2.0
// The tree of the ranks. A rank stands between the subtrees of lower and of higher ranks.

import { $, palette, phaseNames, put, surface } from './text.js';

export function drawTree(job) {
  const canvas = $('tree'), g = surface(canvas), parents = job.parents;
  const live = parents.map((p, r) => p >= -1 ? r : -1).filter(r => r >= 0);
  if (!g) return;
  const depth = new Map(), at = new Map(live.map((r, i) => [r, i]));
  const level = r => {
    if (!depth.has(r)) depth.set(r, parents[r] < 0 ? 0 : 1 + level(parents[r]));
    return depth.get(r);
  };
  const deepest = Math.max(0, ...live.map(level)), root = live.find(r => parents[r] === -1);
  put($('treenote'), live.length ? `${live.length} ranks, ${deepest + 1} levels, root ${root}` : '');
  canvas.setAttribute('aria-label', `tree of ${live.length} ranks in ${deepest + 1} levels, root ${root}`);
  const w = canvas.clientWidth, h = canvas.clientHeight, step = (w - 40) / Math.max(1, live.length - 1);
  const x = r => live.length === 1 ? w / 2 : 20 + at.get(r) * step;
  const y = r => 22 + level(r) * (h - 44) / Math.max(1, deepest);
  const size = Math.max(1.2, Math.min(10, step * .45, (h - 44) / (2.4 * Math.max(1, deepest))));
  for (const waits of [false, true]) { // edges over which a rank waits are drawn last
    g.strokeStyle = waits ? palette.waiting : palette.line;
    g.lineWidth = waits ? 2.5 : 1;
    g.beginPath();
    for (const r of live) {
      const p = parents[r];
      if (p < 0 || !at.has(p)) continue;
      const stuck = [[r, p], [p, r]].some(([a, b]) => job.rows[a]?.phase === 5 && job.rows[a].for === b);
      if (stuck !== waits) continue;
      g.moveTo(x(r), y(r));
      g.lineTo(x(p), y(p));
    }
    g.stroke();
  }
  g.font = `${Math.min(11, size * 1.2)}px system-ui, sans-serif`;
  g.textAlign = 'center';
  g.textBaseline = 'middle';
  for (const r of live) {
    const phase = job.rows[r]?.phase ?? 0;
    g.beginPath();
    g.arc(x(r), y(r), size, 0, 7);
    g.fillStyle = phase === 0 ? palette.card : palette[phaseNames[phase]];
    g.fill();
    if (phase === 0) {
      g.strokeStyle = palette.lost;
      g.lineWidth = 1.5;
      g.stroke();
    }
    if (size >= 7) {
      g.fillStyle = phase === 0 ? palette.lost : phase === 3 || phase === 6 ? '#fff' : '#14181c';
      g.fillText(String(r), x(r), y(r));
    }
  }
}
