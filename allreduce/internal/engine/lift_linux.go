// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/internal/link"
)

// flushPatience is how long the end of a group waits for what its lanes still carry.
const flushPatience = 500 * time.Millisecond

// liftNews: there may be a step of the lift to do.
func (e *Edge) liftNews() {
	e.rise.Store(true)
	e.unsent.Store(true)
}

// LiftAll begins to lift all edges.
func (d *pollLoop) LiftAll() {
	d.en.Mu.Lock()
	defer d.en.Mu.Unlock()
	for _, e := range d.en.Open {
		e.liftNews()
	}
	d.bell.Ring()
}

// raise does a step of the lift of e, if there is one.
func (d *pollLoop) raise(e *Edge) *Failure {
	if !e.rise.Load() {
		return nil
	}
	e.rise.Store(false)
	en := d.en
	en.Mu.Lock()
	lanes, must := en.Lanes, en.LanesOn
	if en.Shared != nil && slices.Contains(en.Shared.Ranks, e.Rank) {
		lanes = nil // memory that is shared is nearer
	}
	en.Mu.Unlock()
	warn, err := e.Lift.step(lanes, must)
	switch {
	case err != nil:
		return &Failure{Code: FaultGaveUp, By: en.Rank, Rank: en.Rank, Text: "to " + link.RankAt(e.Rank, e.Host) + ": " + err.Error(), Err: err}
	case warn != nil:
		en.Log.Warn("no verbs to a rank, TCP instead", "rank", en.Rank, "to", e.Rank, "error", warn)
	}
	if len(e.Lift.due) > 0 {
		e.unsent.Store(true)
	}
	return nil
}

// read reads from e, over whatever it comes.
func (d *pollLoop) read(e *Edge, b []byte) (int, error) {
	l := &e.Lift
	if !l.In {
		return e.sock.Read(b)
	}
	n, err := l.Lane.Read(b)
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
func (d *pollLoop) probe(e *Edge) {
	l := &e.Lift
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
func (d *pollLoop) write(e *Edge, head, data []byte) (int, error) {
	if !e.Lift.Out {
		return e.sock.Write(head, data)
	}
	n, err := e.Lift.Lane.Write(head, data)
	if err == verbs.ErrAgain {
		err = transport.ErrAgain
	}
	return n, err
}

// await lets p wait for e too.
func (e *Edge) awaitIn(p *transport.Poller, read, write bool) {
	l := &e.Lift
	if e.beside = -1; e.pipe != nil {
		e.place = e.interest(p)
		return
	}
	e.place = p.Add(e.sock.FD(), read && l.end == nil, write && !l.Out)
	if read && l.In || write && l.Out {
		e.beside = p.Add(l.Lane.FD(), true, false)
	}
}

// awaited takes what p has found.
func (e *Edge) awaited(p *transport.Poller) {
	l := &e.Lift
	read, write := p.Ready(e.place)
	if e.pipe != nil {
		e.found(read, write)
		return
	}
	e.ready = e.ready || read
	l.alarm = l.alarm || read && l.In
	e.blocked = e.blocked && !(write && !l.Out)
	if e.beside < 0 {
		return
	}
	if news, _ := p.Ready(e.beside); news {
		l.Lane.Silence()
		e.ready = e.ready || l.In
		e.blocked = e.blocked && !l.Out
	}
}

// armed asks lanes to tell of what comes next. True: something is there already.
func (d *pollLoop) armed(edges []*Edge) (news bool) {
	for _, e := range edges {
		l := &e.Lift
		if !e.up.Load() || l.Lane == nil || !l.In && !l.Out {
			continue
		}
		read := l.In && !e.held
		if l.Lane.Arm(read, e.blocked && l.Out) {
			e.ready = e.ready || read
			e.blocked = e.blocked && !l.Out
			news = true
		}
		news = news || read && l.end != nil
	}
	return news
}

// quietLanes takes the events that have been seen.
func quietLanes(edges []*Edge) {
	for _, e := range edges {
		if l := &e.Lift; e.up.Load() && l.Lane != nil {
			l.Lane.Silence()
		}
	}
}

// flush waits until lanes have brought what was written, or their ranks are gone.
func (d *pollLoop) flush() {
	deadline := time.Now().Add(flushPatience)
	for _, e := range d.all {
		l := &e.Lift
		for e.up.Load() && l.Out && !l.Lane.Flushed() && time.Now().Before(deadline) {
			if d.probe(e); l.end != nil {
				break
			}
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// lower ends the lane of e, which nobody uses any more.
func (d *pollLoop) lower(e *Edge) {
	if e.Lift.Lane == nil {
		return
	}
	if err := e.Lift.Lane.Close(); err != nil {
		d.en.Log.Error("cannot close a queue pair", "rank", d.en.Rank, "to", e.Rank, "error", err)
	}
}
