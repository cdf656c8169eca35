// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"slices"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/verbs"
)

// flushPatience is how long the end of a group waits for what its lanes still carry.
const flushPatience = 500 * time.Millisecond

// liftNews: there may be a step of the lift to do.
func (e *edge) liftNews() {
	e.rise.Store(true)
	e.unsent.Store(true)
}

// liftAll begins to lift all edges.
func (d *pollLoop) liftAll() {
	d.en.mu.Lock()
	defer d.en.mu.Unlock()
	for _, e := range d.en.open {
		e.liftNews()
	}
	d.bell.Ring()
}

// raise does a step of the lift of e, if there is one.
func (d *pollLoop) raise(e *edge) *failure {
	if !e.rise.Load() {
		return nil
	}
	e.rise.Store(false)
	en := d.en
	en.mu.Lock()
	lanes, must := en.lanes, en.lanesOn
	if en.shared != nil && slices.Contains(en.shared.ranks, e.rank) {
		lanes = nil // memory that is shared is nearer
	}
	en.mu.Unlock()
	warn, err := e.lift.step(lanes, must)
	switch {
	case err != nil:
		return &failure{code: faultGaveUp, by: en.rank, rank: en.rank, text: "to " + rankAt(e.rank, e.host) + ": " + err.Error(), err: err}
	case warn != nil:
		en.log.Warn("no verbs to a rank, TCP instead", "rank", en.rank, "to", e.rank, "error", warn)
	}
	if len(e.lift.due) > 0 {
		e.unsent.Store(true)
	}
	return nil
}

// read reads from e, over whatever it comes.
func (d *pollLoop) read(e *edge, b []byte) (int, error) {
	l := &e.lift
	if !l.in {
		return e.sock.Read(b)
	}
	n, err := l.lane.Read(b)
	if n > 0 || err == nil {
		l.empty = 0
		return n, nil
	}
	if l.empty++; err == verbs.ErrAgain && !l.alarm && l.end == nil && l.empty%liftProbe != 0 {
		return 0, transport.ErrAgain
	}
	l.alarm = false
	if l.end == nil {
		d.probe(e)
	}
	switch {
	case l.end != nil && err == verbs.ErrAgain && time.Since(l.ended) < liftGrace:
		return 0, transport.ErrAgain
	case l.end != nil:
		return 0, l.end // it says more than what the lane made of it
	case err == verbs.ErrAgain:
		return 0, transport.ErrAgain
	}
	return 0, err
}

// probe looks whether the connection of a lifted edge has ended.
func (d *pollLoop) probe(e *edge) {
	l := &e.lift
	_, err := e.sock.Read(l.probe[:])
	switch err {
	case transport.ErrAgain:
		return
	case nil:
		err = errors.New("bytes over TCP after the switch to verbs")
	}
	l.end, l.ended = err, time.Now()
}

// write writes to e, over whatever it goes.
func (d *pollLoop) write(e *edge, head, data []byte) (int, error) {
	if !e.lift.out {
		return e.sock.Write(head, data)
	}
	n, err := e.lift.lane.Write(head, data)
	if err == verbs.ErrAgain {
		err = transport.ErrAgain
	}
	return n, err
}

// await lets p wait for e too.
func (e *edge) awaitIn(p *transport.Poller, read, write bool) {
	l := &e.lift
	if e.beside = -1; e.pipe != nil {
		e.place = e.interest(p)
		return
	}
	e.place = p.Add(e.sock.FD(), read && l.end == nil, write && !l.out)
	if read && l.in || write && l.out {
		e.beside = p.Add(l.lane.FD(), true, false)
	}
}

// awaited takes what p has found.
func (e *edge) awaited(p *transport.Poller) {
	l := &e.lift
	read, write := p.Ready(e.place)
	if e.pipe != nil {
		e.found(read, write)
		return
	}
	e.ready = e.ready || read
	l.alarm = l.alarm || read && l.in
	e.blocked = e.blocked && !(write && !l.out)
	if e.beside < 0 {
		return
	}
	if news, _ := p.Ready(e.beside); news {
		l.lane.Silence()
		e.ready = e.ready || l.in
		e.blocked = e.blocked && !l.out
	}
}

// armed asks lanes to tell of what comes next. True: something is there already.
func (d *pollLoop) armed(edges []*edge) (news bool) {
	for _, e := range edges {
		l := &e.lift
		if !e.up.Load() || l.lane == nil || !l.in && !l.out {
			continue
		}
		read := l.in && !e.held
		if l.lane.Arm(read, e.blocked && l.out) {
			e.ready = e.ready || read
			e.blocked = e.blocked && !l.out
			news = true
		}
		news = news || read && l.end != nil
	}
	return news
}

// quietLanes takes the events that have been seen.
func quietLanes(edges []*edge) {
	for _, e := range edges {
		if l := &e.lift; e.up.Load() && l.lane != nil {
			l.lane.Silence()
		}
	}
}

// flush waits until lanes have brought what was written, or their ranks are gone.
func (d *pollLoop) flush() {
	deadline := time.Now().Add(flushPatience)
	for _, e := range d.all {
		l := &e.lift
		for e.up.Load() && l.out && !l.lane.Flushed() && time.Now().Before(deadline) {
			if d.probe(e); l.end != nil {
				break
			}
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// lower ends the lane of e, which nobody uses any more.
func (d *pollLoop) lower(e *edge) {
	if e.lift.lane == nil {
		return
	}
	if err := e.lift.lane.Close(); err != nil {
		d.en.log.Error("cannot close a queue pair", "rank", d.en.rank, "to", e.rank, "error", err)
	}
}
