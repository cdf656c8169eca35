// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math"

	"github.com/gvw-project/gvw/internal/invariant"
)

// Run carries a program through one collective, part by part. It moves no bytes
// and never waits: a driver asks for each peer what may be sent and what may be
// received now, does it, and says so.
//
//	run.Start(program, part)
//	peer p:  m, ok := run.NextSend(p);    write  m.Lo … m.Hi; run.Sent(p)
//	         m, ok := run.NextReceive(p); read and join it;   run.Received(p)
//	until run.Finished()
//
// Two ranks that exchange the same bytes each give first and may join only then: if
// both read nothing before they have sent all, they wait for ever. So a driver
// reads an operand (Below, Above) as soon as it comes, into a buffer of its own:
// Awaits says what it is and what of it comes next. NextReceive says when it may be
// joined, and when a Take may go to its place. One part per peer is enough.
//
// Peers are named by their index in Program.Peers. A part of a step is handed out
// again until Sent or Received says that it is done; sends and receives of all
// peers may be under way at the same time, under one lock of the driver.
type Run struct {
	prog *Program
	part int
	past []int // by step: the byte up to which it is done; over: all of them
	out  []int // by peer: how many of its sends are over
	in   []int // by peer: how many of its receives are over
	left int   // steps that are not over
}

// Start begins a collective with parts of at most part bytes, a multiple of 8.
// After the first time with the largest program nothing is allocated.
func (r *Run) Start(p *Program, part int) {
	r.prog, r.part, r.left = p, part, len(p.Steps)
	r.past = zeroed(r.past, len(p.Steps))
	for i := range p.Steps {
		r.past[i] = p.Steps[i].Lo
	}
	r.out = zeroed(r.out, len(p.Peers))
	r.in = zeroed(r.in, len(p.Peers))
}

// over is past the last byte of any vector: also an empty step is over or not.
const over = math.MaxInt

// zeroed is s with n zeros.
func zeroed(s []int, n int) []int {
	if cap(s) < n {
		return make([]int, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// NextSend is the next part for a peer, if it may go now.
func (r *Run) NextSend(peer int) (Move, bool) {
	return r.next(r.prog.sends[peer], r.out[peer])
}

// NextReceive is where the next part from a peer goes, if it may come now.
func (r *Run) NextReceive(peer int) (Move, bool) {
	return r.next(r.prog.receives[peer], r.in[peer])
}

// Awaits is the next part from a peer, whether or not it may come now. False:
// nothing more comes from it.
func (r *Run) Awaits(peer int) (Move, bool) {
	if r.in[peer] == len(r.prog.receives[peer]) {
		return Move{}, false
	}
	return r.move(int(r.prog.receives[peer][r.in[peer]])), true
}

// Sent says that the part of NextSend is gone.
func (r *Run) Sent(peer int) { r.advance(r.prog.sends[peer], r.out, peer) }

// Received says that the part of NextReceive is in its place.
func (r *Run) Received(peer int) { r.advance(r.prog.receives[peer], r.in, peer) }

// Finished says that all steps are over.
func (r *Run) Finished() bool { return r.left == 0 }

// next is the next part of the list of a peer's steps, if all steps that it
// comes after are past it.
func (r *Run) next(steps []int32, at int) (Move, bool) {
	if at == len(steps) {
		return Move{}, false
	}
	m := r.move(int(steps[at]))
	for _, i := range r.prog.Steps[m.Step].After {
		before := &r.prog.Steps[i]
		need := min(m.Hi, before.Hi)
		if before.Lo == before.Hi {
			need = over
		}
		if need > before.Lo && r.past[i] < need { // else the part ends before its bytes
			return Move{}, false
		}
	}
	return m, true
}

func (r *Run) move(step int) Move {
	s := &r.prog.Steps[step]
	lo := r.past[step]
	hi := min(lo+r.part, s.Hi)
	return Move{Step: step, Act: s.Act, Own: s.Own, Lo: lo, Hi: hi, Last: hi == s.Hi}
}

func (r *Run) advance(steps []int32, at []int, peer int) {
	if invariant.Enabled {
		_, may := r.next(steps, at[peer])
		invariant.Check(may, "schedule: rank %d reports a part of peer %d that it was not given", r.prog.Rank, peer)
	}
	i := steps[at[peer]]
	m := r.move(int(i))
	r.past[i] = m.Hi
	if m.Last {
		r.past[i] = over
		at[peer]++
		r.left--
	}
}
