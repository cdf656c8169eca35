// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"net"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/invariant"
	"github.com/gvw-project/gvw/internal/link"
)

// outbox is what an edge is writing: frames, then data from where it lies.
type outbox struct {
	head []byte
	data []byte // of the caller; nil: none
	part bool   // data is a part of the collective
	turn bool   // these are the last bytes for the socket
	lo   int    // where it begins
	lift byte   // what of a lift head says
	seq  uint64
	pair [2][]byte // head and data, for one write
	bufs net.Buffers
}

// compose puts into the outbox what e has to write next. False: nothing now; over:
// and never again.
func (e *Edge) compose() (ok, over bool) {
	o, en := &e.outbox, e.en
	unwritten := o.part || o.turn
	*o = outbox{head: o.head[:0]}
	en.Mu.Lock()
	if invariant.Enabled {
		invariant.Check(!unwritten || e.broken, "engine: a part for %s was not written, and another one is composed", link.RankAt(e.Rank, e.Host))
	}
	if en.mute.Load() {
		defer en.Mu.Unlock()
		e.resting = true
		return false, en.stopped()
	}
	if e.shut || en.Ending && e.fault == nil {
		en.Mu.Unlock()
		return false, true
	}
	if e.fault != nil {
		e.shut = true
		en.Mu.Unlock()
		o.head = e.Tags.AppendFrame(o.head, link.FrameFault, e.fault.appendTo(nil))
		return true, false
	}
	if en.Failure != nil {
		en.Mu.Unlock()
		return false, true
	}
	if e.composePipe() || e.composeLift() {
		en.Mu.Unlock()
		return true, false
	}
	m, ok := en.nextSend(e)
	if !ok {
		defer en.Mu.Unlock()
		return e.composeSign(), false
	}
	c := &en.Call
	o.part, o.lo, o.seq = true, m.Lo, c.Id.Seq
	from := c.dst
	if m.Own {
		from = c.src // it may be longer than what this rank receives
	}
	o.data = from[m.Lo:m.Hi]
	spoil := en.garble && len(o.data) > 0
	en.garble = en.garble && !spoil
	if en.Stream {
		en.Mu.Unlock()
		if spoil {
			o.data = spoilt(o.data)
		}
		return true, false
	}
	e.composeHeader()
	if e.Tags.Out != nil {
		en.Mu.Unlock()
		o.head = e.Tags.AppendTagged(o.head, link.FrameData, o.data)
		if spoil {
			o.data = spoilt(o.data)
		}
		return true, false
	}
	f := link.Frame{Kind: link.FrameData, Length: uint32(len(o.data))}
	known := false
	if !en.NoSum {
		f.Flags = link.FlagSum
		if !m.Own {
			f.Sum, known = c.sums.find(m.Lo, m.Hi)
		}
	}
	en.Mu.Unlock()
	if !en.NoSum && !known {
		f.Sum = link.Checksum(o.data)
		if !m.Own {
			en.Mu.Lock()
			c.sums.set(m.Lo, m.Hi, f.Sum)
			en.Mu.Unlock()
		}
	}
	if spoil {
		o.data = spoilt(o.data)
	}
	o.head = f.Append(o.head)
	return true, false
}

// nextSend is the next part for e, if one may go now; under the lock.
func (en *Engine) nextSend(e *Edge) (schedule.Move, bool) {
	if !en.Active || e.peer == noPeer || e.broken || en.Stream && en.mayNotSend(e) {
		return schedule.Move{}, false
	}
	return en.Call.run.NextSend(e.peer)
}

// composeHeader appends the header of the collective that is under way, once.
func (e *Edge) composeHeader() bool {
	c := &e.en.Call
	if e.begun == c.Id.Seq {
		return false
	}
	e.begun = c.Id.Seq
	e.outbox.head = e.Tags.AppendFrame(e.outbox.head, link.FrameCall, c.wire)
	return true
}

// composeSign appends a sign of life, if one is due: the header of the
// collective, and when the peer has that, a note.
func (e *Edge) composeSign() bool {
	en := e.en
	due := e.say && en.Active && !e.broken
	e.say = false
	switch {
	case !due:
	case e.composeHeader():
		return true
	case e.entered >= en.Call.Id.Seq:
		_, far := en.WaitsFor()
		e.outbox.head = e.Tags.AppendFrame(e.outbox.head, link.FrameNote, far.appendTo(nil))
		return true
	}
	e.resting = true
	return false
}

// wrote says that all that compose gave is written.
func (e *Edge) wrote() {
	o, en := &e.outbox, e.en
	part, seq := o.part, o.seq
	if o.turn {
		en.Pipes.turnOut(e)
		e.Tags.Out = nil
	}
	e.Lift.Out = e.Lift.Out || o.lift == liftSwitch
	o.part, o.turn, o.lift, o.data = false, false, 0, nil // the caller's memory is its own again
	if !part {
		return
	}
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if en.Failure == nil && en.Active && en.Call.Id.Seq == seq {
		if invariant.Enabled {
			next, may := en.Call.run.NextSend(e.peer)
			invariant.Check(may && next.Lo == o.lo, "engine: wrote a part from byte %d for %s, want %+v (allowed: %v)", o.lo, link.RankAt(e.Rank, e.Host), next, may)
		}
		en.Call.run.Sent(e.peer)
		en.progress()
	}
}

// breaks follows a failed write. Why it failed is for who reads to find out: the
// peer's last words may still be there to read.
func (e *Edge) breaks() {
	en := e.en
	en.Mu.Lock()
	defer en.Mu.Unlock()
	e.broken = true
	en.Driver.nudge(e)
}
