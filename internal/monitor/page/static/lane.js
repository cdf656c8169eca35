// SPDX-License-Identifier: Apache-2.0
// Lanes: the phases of a rank over time. Each phase has a colour and a height.

import { palette, phaseNames, span, surface, times } from './text.js';

const heights = [0, .55, .3, 1, .75, .3, 1, 0];

// draw draws the lane of a rank from time t0 to t1.
export function draw(canvas, spans, marks, recoveries, t0, t1) {
  const g = surface(canvas);
  if (!g) return;
  const w = canvas.clientWidth, h = canvas.clientHeight, scale = w / Math.max(1, t1 - t0);
  const top = 4, full = h - 2 * top;
  g.fillStyle = palette.line;
  g.fillRect(0, h - top, w, 1);
  let lo = 0, hi = spans.length; // the first span that ends after t0
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if ((mid + 1 < spans.length ? spans[mid + 1][0] : Infinity) <= t0) lo = mid + 1;
    else hi = mid;
  }
  let drawn = -1; // spans begin and end at whole pixels, and those of less than one are left out
  for (let i = lo; i < spans.length && spans[i][0] < t1; i++) {
    const x0 = drawn < 0 ? Math.max(0, Math.round((spans[i][0] - t0) * scale)) : drawn;
    const x1 = i + 1 < spans.length ? Math.min(w, Math.round((spans[i + 1][0] - t0) * scale)) : w;
    if (x1 <= x0) continue;
    const part = heights[spans[i][1]] * full;
    g.fillStyle = palette[phaseNames[spans[i][1]]];
    if (part > 0) g.fillRect(x0, h - top - part, x1 - x0, part);
    drawn = x1;
  }
  g.fillStyle = palette.fg; // the job recovers
  for (const at of recoveries) if (at >= t0 && at <= t1) for (let y = 0; y < h; y += 4) g.fillRect((at - t0) * scale - .5, y, 1, 2);
  g.textAlign = 'center';
  g.textBaseline = 'middle';
  g.font = '11px system-ui, sans-serif';
  let before = -Infinity; // marks of the same time stand side by side
  for (const [at, kind] of marks) {
    if (at < t0 || at > t1) continue;
    const x = Math.min(w - 5, Math.max(5, before + 11, (at - t0) * scale));
    before = x;
    const joined = kind === 1;
    g.fillStyle = joined ? palette.fg : palette.lost;
    g.fillRect(x - .75, 0, 1.5, h);
    g.fillStyle = palette.card;
    g.fillRect(x - 5, h / 2 - 6, 10, 12);
    g.fillStyle = joined ? palette.fg : palette.lost;
    g.fillText(joined ? '▲' : '✕', x, h / 2);
  }
}

// axis draws the labels of the time.
export function axis(canvas, t0, t1) {
  const g = surface(canvas);
  if (!g) return;
  const w = canvas.clientWidth, h = canvas.clientHeight;
  g.fillStyle = palette.quiet;
  g.font = '11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  for (const t of times(t0, t1, Math.max(1, Math.floor(w / 80)))) {
    const x = (t - t0) * w / Math.max(1, t1 - t0), text = span(t);
    g.fillRect(x, h - 5, 1, 5);
    if (x + 4 + g.measureText(text).width < w) g.fillText(text, x + 4, h / 2);
  }
}
