// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"net"

	"github.com/gvw-project/gvw/allreduce/schedule"
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
func (e *edge) compose() (ok, over bool) {
	o, en := &e.outbox, e.en
	*o = outbox{head: o.head[:0]}
	en.mu.Lock()
	if en.mute.Load() {
		defer en.mu.Unlock()
		e.resting = true
		return false, en.stopped()
	}
	if e.shut || en.ending && e.fault == nil {
		en.mu.Unlock()
		return false, true
	}
	if e.fault != nil {
		e.shut = true
		en.mu.Unlock()
		o.head = e.appendFrame(o.head, frameFault, e.fault.appendTo(nil))
		return true, false
	}
	if en.failure != nil {
		en.mu.Unlock()
		return false, true
	}
	if e.composePipe() || e.composeLift() {
		en.mu.Unlock()
		return true, false
	}
	m, ok := en.nextSend(e)
	if !ok {
		defer en.mu.Unlock()
		return e.composeSign(), false
	}
	c := &en.call
	o.part, o.lo, o.seq = true, m.Lo, c.id.seq
	from := c.dst
	if m.Own {
		from = c.src // it may be longer than what this rank receives
	}
	o.data = from[m.Lo:m.Hi]
	spoil := en.garble && len(o.data) > 0
	en.garble = en.garble && !spoil
	if en.stream {
		en.mu.Unlock()
		if spoil {
			o.data = spoilt(o.data)
		}
		return true, false
	}
	e.composeHeader()
	if e.tags.out != nil {
		en.mu.Unlock()
		o.head = e.appendTagged(o.head, frameData, o.data)
		if spoil {
			o.data = spoilt(o.data)
		}
		return true, false
	}
	f := frame{kind: frameData, length: uint32(len(o.data))}
	known := false
	if !en.noSum {
		f.flags = flagSum
		if !m.Own {
			f.sum, known = c.sums.find(m.Lo, m.Hi)
		}
	}
	en.mu.Unlock()
	if !en.noSum && !known {
		f.sum = checksum(o.data)
		if !m.Own {
			en.mu.Lock()
			c.sums.set(m.Lo, m.Hi, f.sum)
			en.mu.Unlock()
		}
	}
	if spoil {
		o.data = spoilt(o.data)
	}
	o.head = f.append(o.head)
	return true, false
}

// nextSend is the next part for e, if one may go now; under the lock.
func (en *engine) nextSend(e *edge) (schedule.Move, bool) {
	if !en.active || e.peer == noPeer || e.broken || en.stream && en.mayNotSend(e) {
		return schedule.Move{}, false
	}
	return en.call.run.NextSend(e.peer)
}

// composeHeader appends the header of the collective that is under way, once.
func (e *edge) composeHeader() bool {
	c := &e.en.call
	if e.begun == c.id.seq {
		return false
	}
	e.begun = c.id.seq
	e.outbox.head = e.appendFrame(e.outbox.head, frameCall, c.wire)
	return true
}

// composeSign appends a sign of life, if one is due: the header of the
// collective, and when the peer has that, a note.
func (e *edge) composeSign() bool {
	en := e.en
	due := e.say && en.active && !e.broken
	e.say = false
	switch {
	case !due:
	case e.composeHeader():
		return true
	case e.entered >= en.call.id.seq:
		_, far := en.waitsFor()
		e.outbox.head = e.appendFrame(e.outbox.head, frameNote, far.appendTo(nil))
		return true
	}
	e.resting = true
	return false
}

// wrote says that all that compose gave is written.
func (e *edge) wrote() {
	o, en := &e.outbox, e.en
	part, seq := o.part, o.seq
	if o.turn {
		en.pipes.turnOut(e)
		e.tags.out = nil
	}
	e.lift.out = e.lift.out || o.lift == liftSwitch
	o.part, o.turn, o.lift, o.data = false, false, 0, nil // the caller's memory is its own again
	if !part {
		return
	}
	en.mu.Lock()
	defer en.mu.Unlock()
	if en.failure == nil && en.active && en.call.id.seq == seq {
		en.call.run.Sent(e.peer)
		en.progress()
	}
}

// breaks follows a failed write. Why it failed is for who reads to find out: the
// peer's last words may still be there to read.
func (e *edge) breaks() {
	en := e.en
	en.mu.Lock()
	defer en.mu.Unlock()
	e.broken = true
	en.driver.nudge(e)
}
