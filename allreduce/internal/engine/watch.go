// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/clock"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const (
	// WatchTick is the longest interval between two looks at the collective.
	WatchTick = time.Second
	// LogInterval is the interval between two log lines about the same wait.
	LogInterval = 10 * time.Second
)

// watchdog is the state of the engine's watch about the collective under way. Its times come
// from a clock that stands still while this process does not run (package clock).
type watchdog struct {
	seq   uint64    // the collective
	began time.Time // when it began
	told  time.Time // time of the last progress frames
	said  time.Time // when the wait was last logged
	asked time.Time // when the server was last asked about a rank that does not enter
	moved uint64    // shm.Group.Moved at the last change
	since time.Time // of that change
	dump  string    // a trace is due; what this rank waits for
	away  error     // why the server is lost; nil: it is not
	left  time.Time // when that was noticed
}

// StartWatch starts Watch in the background, unless the engine has stopped. Join waits for it.
func (en *Engine) StartWatch(stop <-chan struct{}) {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if !en.Stopped() {
		en.watches.Go(func() { en.Watch(stop) })
	}
}

// Watch checks the collective under way until the job ends. It has two limits. A wait for a rank
// that has not entered the collective is bounded only by MaxWait, as long as the server
// watches that rank: it may still compute. When both ranks have entered and no byte
// moves for Stall, the job fails.
//
// A rank that waits for others must not look dead. It first sends the header of the collective to its
// neighbours, which shows that it has entered. Then it sends progress frames, which also
// name the rank that it waits for, so that messages name the cause at the end of a chain of
// waits.
func (en *Engine) Watch(stop <-chan struct{}) {
	own := clock.Clock{Tick: min(WatchTick, en.Limits.Stall/4)}
	own.Read(time.Now())
	ticker := time.NewTicker(own.Tick)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-en.Failed:
			return
		case <-ticker.C:
			now := en.ReadClock(&own, time.Now())
			en.lookForServer(now)
			f := en.Look(now, own.Tick)
			if f != nil {
				en.Fail(f, nil)
				en.Recorder.dump(f.Reason())
				return
			}
			if rank, detail := en.notEntered(now); rank >= 0 {
				en.OnNotEntered(rank, detail+en.unopened(rank))
			}
			if why := en.dumpDue(); why != "" {
				en.Recorder.dump(why)
			}
		}
	}
}

// ReadClock reads a clock for Look, and logs a pause that has just ended.
func (en *Engine) ReadClock(own *clock.Clock, now time.Time) time.Time {
	at, pause := own.Read(now)
	if pause >= WatchTick {
		en.Log.Warn("this process was paused: the time does not count as a wait for other ranks",
			"rank", en.Rank, "for", pause.Round(time.Millisecond))
	}
	return at
}

// lookForServer stores when the server was lost.
func (en *Engine) lookForServer(now time.Time) {
	if en.Away == nil || en.dog.away != nil {
		return
	}
	err := en.Away()
	en.Mu.Lock()
	defer en.Mu.Unlock()
	en.dog.away, en.dog.left = err, now
}

// unwatched returns the failure of a wait for a rank that has sent nothing since some time: the
// server, which finds lost ranks, is lost itself, and both has lasted for Limits.Server.
func (en *Engine) unwatched(rank int, host string, since, now time.Time) *Failure {
	d := &en.dog
	if d.away == nil {
		return nil
	}
	if d.left.After(since) {
		since = d.left
	}
	idle := now.Sub(since)
	if idle < en.Limits.Server {
		return nil
	}
	return &Failure{
		Code: FaultLost, By: en.Rank, Rank: rank, Host: host, Err: d.away,
		Text: fmt.Sprintf("nothing has arrived from it for %s, and the server is lost: %v", Seconds(idle), d.away),
	}
}

// Look checks the clocks once, and sends the progress frames and log lines that are due. The look
// before was a tick ago.
func (en *Engine) Look(now time.Time, tick time.Duration) *Failure {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if !en.Active || en.Stopped() {
		return nil
	}
	d, c := &en.dog, &en.Call
	if d.seq != c.ID.Seq {
		// A collective that has begun since the look before began at most a tick ago, unless
		// this process was paused since.
		d.began = now.Add(-min(max(0, time.Since(c.Started)), tick))
		d.seq, d.told, d.said = c.ID.Seq, now, d.began
		d.moved, d.since = 0, d.began
		for _, e := range c.edges {
			in, out := e.Counts()
			e.idle = idleFor{in: in, out: out, since: d.began}
		}
	}
	for _, e := range c.edges {
		if in, out := e.Counts(); in != e.idle.in || out != e.idle.out {
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
	if en.Shared != nil && !c.shared {
		en.Shared.Beat()
	}
	if now.Sub(d.said) >= LogInterval {
		d.said = now
		w := en.Here()
		fields := []any{"rank", w.Rank, "collective", w.Call, "elapsed", Seconds(w.Elapsed), "for", w.Waiting, "received", ByteCount(w.Received)}
		d.dump = w.String()
		if d.away != nil {
			fields = append(fields, "server_lost", d.away)
			d.dump += "; the server is lost: " + d.away.Error()
		}
		en.Log.Info("waiting in a collective", fields...)
	}
	if !en.Stream {
		en.sendProgress(now)
	}
	return nil
}

// dumpDue returns what this rank waits for if a trace of the wait is due, or "".
func (en *Engine) dumpDue() (why string) {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	why, en.dog.dump = en.dog.dump, ""
	return why
}

// notEntered returns a rank that has kept this one waiting for Stall and, as far as this rank
// knows, has not entered the collective. It is negative if there is none, or if the server was
// asked lately. The rank may be at work, or it is in the collective and nothing that it sends
// arrives. The server distinguishes the two by the heartbeats of both ranks.
func (en *Engine) notEntered(now time.Time) (rank int, detail string) {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	c := &en.Call
	if !en.Active || en.Stopped() || en.Stream || en.OnNotEntered == nil || en.dog.seq != c.ID.Seq || now.Sub(en.dog.began) < en.Limits.Stall || now.Sub(en.dog.asked) < en.Limits.Stall {
		return -1, ""
	}
	for _, e := range c.edges {
		if en.waitsOn(e) && !en.entered(e) && now.Sub(e.idle.since) >= en.Limits.Stall {
			en.dog.asked = now
			return e.Rank, fmt.Sprintf("%v: rank %d waits for %s", &c.ID, en.Rank, link.RankAt(e.Rank, e.Host))
		}
	}
	return -1, ""
}

// unopened returns why the edge to a rank is not open, as a suffix of an error, and "" if it is
// open. It is called without the engine's lock: the mesh hands connections over under its own
// lock, and then takes the engine's.
func (en *Engine) unopened(rank int) string {
	en.Mu.Lock()
	open, missing := en.edge(rank).IsOpen(), en.Missing
	en.Mu.Unlock()
	switch {
	case open:
		return ""
	case missing == nil:
		return "; no connection to it is open"
	}
	return "; no connection to it is open: " + missing(rank)
}

// overdue returns a failure if e has kept this rank waiting for too long.
func (en *Engine) overdue(e *Edge, now time.Time) *Failure {
	if !en.waitsOn(e) {
		return nil
	}
	f := &Failure{Code: faultStalled, By: en.Rank, Rank: e.Rank, Host: e.Host, entered: en.entered(e), Ask: protocol.EdgeStalls}
	limit := en.Limits.MaxWait
	if limit == 0 && en.Stream {
		limit = en.streamWait()
	}
	f.idle = now.Sub(en.dog.began)
	if f.entered {
		limit, f.idle = en.Limits.Stall, now.Sub(e.idle.since)
	}
	if limit > 0 && f.idle >= limit {
		return f
	}
	if !f.entered {
		return en.unwatched(e.Rank, e.Host, e.idle.since, now)
	}
	return nil
}

// waitsOn reports whether bytes to or from e could move if the peer did its part.
func (en *Engine) waitsOn(e *Edge) bool {
	_, expected := en.Call.run.NextReceive(e.at)
	return expected || e.Writing() || !e.IsOpen()
}

// entered reports whether the peer is known to be in the collective. In vw's stream only bytes
// show that: those beyond the bytes of earlier calls.
func (en *Engine) entered(e *Edge) bool {
	if en.Stream {
		in, _ := e.Counts()
		return e.served == en.Call.ID.Seq || in > e.taken
	}
	return e.entered >= en.Call.ID.Seq
}

// WaitsFor returns the neighbour whose bytes this rank needs first, and the end of the chain of
// waits behind it as far as progress frames have reported it; under the lock.
func (en *Engine) WaitsFor() (first *Edge, far progressFrame) {
	far = progressFrame{seq: en.Call.ID.Seq, Rank: schedule.None}
	if en.Call.shared {
		if en.Ending {
			return nil, far // the segment may be unmapped, and heartbeats call this until the next epoch
		}
		rank, entered := en.Shared.Awaited()
		far.Rank, far.entered = int32(rank), entered
		return nil, far
	}
	at := len(en.Call.prog.Steps)
	for _, e := range en.Call.edges {
		if !en.waitsOn(e) {
			continue
		}
		step := at
		if m, ok := en.Call.run.Awaits(e.at); ok {
			step = m.Step
		}
		if first == nil || step < at {
			first, at = e, step
		}
	}
	if first == nil {
		return nil, far
	}
	if first.far.seq == far.seq && first.far.Rank >= 0 && int(first.far.Rank) != en.Rank {
		return first, first.far
	}
	far.Rank, far.entered = int32(first.Rank), en.entered(first)
	return first, far
}

// waitText names the rank that this one waits for, as far along the chain as is known.
func (en *Engine) waitText() string {
	e, far := en.WaitsFor()
	if en.Call.shared && far.Rank >= 0 {
		text := link.RankAt(int(far.Rank), en.hostOf(int(far.Rank)))
		if !far.entered {
			text += ", which has not entered it"
		}
		return text
	}
	if e == nil {
		return ""
	}
	text := link.RankAt(e.Rank, e.Host)
	if int(far.Rank) != e.Rank {
		text += fmt.Sprintf(", which waits for rank %d", far.Rank)
	}
	if !far.entered {
		text += ", which has not entered it"
	}
	return text
}

// sendProgress makes the frames due by which the neighbours see that this rank is in the
// collective: its header once, and a progress frame every quarter of Stall. Under the lock.
func (en *Engine) sendProgress(now time.Time) {
	due := now.Sub(en.dog.told) >= en.Limits.Stall/4
	if due {
		en.dog.told = now
	}
	for _, e := range en.open {
		if e.begun < en.Call.ID.Seq || due {
			e.due = true
			e.Wake()
		}
	}
}

// Announce makes the header of the collective due on all links whose peer has not got it.
func (en *Engine) Announce() {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	for _, e := range en.open {
		if en.Active && e.begun < en.Call.ID.Seq {
			e.due = true
			e.Wake()
		}
	}
}
