// SPDX-License-Identifier: Apache-2.0
// The graph of the ranks, with the bytes of its edges. Ranks stand in their tree, each between the subtrees of lower and of
// higher ranks. Where bytes go along other edges, too, they stand in a circle.

import { $, bytes, palette, phaseNames, put, surface } from './text.js';

const levels = 4; // of the thickness of edges

// pairs returns the edges with traffic as pairs of ranks, with the rate of both directions.
function pairs(job, at) {
  const by = new Map();
  for (const [from, to, , , rate] of job.edges) {
    if (!at.has(from) || !at.has(to)) continue;
    const a = Math.min(from, to), b = Math.max(from, to), key = a * 65536 + b, p = by.get(key);
    if (p) p.rate += rate;
    else by.set(key, { a, b, rate });
  }
  return [...by.values()];
}

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
  const busy = pairs(job, at), inTree = e => parents[e.a] === e.b || parents[e.b] === e.a;
  const circle = busy.some(e => e.rate > 0 && !inTree(e)) || busy.length > 0 && busy.every(e => e.rate === 0) && busy.some(e => !inTree(e));
  const fastest = Math.max(0, ...busy.map(e => e.rate)), top = busy.find(e => e.rate === fastest);
  const note = live.length ? (circle ? `${live.length} ranks` : `tree of ${live.length} ranks, ${deepest + 1} levels, root ${root}`) + (busy.length ? `, ${busy.length} edges with bytes` : '') : '';
  put($('treenote'), note);
  const label = (circle ? 'graph: ' : '') + note + (fastest ? `; most between ranks ${top.a} and ${top.b}: ${bytes(fastest)} per second` : '');
  if (canvas.getAttribute('aria-label') !== label) canvas.setAttribute('aria-label', label);
  const w = canvas.clientWidth, h = canvas.clientHeight, step = circle ? 6 * (h / 2 - 24) / Math.max(1, live.length) : (w - 40) / Math.max(1, live.length - 1);
  const angle = r => 2 * Math.PI * at.get(r) / live.length - Math.PI / 2;
  const x = r => live.length === 1 ? w / 2 : circle ? w / 2 + Math.min(w / 2 - 24, 2 * (h / 2 - 24)) * Math.cos(angle(r)) : 20 + at.get(r) * step;
  const y = r => circle ? h / 2 + (live.length === 1 ? 0 : (h / 2 - 24) * Math.sin(angle(r))) : 22 + level(r) * (h - 44) / Math.max(1, deepest);
  const size = Math.max(1.2, Math.min(10, step * .45, circle ? 10 : (h - 44) / (2.4 * Math.max(1, deepest))));
  const lines = (style, width, edges) => {
    if (!edges.length) return;
    g.strokeStyle = style;
    g.lineWidth = width;
    g.beginPath();
    for (const [a, b] of edges) {
      g.moveTo(x(a), y(a));
      g.lineTo(x(b), y(b));
    }
    g.stroke();
  };
  const stuck = (a, b) => [[a, b], [b, a]].some(([r, s]) => job.rows[r]?.phase === 5 && job.rows[r].for === s);
  const tree = live.filter(r => parents[r] >= 0 && at.has(parents[r])).map(r => [r, parents[r]]);
  if (!circle) lines(palette.line, 1, tree);
  const thickest = live.length > 64 ? .4 : 1.5; // pixels of a level
  g.globalAlpha = live.length > 64 ? .5 : 1;
  for (let i = 0; i <= levels; i++) { // thicker ones are drawn later
    const thick = e => e.rate > 0 ? Math.max(1, Math.ceil(levels * Math.sqrt(e.rate / fastest))) : 0;
    lines(i ? palette.exchanging : palette.line, Math.max(1, thickest * i), busy.filter(e => thick(e) === i).map(e => [e.a, e.b]));
  }
  g.globalAlpha = 1;
  const known = new Set(busy.map(e => e.a * 65536 + e.b));
  // Edges over which a rank waits are drawn last.
  lines(palette.waiting, 2.5, [...busy.map(e => [e.a, e.b]), ...tree.filter(([a, b]) => !known.has(Math.min(a, b) * 65536 + Math.max(a, b)))].filter(([a, b]) => stuck(a, b)));
  g.font = '11px system-ui, sans-serif';
  g.textAlign = 'center';
  g.textBaseline = 'middle';
  if (live.length <= 8) { // in a circle nearer to one end, since edges cross in the middle
    for (const e of busy.filter(e => e.rate > 0)) {
      const text = bytes(e.rate) + '/s', part = circle ? .38 : .5, cx = x(e.a) + part * (x(e.b) - x(e.a)), cy = y(e.a) + part * (y(e.b) - y(e.a)), wide = g.measureText(text).width + 6;
      g.fillStyle = palette.card;
      g.fillRect(cx - wide / 2, cy - 8, wide, 16);
      g.fillStyle = palette.fg;
      g.fillText(text, cx, cy);
    }
  }
  g.font = `${Math.min(11, size * 1.2)}px system-ui, sans-serif`;
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
