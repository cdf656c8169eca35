// SPDX-License-Identifier: Apache-2.0
// Numbers and times as text, and small helpers for the DOM.

export const phases = ['absent', 'loading data', 'ready', 'computing', 'exchanging', 'waiting', 'complete', 'removed'];
export const phaseNames = ['absent', 'loading', 'ready', 'computing', 'exchanging', 'waiting', 'complete', 'removed'];
export const kinds = ['·', '+', '✕', '−', '↻', '▶', '■', '!', '?'];

// stateName returns the name of a job's state. Some of the server's names are of its protocol.
export const stateName = s => ({ filling: 'waiting for ranks', wired: 'running' })[s] ?? s;

const whole = new Intl.NumberFormat('en');

export const count = n => n < 1e6 ? whole.format(n) : n < 1e9 ? (n / 1e6).toFixed(2) + ' M' : (n / 1e9).toFixed(2) + ' G';

export function number(x) {
  if (x === null || x === undefined || !Number.isFinite(x)) return '–';
  const a = Math.abs(x);
  if (a !== 0 && (a < 1e-3 || a >= 1e6)) return x.toExponential(2);
  return a >= 100 ? x.toFixed(1) : x.toPrecision(4);
}

// bytes returns a number of bytes as text, in powers of 1000 as networks are measured.
export function bytes(n) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let i = 0;
  for (; n >= 999.5 && i < 4; i++) n /= 1000;
  return (i && n < 99.95 ? n.toFixed(1) : Math.round(n)) + ' ' + units[i];
}

// carrier names the carrier of an edge.
export const carrier = (via, local) => ['TCP', 'shared memory', 'verbs'][via] + (via === 1 ? '' : local ? ', same machine' : ', other machine');

// span returns a time in milliseconds as text: 7 s, 1:05, 2:03:04.
export function span(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return s + ' s';
  const two = n => String(n).padStart(2, '0');
  const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  return h > 0 ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}

export const $ = id => document.getElementById(id);

// put sets the text of an element unless it has it, since a change costs a layout.
export function put(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

export function make(tag, props, ...children) {
  const el = Object.assign(document.createElement(tag), props);
  el.append(...children);
  return el;
}

// facts fills a list of terms and values.
export function facts(dl, pairs) {
  while (dl.children.length > pairs.length) dl.lastChild.remove();
  pairs.forEach(([term, value], i) => {
    let div = dl.children[i];
    if (!div) {
      div = make('div', {}, make('dt', {}), make('dd', {}));
      dl.append(div);
    }
    put(div.firstChild, term);
    put(div.lastChild, value);
  });
}

// nice returns about n round numbers from lo to hi.
export function nice(lo, hi, n) {
  const raw = (hi - lo) / n;
  if (!(raw > 0)) return [lo];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find(m => m * power >= raw);
  const out = [];
  for (let v = Math.ceil(lo / step) * step; v <= hi + step * 1e-9; v += step) out.push(Math.abs(v) < step * 1e-9 ? 0 : v);
  return out;
}

// times returns round times in milliseconds, at most n of them.
export function times(lo, hi, n) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400].map(s => s * 1000);
  const step = steps.find(s => (hi - lo) / s <= n) ?? 86400000 * Math.ceil((hi - lo) / 86400000 / n);
  const out = [];
  for (let v = Math.ceil(lo / step) * step; v <= hi; v += step) out.push(v);
  return out;
}

// surface prepares a canvas for its size on the screen, and returns its context; null: it is not
// shown.
export function surface(canvas) {
  const w = canvas.clientWidth, h = canvas.clientHeight, scale = window.devicePixelRatio || 1;
  if (!w || !h) return null;
  if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) {
    canvas.width = Math.round(w * scale);
    canvas.height = Math.round(h * scale);
  }
  const g = canvas.getContext('2d');
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, w, h);
  return g;
}

// palette has the colours of the style sheet, for canvases.
export const palette = {};

export function readPalette() {
  const css = getComputedStyle(document.documentElement);
  for (const name of ['fg', 'quiet', 'line', 'card', 'lost', ...phaseNames]) palette[name] = css.getPropertyValue('--' + name).trim();
}
