// SPDX-License-Identifier: Apache-2.0
// The table of ranks. Only the rows on the screen exist.

import { $, bytes, count, make, number, phases, put, span } from './text.js';
import { axis, draw } from './lane.js';

const columns = ['rank', 'host', 'phase', 'att', 'pass', 'step', 'ex', 'loss', 'rate', 'lane'];

export class Grid {
  constructor(open) {
    this.box = $('grid');
    this.body = $('rows');
    this.pool = [];
    this.order = []; // ranks in the order of the rows
    this.chosen = -1; // rank
    this.height = 26;
    this.open = open;
    this.box.addEventListener('scroll', () => this.later(), { passive: true });
    this.box.addEventListener('keydown', e => this.key(e));
    this.body.addEventListener('click', e => {
      const row = e.target.closest('[role=row]');
      if (row) this.choose(Number(row.dataset.rank), true);
    });
    for (const id of ['filter', 'sort', 'window']) $(id).addEventListener('input', () => this.sort());
    new ResizeObserver(() => this.later()).observe(this.box);
  }

  show(job, ended) {
    this.job = job;
    this.ended = ended;
  }

  // later draws with the next frame.
  later() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  // sort finds the ranks to show, and their order.
  sort() {
    if (!this.job) return;
    const words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean), by = $('sort').value;
    const rows = this.job.rows.filter(r => r && words.every(w => String(r.rank) === w || r.host.toLowerCase().includes(w) || phases[r.phase].includes(w)));
    const rest = (a, b) => a.rank - b.rank;
    if (by === 'phase') rows.sort((a, b) => a.phase - b.phase || a.since - b.since || rest(a, b));
    if (by === 'steps') rows.sort((a, b) => a.steps - b.steps || a.examples - b.examples || rest(a, b));
    if (by === 'rate') rows.sort((a, b) => b.out - a.out || rest(a, b));
    if (by === 'loss') rows.sort((a, b) => (b.loss ?? -1) - (a.loss ?? -1) || rest(a, b));
    this.order = rows.map(r => r.rank);
    put($('shown'), rows.length === this.job.rows.length ? '' : `${rows.length} of ${this.job.rows.length}`);
    this.later();
  }

  draw() {
    if (!this.job) return;
    this.height = parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row')) || 26;
    const n = this.order.length, now = this.job.now(this.ended), back = Number($('window').value);
    const t0 = back ? Math.max(0, now - back) : 0, t1 = Math.max(now, t0 + 1000);
    const total = n * this.height + 'px';
    if (this.body.style.height !== total) {
      this.body.style.height = total;
      this.box.setAttribute('aria-rowcount', n + 1);
    }
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 2);
    const last = Math.min(n, first + Math.ceil(this.box.clientHeight / this.height) + 4);
    while (this.pool.length < last - first) this.pool.push(this.element());
    this.pool.forEach((el, i) => {
      const at = first + i;
      el.hidden = at >= last;
      if (!el.hidden) this.fill(el, at, now, t0, t1);
    });
    axis($('axis'), t0, t1);
    const active = this.pool.find(el => !el.hidden && Number(el.dataset.rank) === this.chosen);
    if (active) this.box.setAttribute('aria-activedescendant', active.id);
    else this.box.removeAttribute('aria-activedescendant');
  }

  element() {
    const el = make('div', { className: 'row', id: 'row' + this.pool.length });
    el.setAttribute('role', 'row');
    for (const c of columns) {
      const cell = make('span', { className: 'c-' + c });
      cell.setAttribute('role', 'gridcell');
      if (c === 'phase') cell.append(make('i', { className: 'swatch' }), make('span', {}));
      if (c === 'lane') {
        const canvas = make('canvas', {});
        canvas.setAttribute('role', 'img');
        cell.append(canvas);
      }
      el.append(cell);
    }
    this.body.append(el);
    return el;
  }

  fill(el, at, now, t0, t1) {
    const r = this.job.rows[this.order[at]], [rank, host, phase, att, pass, step, ex, loss, rate, lane] = el.children;
    const place = `translateY(${at * this.height}px)`;
    if (el.style.transform !== place) el.style.transform = place;
    if (el.dataset.rank !== String(r.rank)) {
      el.dataset.rank = r.rank;
      lane.firstChild.setAttribute('aria-label', `lane of rank ${r.rank}`);
    }
    if (el.getAttribute('aria-rowindex') !== String(at + 2)) el.setAttribute('aria-rowindex', at + 2);
    const selected = String(r.rank === this.chosen);
    if (el.getAttribute('aria-selected') !== selected) el.setAttribute('aria-selected', selected);
    put(rank, String(r.rank));
    put(host, r.host);
    if (host.title !== r.address) host.title = r.address;
    const swatch = 'swatch p' + r.phase;
    if (phase.firstChild.className !== swatch) phase.firstChild.className = swatch;
    put(phase.lastChild, this.words(r, now));
    put(att, r.attempts ? String(r.attempts) : '');
    put(pass, String(r.pass));
    put(step, r.step && !r.steps ? r.step : r.step ? `${r.steps} ${r.step}` : String(r.steps));
    if (step.title !== r.step) step.title = r.step; // it may be cut off
    put(ex, count(r.examples));
    put(loss, r.examples ? number(r.loss) : '–');
    put(rate, r.out < 0 ? '–' : bytes(r.out));
    draw(lane.firstChild, this.job.spans[r.rank], this.job.marks[r.rank], this.job.recoveries, t0, t1);
  }

  // words returns the phase of a rank.
  words(r, now) {
    let text = phases[r.phase];
    if (r.phase === 5) text = `waiting ${span(now - r.since)} for ${r.for}`;
    else if ((r.phase === 1 || r.phase === 0) && !this.ended) text += ' ' + span(now - r.since);
    return r.silent && !this.ended ? text + `, silent ${r.silent} s` : text;
  }

  choose(rank, open) {
    this.chosen = rank;
    const at = this.order.indexOf(rank), top = at * this.height, view = this.box.clientHeight - 2 * this.height;
    if (at >= 0 && top < this.box.scrollTop) this.box.scrollTop = top;
    if (at >= 0 && top > this.box.scrollTop + view) this.box.scrollTop = top - view;
    this.later();
    if (open) this.open(rank);
  }

  key(e) {
    const at = this.order.indexOf(this.chosen), n = this.order.length, page = Math.max(1, Math.floor(this.box.clientHeight / this.height) - 2);
    const to = { ArrowDown: at + 1, ArrowUp: at < 0 ? 0 : at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: n - 1 }[e.key];
    if (to !== undefined && n) this.choose(this.order[Math.min(n - 1, Math.max(0, to))], false);
    else if ((e.key === 'Enter' || e.key === ' ') && at >= 0) this.open(this.chosen);
    else return;
    e.preventDefault();
  }
}
