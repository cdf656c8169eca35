// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// keep watches the edges while no collective is under way, so that an end or
// a fault is noticed also then. It asks for the edges only when nobody uses them,
// and waits without having them: a collective that begins never waits for it.
func (d *pollLoop) keep() {
	en := d.en
	var poll transport.Poller
	pause := keepTick
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-en.Failed:
			return
		}
		timer.Reset(pause)
		if en.over() {
			return
		}
		if !d.io.TryLock() {
			pause = min(2*pause, keepMax)
			continue
		}
		pause = keepTick
		from, f, more := d.tend(&poll)
		d.io.Unlock()
		if f != nil {
			en.Fail(f, from)
			return
		}
		if !more && !en.over() { // who ends the job rings after that
			poll.Wait(-1)
		}
	}
}

// tend reads what has come on any edge, until there is nothing more, and prepares
// the wait for the next bytes. more: there are some already.
func (d *pollLoop) tend(poll *transport.Poller) (from *Edge, f *Failure, more bool) {
	d.bell.Silence()
	d.snapshot()
	quietLanes(d.all)
	for _, e := range d.all {
		if e.pipe != nil {
			e.pipe.Call()
		}
		if from, f := d.tendOne(e); f != nil {
			return from, f, false
		}
	}
	poll.Clear()
	for _, e := range d.all {
		switch l := &e.Lift; {
		case !e.up.Load():
		case l.Lane != nil:
			l.alarm = l.In
			e.awaitIn(poll, !e.held, e.blocked && e.outbox.lift != 0)
		default:
			poll.Add(e.sock.FD(), !e.held, false)
		}
	}
	poll.AddBell(d.bell)
	more = d.armed(d.all)
	return nil, nil, arm(d.all) || more
}

// tendOne reads what has come on e, and writes what its lift has to say.
func (d *pollLoop) tendOne(e *Edge) (from *Edge, f *Failure) {
	for e.ready = true; e.ready && e.up.Load(); {
		if _, f := d.pull(e); f != nil {
			return e, f
		}
		if e.held {
			break
		}
	}
	if !e.up.Load() {
		return nil, nil
	}
	if f := d.raise(e); f != nil {
		return nil, f
	}
	for (len(e.Lift.due) > 0 || e.outbox.lift != 0 && e.full) && !e.held {
		e.blocked = false
		if !d.push(e) {
			break
		}
	}
	return nil, nil
}
