// SPDX-License-Identifier: Apache-2.0
// The curve of the loss, against that of the previous run.

import { $, count, nice, number, put, span, times } from './text.js';

const svgns = 'http://www.w3.org/2000/svg';

function shape(tag, attributes, text) {
  const el = document.createElementNS(svgns, tag);
  for (const [k, v] of Object.entries(attributes)) el.setAttribute(k, v);
  if (text !== undefined) el.textContent = text;
  return el;
}

export class Chart {
  constructor() {
    this.box = $('chart');
    this.box.addEventListener('pointermove', e => this.read(e));
    this.box.addEventListener('pointerleave', () => { put($('readout'), ''); this.line?.setAttribute('visibility', 'hidden'); });
    $('over').addEventListener('input', () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  show(job) {
    this.job = job;
    this.draw();
  }

  label(v) {
    return this.over === 0 ? span(v) : this.over === 1 ? count(v) : String(v);
  }

  draw() {
    const w = this.box.clientWidth, h = this.box.clientHeight;
    if (!this.job || !w) return;
    this.over = Number($('over').value);
    // Points without examples have no loss yet.
    const now = this.job.points.filter(p => p[1] > 0 && p[2] !== null), was = (this.job.previous?.points ?? []).filter(p => p[1] > 0 && p[2] !== null);
    const svg = shape('svg', { role: 'img', viewBox: `0 0 ${w} ${h}` });
    const last = now[now.length - 1], left = 56, right = 12, top = 12, bottom = 24;
    let text = last ? `loss ${number(last[2])} after ${count(last[1])} examples` : 'no loss yet';
    if (last?.[5]) text += `, held-out loss ${number(last[5])}`;
    if (this.job.previous) text += `, against run ${this.job.previous.name}`;
    svg.setAttribute('aria-label', text);
    this.box.replaceChildren(svg);
    const held = now.filter(p => p[5]), heldBefore = was.filter(p => p[5]);
    put($('legend'), 'solid: average over the ranks' + (held.length ? '; dotted: held-out loss of the newest pass' : '') + (this.job.previous ? `; dashed: the last run of the same name (${this.job.previous.name})` : '; there is no earlier run of the same name'));
    if (!last) {
      svg.append(shape('text', { x: w / 2, y: h / 2, 'text-anchor': 'middle' }, 'no rank has reported a loss yet'));
      put($('legend'), '');
      return;
    }
    const all = [...now, ...was], xs = all.map(p => p[this.over]), ys = [...all.map(p => p[2]), ...held.map(p => p[5]), ...heldBefore.map(p => p[5])];
    const x0 = 0, x1 = Math.max(...xs, 1), y0 = Math.min(...ys), y1 = Math.max(...ys);
    const pad = (y1 - y0) * .06 || Math.abs(y1) * .05 || 1, lo = y0 - pad, hi = y1 + pad;
    this.x = v => left + (v - x0) * (w - left - right) / (x1 - x0);
    this.y = v => top + (hi - v) * (h - top - bottom) / (hi - lo);
    for (const v of nice(lo, hi, 4)) {
      svg.append(shape('line', { class: 'grid', x1: left, x2: w - right, y1: this.y(v), y2: this.y(v) }));
      svg.append(shape('text', { x: left - 6, y: this.y(v) + 4, 'text-anchor': 'end' }, String(Number(v.toPrecision(4)))));
    }
    const n = Math.max(2, Math.floor(w / 110));
    for (const v of this.over === 0 ? times(x0, x1, n) : nice(x0, x1, n)) {
      if (this.over === 3 && !Number.isInteger(v)) continue;
      svg.append(shape('text', { x: Math.min(this.x(v), w - right - 12), y: h - 7, 'text-anchor': 'middle' }, this.label(v)));
    }
    const path = (points, what) => points.map((p, i) => (i ? 'L' : 'M') + this.x(p[this.over]).toFixed(1) + ' ' + this.y(p[what]).toFixed(1)).join('');
    svg.append(shape('path', { class: 'was', d: path(was, 2) }), shape('path', { class: 'was', d: path(heldBefore, 5) }), shape('path', { class: 'now', d: path(now, 2) }), shape('path', { class: 'held', d: path(held, 5) }));
    svg.append(shape('circle', { cx: this.x(last[this.over]), cy: this.y(last[2]), r: 3, class: 'dot' }));
    this.line = shape('line', { class: 'at', y1: top, y2: h - bottom, visibility: 'hidden' });
    svg.append(this.line);
    this.points = now;
  }

  // read shows the point under the pointer.
  read(e) {
    if (!this.points?.length) return;
    const at = e.clientX - this.box.getBoundingClientRect().left;
    const near = this.points.reduce((a, b) => Math.abs(this.x(b[this.over]) - at) < Math.abs(this.x(a[this.over]) - at) ? b : a);
    const x = this.x(near[this.over]);
    this.line.setAttribute('x1', x);
    this.line.setAttribute('x2', x);
    this.line.setAttribute('visibility', 'visible');
    put($('readout'), `${span(near[0])}: loss ${number(near[2])}, ${near[5] ? `held-out ${number(near[5])}, ` : ''}${count(near[1])} examples, pass ${near[3]}`);
  }
}
