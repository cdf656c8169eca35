// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/link"
)

// What a pollLoop does with pipes: who reads and writes an edge has io.

func (d *pollLoop) offer(e *Edge) (transport.Where, error) {
	seg, err := d.en.Segments.Make(transport.PipeBytes, 0)
	if err != nil {
		return transport.Where{}, err
	}
	return seg.Where(), e.through(seg, true)
}

func (d *pollLoop) accept(e *Edge, w transport.Where) error {
	seg, err := d.en.Segments.Open(w)
	if err != nil {
		return err
	}
	return e.through(seg, false)
}

// through puts a pipe over the edge's socket.
func (e *Edge) through(seg *transport.Segment, first bool) error {
	s, ok := e.sock.(*transport.Socket)
	if !ok {
		seg.Close()
		return fmt.Errorf("the edge to %s has no socket of its own", link.RankAt(e.Rank, e.Host))
	}
	p, err := transport.NewPipe(s, seg, first)
	if err != nil {
		seg.Close()
		return err
	}
	e.sock, e.pipe = p, p
	return nil
}

func (d *pollLoop) turnOut(e *Edge) { e.pipe.TurnOut() }

func (d *pollLoop) turnIn(e *Edge) {
	e.pipe.Hide()
	e.pipe.TurnIn()
}

// peek prepares the next try on an edge, as far as that goes through memory. True:
// there is nothing to ask the system for.
func (e *Edge) peek() bool {
	in, out := e.pipe.Turned()
	if in && e.wanted {
		e.ready, e.wanted = true, false
	}
	if out && e.blocked {
		e.blocked = !e.pipe.Room()
	}
	return (in || !e.wanted) && (out || !e.blocked)
}

// interest adds what the edge waits for to a poll, and returns its place.
func (e *Edge) interest(p *transport.Poller) int {
	called := false
	if e.pipe != nil && e.blocked {
		_, called = e.pipe.Turned() // when there is room
	}
	return p.Add(e.sock.FD(), !e.held && !e.ready || called, e.blocked && !called)
}

// found takes what a poll has found.
func (e *Edge) found(read, write bool) {
	if e.pipe == nil {
		e.ready = e.ready || read
		e.blocked = e.blocked && !write
		return
	}
	if read {
		e.pipe.Call()
	}
	e.ready = e.ready || read || e.pipe.Pending()
	if _, out := e.pipe.Turned(); out {
		write = e.pipe.Room()
	}
	e.blocked = e.blocked && !write
}

// arm asks the far ends for calls, before a wait. True: there is something to do.
func arm(edges []*Edge) (some bool) {
	for _, e := range edges {
		if e.pipe != nil && e.up.Load() && e.pipe.Arm(!e.held && !e.ready, e.blocked) {
			some = true
		}
	}
	return some
}

// disarm takes that back.
func disarm(edges []*Edge) {
	for _, e := range edges {
		if e.pipe != nil && e.up.Load() {
			e.pipe.Disarm()
		}
	}
}
