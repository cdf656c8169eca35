// SPDX-License-Identifier: Apache-2.0
// The stream of events, and the parts of the page that are text.

import { $, bytes, carrier, count, facts, kinds, make, number, phases, put, readPalette, span, stateName } from './text.js';
import { Job } from './job.js';
import { Grid } from './grid.js';
import { Chart } from './chart.js';
import { drawTree } from './tree.js';

const server = { jobs: new Map(), version: '', logs: false, cancel: false, kill: false };
let job = null, source = null, chosen = null, shownEvents = 0, drawn = 0, openRank = -1;

const chart = new Chart();
const grid = new Grid(showRank);

// connect opens the stream of a job; 0: of the list only.
function connect(n) {
  source?.close();
  job = n ? new Job(n) : null;
  source = new EventSource(n ? 'events?job=' + n : 'events');
  source.onmessage = e => receive(JSON.parse(e.data));
  source.onopen = () => link('live', 'live');
  source.onerror = () => link('lost', source.readyState === EventSource.CLOSED ? 'connection refused: open the link again' : 'no connection to the server');
}

function link(state, text) {
  $('link').className = state;
  put($('link'), text);
}

function receive(m) {
  if (m.full) {
    server.jobs.clear();
    Object.assign(server, { version: m.version, logs: m.logs, cancel: m.cancel, kill: m.kill });
  }
  for (const j of m.jobs) server.jobs.set(j.n, j);
  for (const n of m.gone) server.jobs.delete(n);
  if (m.full || m.jobs.length || m.gone.length) listJobs();
  if (chosen === null || !server.jobs.has(chosen)) {
    const all = [...server.jobs.values()], newest = server.jobs.get(Number(location.hash.slice(5))) ?? all.filter(j => !j.ended).pop() ?? all.pop();
    if (newest) choose(newest.n);
    else shell(false);
    return;
  }
  if (!m.job || !job) return;
  const changed = job.apply(m.job);
  if (m.job.full) {
    shownEvents = 0;
    $('log').replaceChildren();
    grid.show(job, false);
    put($('options'), job.options || 'none were sent');
  }
  shell(true);
  if (changed.curve) chart.show(job);
  if (changed.events) listEvents();
  if (changed.rows) grid.sort();
  if (changed.rows || m.jobs.length || performance.now() - drawn > 900) draw();
}

function shell(some) {
  $('nothing').hidden = some;
  $('job').hidden = !some;
}

function choose(n) {
  chosen = n;
  history.replaceState(null, '', '#job=' + n);
  listJobs();
  connect(n);
}

function listJobs() {
  // Elements are kept, since a link that is replaced loses the focus.
  const list = $('jobs'), all = [...server.jobs.values()].reverse(), same = all.length === list.children.length && all.every((j, i) => list.children[i].firstChild.hash === '#job=' + j.n);
  if (!same) list.replaceChildren(...all.map(j => make('li', {}, make('a', { href: '#job=' + j.n, title: j.name }, j.name, make('small', {})))));
  all.forEach((j, i) => {
    const a = list.children[i].firstChild;
    put(a.lastChild, stateName(j.state));
    if (j.n === chosen) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  });
}

function listEvents() {
  const log = $('log');
  for (const e of job.events.slice(Math.max(0, shownEvents - job.droppedEvents))) {
    const li = make('li', { className: 'k' + e.kind }, make('time', {}, span(e.at)), make('b', { ariaHidden: 'true' }, kinds[e.kind]), make('span', {}, e.text));
    log.prepend(li);
  }
  shownEvents = job.droppedEvents + job.events.length;
  while (log.children.length > 1000) log.lastChild.remove();
}

// draw shows the state of the chosen job.
function draw() {
  drawn = performance.now();
  const s = server.jobs.get(chosen);
  if (!s || !job?.known) return;
  const ended = Boolean(s.ended), now = job.now(ended);
  grid.show(job, ended);
  document.title = `${stateName(s.state)} · ${s.name} · gvw`;
  put($('name'), s.name);
  put($('state'), stateName(s.state));
  $('state').className = 'badge' + (s.outcome === 'finished' || s.state === 'wired' ? ' good' : s.outcome || s.state === 'recovering' ? ' bad' : '');
  put($('report'), s.state === 'wired' ? '' : s.report); // the epoch is a fact below
  $('cancel').hidden = !server.cancel || ended;
  const rest = ended ? null : job.remaining(s.passes, now), rate = ended ? null : job.rate(), sent = ended ? null : job.bandwidth();
  facts($('facts'), [
    [ended ? 'took' : 'running', span(ended ? s.ended - s.opened : now)],
    ['ranks', `${s.joined} of ${s.total}`],
    ['pass', s.passes ? `${s.pass} of ${s.passes}` : String(s.pass)],
    ...(rest === null ? [] : [['remaining', (s.early ? 'at most ≈ ' : '≈ ') + span(rest)]]),
    ...(s.pass && !s.steps ? [] : [['steps', count(s.steps)]]), // shared vectors have no steps
    ['examples', count(s.examples)],
    ...(rate === null ? [] : [['examples/s', count(Math.round(rate))]]),
    ...(sent === null ? [] : [['sent/s', bytes(sent)]]),
    ...(job.times ? [['time of the ranks', split(job.times)]] : []),
    ['loss', number(s.loss)],
    ...(s.holdout ? [['held-out loss', number(s.holdout)]] : []),
    ...(s.epoch ? [['epoch', s.epoch]] : []),
    ...(s.standbys ? [['standbys', String(s.standbys)]] : []),
    ...(s.spares ? [['spares', String(s.spares)]] : []),
  ]);
  drawPhases(s.phases);
  const waits = $('waits'), texts = job.waits.length ? job.waits : [ended ? 'The job has ended.' : 'No rank waits.'];
  if (waits.children.length !== texts.length) waits.replaceChildren(...texts.map(() => make('li', {})));
  texts.forEach((text, i) => {
    put(waits.children[i], text);
    waits.children[i].className = job.waits.length ? '' : 'none';
  });
  grid.later();
  drawTree(job);
  listEdges();
  if (openRank >= 0) rankFacts();
}

// split returns how the ranks have spent their time.
function split(times) {
  const all = times.reduce((a, b) => a + b, 0) || 1;
  return ['load', 'compute', 'network', 'wait'].map((name, i) => `${name} ${Math.round(100 * times[i] / all)} %`).join(', ');
}

// listEdges shows the bytes by carrier, and the edges with the most bytes.
function listEdges() {
  put($('classes'), job.classes.length ? 'Sent: ' + job.classes.filter(k => k[2]).map(([via, local, out]) => `${bytes(out)} by ${carrier(via, local)}`).join('; ') : 'No rank has reported bytes.');
  const list = $('edges'), most = job.edges.slice(0, 12);
  while (list.children.length > most.length) list.lastChild.remove();
  most.forEach(([from, to, via, local, rate, all], i) => {
    const li = list.children[i] ?? list.appendChild(make('li', {}));
    put(li, `${from} → ${to}: ${rate ? bytes(rate) + '/s, ' : ''}${bytes(all)}, ${carrier(via, local)}`);
  });
}

function drawPhases(counts) {
  const list = $('phases');
  if (!list.children.length) list.append(...phases.map((_, i) => make('li', {}, make('i', { className: 'swatch p' + i }), make('span', {}))));
  counts.forEach((n, i) => {
    const li = list.children[i];
    put(li.lastChild, `${n} ${phases[i]}`);
    li.className = n ? '' : 'none';
    li.hidden = !n && (i === 0 || i === 7);
  });
}

// The dialog of one rank.
function rankFacts() {
  const r = job.rows[openRank];
  if (!r) return;
  put($('rank-h'), `Rank ${r.rank}`);
  facts($('rank-facts'), [
    ['host', r.host || '–'], ['address', r.address || '–'], ['phase', grid.words(r, job.now(grid.ended))], ['attempt', String(r.attempts)], ['pass', String(r.pass)], ['steps', String(r.steps)],
    ['step', r.step || '–'], ['examples', count(r.examples)], ['loss', number(r.loss)],
    ...(r.out < 0 ? [] : [['sent/s', bytes(r.out)], ['received/s', bytes(r.in)]]),
    ...(r.computes + r.networks + r.waits ? [['time', `compute ${r.computes} %, network ${r.networks} %, wait ${r.waits} %`]] : []),
  ]);
}

async function loadTail() {
  const rank = openRank;
  if (!server.logs) {
    put($('tail'), 'This server has no logs of ranks: they are where the ranks run.');
    return;
  }
  const answer = await fetch(`log?job=${chosen}&rank=${rank}`), text = await answer.text(), tail = $('tail');
  if (rank !== openRank) return;
  const end = tail.scrollTop + tail.clientHeight >= tail.scrollHeight - 4;
  put(tail, text);
  if (end) tail.scrollTop = tail.scrollHeight;
}

function showRank(rank) {
  openRank = rank;
  put($('tail'), '');
  $('kill').hidden = !server.kill || grid.ended;
  rankFacts();
  $('rank').showModal();
  loadTail();
}

// ask shows a question, and sends the action if it is confirmed.
function ask(title, text, yes, fields) {
  put($('ask-h'), title);
  put($('ask-text'), text);
  put($('yes'), yes);
  $('yes').disabled = false;
  $('yes').onclick = async () => {
    $('yes').disabled = true;
    const answer = await fetch('control', { method: 'POST', body: new URLSearchParams({ job: chosen, confirm: server.jobs.get(chosen)?.name ?? '', ...fields }) });
    if (answer.ok) $('ask').close();
    else put($('ask-text'), await answer.text());
  };
  $('ask').showModal();
}

$('cancel').onclick = () => ask('Cancel this job?', 'All its ranks end, and it delivers no files.', 'Cancel job', { action: 'cancel' });
$('kill').onclick = () => ask(`Kill rank ${openRank}?`, 'Its process ends at once, as if its machine had failed. What follows depends on --on_loss.', 'Kill rank', { action: 'kill', rank: openRank });
$('close').onclick = () => $('rank').close();
$('no').onclick = () => $('ask').close();
$('rank').addEventListener('close', () => { openRank = -1; });

addEventListener('keydown', e => {
  if (e.key === '/' && !/INPUT|SELECT/.test(document.activeElement.tagName) && !document.querySelector('dialog[open]')) {
    e.preventDefault();
    $('filter').focus();
  }
});
addEventListener('hashchange', () => {
  const n = Number(location.hash.slice(5));
  if (server.jobs.has(n) && n !== chosen) choose(n);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  readPalette();
  draw();
});
addEventListener('resize', () => draw());

readPalette();
setInterval(() => { if (openRank >= 0 && server.logs) loadTail(); }, 2000);
connect(0);
