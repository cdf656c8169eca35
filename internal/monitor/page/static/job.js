// SPDX-License-Identifier: Apache-2.0
// The state of the chosen job, to which messages of the stream are applied.

export class Job {
  constructor(n) {
    this.n = n;
    this.reset();
  }

  reset() {
    Object.assign(this, { at: 0, known: false, options: '', rows: [], spans: [], marks: [], events: [], droppedEvents: 0, points: [], previous: null, parents: [], waits: [], recoveries: [], times: null, classes: [], edges: [], received: performance.now() });
  }

  // apply takes over a message, and returns which parts have changed.
  apply(m) {
    if (m.full) {
      this.reset();
      this.known = true;
      this.options = m.options;
      for (let i = 0; i < m.total; i++) {
        this.rows.push(null);
        this.spans.push([]);
        this.marks.push([]);
      }
    }
    this.at = m.at;
    this.received = performance.now();
    for (const r of m.rows) this.rows[r[0]] = { rank: r[0], phase: r[1], for: r[2], since: r[3], attempts: r[4], pass: r[5], steps: r[6], examples: r[7], loss: r[8], step: r[9], host: r[10], address: r[11], silent: r[12], out: r[13], in: r[14], computes: r[15], networks: r[16], waits: r[17] };
    for (const [r, at, phase, awaited] of m.spans) {
      const lane = this.spans[r];
      lane.push([at, phase, awaited]);
      if (lane.length > 4096) lane.splice(0, 1024);
    }
    for (const [r, at, kind] of m.marks) this.marks[r].push([at, kind]);
    for (const e of m.events) {
      this.events.push({ at: e[0], kind: e[1], rank: e[2], text: e[3] });
      if (e[1] === 4) this.recoveries.push(e[0]);
    }
    if (this.events.length > 1000) this.droppedEvents += this.events.splice(0, this.events.length - 1000).length;
    if (m.points) this.points.splice(m.from, Infinity, ...m.points);
    if (m.previous) this.previous = m.previous;
    if (m.parents) this.parents = m.parents;
    if (m.traffic) Object.assign(this, m.traffic);
    this.waits = m.waits;
    return { rows: m.full || m.rows.length > 0, events: m.full || m.events.length > 0, curve: m.full || !!m.points || !!m.previous };
  }

  // now returns the time of the job in milliseconds, extrapolated from the newest message.
  now(ended) {
    return ended ? this.at : this.at + Math.min(5000, performance.now() - this.received);
  }

  // remaining returns the estimated time until the last pass in milliseconds; null: unknown.
  remaining(passes, now) {
    const last = this.points[this.points.length - 1];
    if (!passes || !last || last[3] < 1 || last[3] >= passes) return null;
    // The newest passes count: the first one parses text, and those of another stage take another time.
    const first = this.points.find(p => p[3] >= Math.max(1, last[3] - 8));
    const pace = last[3] > first[3] ? (last[0] - first[0]) / (last[3] - first[3]) : last[0] / last[3];
    return Math.max(0, (passes - last[3]) * pace - (now - last[0]));
  }

  // rate returns the examples per second over the newest part of the curve; null: unknown.
  rate() {
    const p = this.points, last = p[p.length - 1];
    if (p.length < 2) return null;
    let i = p.length - 2;
    while (i > 0 && last[0] - p[i][0] < 10000) i--;
    return last[0] > p[i][0] && last[1] >= p[i][1] ? (last[1] - p[i][1]) * 1000 / (last[0] - p[i][0]) : null;
  }

  // bandwidth returns the bytes per second that all ranks send; null: unknown.
  bandwidth() {
    let sum = null;
    for (const r of this.rows) if (r && r.out >= 0) sum = (sum ?? 0) + r.out;
    return sum;
  }
}
