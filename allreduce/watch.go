// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"fmt"
	"time"

	"github.com/gvw-project/gvw/internal/clock"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const (
	watchTick = time.Second      // how often a collective is looked at, at most
	sayEvery  = 10 * time.Second // how often a long wait is logged
)

// watchdog is what the engine's watch keeps of the collective under way. Its times are
// those of a clock that stands still while this process does not run.
type watchdog struct {
	seq   uint64    // the collective
	began time.Time // when it began
	noted time.Time // when neighbours were told last
	said  time.Time // when the log was
	asked time.Time // when the server was asked about a rank that does not enter
	moved uint64    // how far the ranks have come in a segment
	since time.Time // since when
	dump  string    // a trace is due; what this rank waits for
	away  error     // why the server is lost; nil: it is not
	left  time.Time // when that was noticed
}

// idleFor is since when nothing has moved on an edge.
type idleFor struct {
	in, out int64
	since   time.Time
}

// watch looks at the collective that is under way, until the job ends. It keeps
// two clocks. Waiting for a rank that has not entered the collective has no
// limit (but MaxWait) while the server watches that rank. Once both have entered, no byte
// moved for Stall is the end.
//
// So that a rank which waits for others is not taken for a dead one, ranks
// that wait tell their neighbours that they live: first, with the collective's
// header, that they have entered it, then by notes, which also carry
// whom they wait for along the tree.
func (en *engine) watch(stop <-chan struct{}) {
	own := clock.Clock{Tick: min(watchTick, en.limits.stall/4)}
	own.Read(time.Now())
	ticker := time.NewTicker(own.Tick)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-en.failed:
			return
		case <-ticker.C:
			now := en.readClock(&own, time.Now())
			en.lookForServer(now)
			f := en.look(now, own.Tick)
			if f != nil {
				en.fail(f, nil)
				en.flight.dump(f.reason())
				return
			}
			if rank, detail := en.unmet(now); rank >= 0 {
				en.onUnmet(rank, detail+en.unopened(rank))
			}
			if why := en.dumpDue(); why != "" {
				en.flight.dump(why)
			}
		}
	}
}

// readClock reads a clock for look, and logs a pause that has just ended.
func (en *engine) readClock(own *clock.Clock, now time.Time) time.Time {
	at, pause := own.Read(now)
	if pause >= watchTick {
		en.log.Warn("this process was paused: the time does not count as a wait for other ranks",
			"rank", en.rank, "for", pause.Round(time.Millisecond))
	}
	return at
}

// lookForServer notes when the server is lost.
func (en *engine) lookForServer(now time.Time) {
	if en.away == nil || en.dog.away != nil {
		return
	}
	err := en.away()
	en.mu.Lock()
	defer en.mu.Unlock()
	en.dog.away, en.dog.left = err, now
}

// unwatched returns the failure of a wait for a rank that has sent nothing since some time: the
// server, which finds lost ranks, is lost itself, and both has lasted for limits.server.
func (en *engine) unwatched(rank int, host string, since, now time.Time) *failure {
	d := &en.dog
	if d.away == nil {
		return nil
	}
	if d.left.After(since) {
		since = d.left
	}
	idle := now.Sub(since)
	if idle < en.limits.server {
		return nil
	}
	return &failure{
		code: faultLost, by: en.rank, rank: rank, host: host, err: d.away,
		text: fmt.Sprintf("nothing has arrived from it for %s, and the server is lost: %v", seconds(idle), d.away),
	}
}

// look checks the clocks once, and tells the neighbours and the log what is due. The look
// before was a tick ago.
func (en *engine) look(now time.Time, tick time.Duration) *failure {
	en.mu.Lock()
	defer en.mu.Unlock()
	if !en.active || en.stopped() {
		return nil
	}
	d, c := &en.dog, &en.call
	if d.seq != c.id.seq {
		// A collective that has begun since the look before began at most a tick ago, unless
		// this process was paused since.
		d.began = now.Add(-min(max(0, time.Since(c.started)), tick))
		d.seq, d.noted, d.said = c.id.seq, now, d.began
		d.moved, d.since = 0, d.began
		for _, e := range c.edges {
			e.idle = idleFor{in: e.in.Load(), out: e.out.Load(), since: d.began}
		}
	}
	for _, e := range c.edges {
		if in, out := e.in.Load(), e.out.Load(); in != e.idle.in || out != e.idle.out {
			e.idle.in, e.idle.out, e.idle.since = in, out, now
		}
		if f := en.overdue(e, now); f != nil {
			return f
		}
	}
	if c.shared {
		if f := en.overdueShared(now); f != nil {
			return f
		}
	}
	if en.shared != nil && !c.shared {
		en.shared.places[en.shared.self].beats.Add(1) // those of this host who wait see it
	}
	if now.Sub(d.said) >= sayEvery {
		d.said = now
		d.dump = en.here().String()
		if d.away != nil {
			d.dump += "; the server is lost: " + d.away.Error()
		}
		en.log.Info(d.dump)
	}
	if !en.stream {
		en.tell(now)
	}
	return nil
}

// dumpDue is what this rank waits for, where that is worth a trace; else "".
func (en *engine) dumpDue() (why string) {
	en.mu.Lock()
	defer en.mu.Unlock()
	why, en.dog.dump = en.dog.dump, ""
	return why
}

// unmet is a rank that has kept this one waiting for Stall without having entered the
// collective, as far as is known here; negative: there is none, or it was told lately. It
// may be at work; or it is in the collective, and nothing that it sends arrives. From
// the heartbeats of both the server can tell.
func (en *engine) unmet(now time.Time) (rank int, detail string) {
	en.mu.Lock()
	defer en.mu.Unlock()
	c := &en.call
	if !en.active || en.stopped() || en.stream || en.onUnmet == nil || en.dog.seq != c.id.seq || now.Sub(en.dog.began) < en.limits.stall || now.Sub(en.dog.asked) < en.limits.stall {
		return -1, ""
	}
	for _, e := range c.edges {
		if en.waitsOn(e) && !en.entered(e) && now.Sub(e.idle.since) >= en.limits.stall {
			en.dog.asked = now
			return e.rank, fmt.Sprintf("%v: rank %d waits for %s", &c.id, en.rank, rankAt(e.rank, e.host))
		}
	}
	return -1, ""
}

// unopened says, to be appended to what has happened, why the edge to a rank is not open; "" if
// it is. It is not called under the engine's lock: links are handed over under the wirer's.
func (en *engine) unopened(rank int) string {
	en.mu.Lock()
	open, missing := en.edge(rank).linked, en.missing
	en.mu.Unlock()
	switch {
	case open:
		return ""
	case missing == nil:
		return "; no connection to it is open"
	}
	return "; no connection to it is open: " + missing(rank)
}

// overdue says that e has kept this rank waiting for too long.
func (en *engine) overdue(e *edge, now time.Time) *failure {
	if !en.waitsOn(e) {
		return nil
	}
	f := &failure{code: faultStalled, by: en.rank, rank: e.rank, host: e.host, entered: en.entered(e), ask: protocol.EdgeStalls}
	limit := en.limits.maxWait
	if limit == 0 && en.stream {
		limit = en.streamWait()
	}
	f.idle = now.Sub(en.dog.began)
	if f.entered {
		limit, f.idle = en.limits.stall, now.Sub(e.idle.since)
	}
	if limit > 0 && f.idle >= limit {
		return f
	}
	if !f.entered {
		return en.unwatched(e.rank, e.host, e.idle.since, now)
	}
	return nil
}

// waitsOn says whether bytes to or from e could move, if the peer did its part.
func (en *engine) waitsOn(e *edge) bool {
	_, expected := en.call.run.NextReceive(e.peer)
	return expected || e.writing.Load() || !e.linked
}

// entered says whether the peer is known to be in the collective. vw's stream
// tells it only by its bytes: those that earlier calls have not taken.
func (en *engine) entered(e *edge) bool {
	if en.stream {
		return e.served == en.call.id.seq || e.in.Load() > e.taken
	}
	return e.entered >= en.call.id.seq
}

// waitsFor is the end of the chain that this rank waits for, as far as it is
// known: of the neighbours that whose bytes this rank needs first, or whom that one
// waits for.
func (en *engine) waitsFor() (first *edge, far note) {
	far = note{seq: en.call.id.seq, rank: unknownRank}
	if en.call.shared {
		if en.ending {
			return nil, far // the segment may be gone, and heartbeats ask until the next epoch is there
		}
		rank, entered := en.shared.lags()
		far.rank, far.entered = int32(rank), entered
		return nil, far
	}
	at := len(en.call.prog.Steps)
	for _, e := range en.call.edges {
		if !en.waitsOn(e) {
			continue
		}
		step := at
		if m, ok := en.call.run.Awaits(e.peer); ok {
			step = m.Step
		}
		if first == nil || step < at {
			first, at = e, step
		}
	}
	if first == nil {
		return nil, far
	}
	if first.note.seq == far.seq && first.note.rank >= 0 && int(first.note.rank) != en.rank {
		return first, first.note
	}
	far.rank, far.entered = int32(first.rank), en.entered(first)
	return first, far
}

// waitText says for whom this rank waits, as far along the tree as is known.
func (en *engine) waitText() string {
	e, far := en.waitsFor()
	if en.call.shared && far.rank >= 0 {
		text := rankAt(int(far.rank), en.hostOf(int(far.rank)))
		if !far.entered {
			text += ", which has not entered it"
		}
		return text
	}
	if e == nil {
		return ""
	}
	text := rankAt(e.rank, e.host)
	if int(far.rank) != e.rank {
		text += fmt.Sprintf(", which waits for rank %d", far.rank)
	}
	if !far.entered {
		text += ", which has not entered it"
	}
	return text
}

// tell lets the neighbours know that this rank is in the collective: each of
// them once, by its header, and from time to time by a note. Under the lock.
func (en *engine) tell(now time.Time) {
	due := now.Sub(en.dog.noted) >= en.limits.stall/4
	if due {
		en.dog.noted = now
	}
	for _, e := range en.open {
		if e.begun < en.call.id.seq || due {
			e.say = true
			en.driver.nudge(e)
		}
	}
}

// tellAll lets all neighbours know by the header alone.
func (en *engine) tellAll() {
	en.mu.Lock()
	defer en.mu.Unlock()
	for _, e := range en.open {
		if en.active && e.begun < en.call.id.seq {
			e.say = true
			en.driver.nudge(e)
		}
	}
}
