// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math"

	"github.com/gvw-project/gvw/internal/invariant"
)

// Run tracks a program through one collective, part by part. It moves no bytes
// and never blocks: for each peer a driver asks which part may be sent and which may be
// received now, moves it, and reports it as done.
//
//	run.Start(program, part)
//	peer p:  m, ok := run.NextSend(p);    write  m.Lo … m.Hi; run.Sent(p)
//	         m, ok := run.NextReceive(p); read and join it;   run.Received(p)
//	until run.Finished()
//
// Two ranks that exchange the same bytes both send first and join afterwards. If
// neither read before it has sent everything, they would deadlock. A driver therefore
// reads an operand (Below, Above) as soon as it arrives, into its own buffer: Awaits
// returns the next part of it. NextReceive returns when the part may be joined, or when
// a Take may be written to its place. One buffered part per peer suffices.
//
// Peers are named by their index in Program.Peers. NextSend and NextReceive return the
// same part until Sent or Received reports it as done. Sends and receives of all
// peers may be in progress at once, under a lock of the driver.
type Run struct {
	prog *Program
	part int   // the most bytes of a part
	past []int // by step: the byte up to which it is done; stepDone: the whole step
	out  []int // by peer: number of completed sends
	in   []int // by peer: number of completed receives
	left int   // steps that are not completed
}

// Start begins a collective with parts of at most part bytes, a multiple of 8. It
// allocates only when p is larger than all programs before.
func (r *Run) Start(p *Program, part int) {
	r.prog, r.part, r.left = p, part, len(p.Steps)
	r.past = zeroed(r.past, len(p.Steps))
	for i := range p.Steps {
		r.past[i] = p.Steps[i].Lo
	}
	r.out = zeroed(r.out, len(p.Peers))
	r.in = zeroed(r.in, len(p.Peers))
}

// stepDone marks a completed step. It lies past the last byte of any vector, so that it also
// distinguishes completed empty steps.
const stepDone = math.MaxInt

// zeroed returns n zeros, in the memory of s if that is large enough.
func zeroed(s []int, n int) []int {
	if cap(s) < n {
		return make([]int, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// NextSend returns the next part for a peer, and whether it may be sent now.
func (r *Run) NextSend(peer int) (Move, bool) {
	return r.next(r.prog.sends[peer], r.out[peer])
}

// NextReceive returns the next part from a peer, and whether it may be received now.
func (r *Run) NextReceive(peer int) (Move, bool) {
	return r.next(r.prog.receives[peer], r.in[peer])
}

// Awaits returns the next part from a peer, whether or not it may be received now. It
// reports false if nothing more comes from the peer.
func (r *Run) Awaits(peer int) (Move, bool) {
	if r.in[peer] == len(r.prog.receives[peer]) {
		return Move{}, false
	}
	return r.move(int(r.prog.receives[peer][r.in[peer]])), true
}

// Sent marks the part of NextSend as sent.
func (r *Run) Sent(peer int) { r.advance(r.prog.sends[peer], r.out, peer) }

// Received marks the part of NextReceive as received and joined.
func (r *Run) Received(peer int) { r.advance(r.prog.receives[peer], r.in, peer) }

// Finished reports whether all steps are completed.
func (r *Run) Finished() bool { return r.left == 0 }

// next returns the next part of a list of steps. It reports whether all steps before
// it have passed the part.
func (r *Run) next(steps []int32, at int) (Move, bool) {
	if at == len(steps) {
		return Move{}, false
	}
	m := r.move(int(steps[at]))
	for _, i := range r.prog.Steps[m.Step].After {
		before := &r.prog.Steps[i]
		need := min(m.Hi, before.Hi)
		if before.Lo == before.Hi {
			need = stepDone
		}
		if need > before.Lo && r.past[i] < need { // otherwise the part ends before the bytes of that step
			return Move{}, false
		}
	}
	return m, true
}

// move returns the next part of a step.
func (r *Run) move(step int) Move {
	s := &r.prog.Steps[step]
	lo := r.past[step]
	hi := min(lo+r.part, s.Hi)
	return Move{Step: step, Act: s.Act, Own: s.Own, Lo: lo, Hi: hi, Last: hi == s.Hi}
}

// advance marks the next part of a list of steps as done.
func (r *Run) advance(steps []int32, at []int, peer int) {
	if invariant.Enabled {
		_, may := r.next(steps, at[peer])
		invariant.Check(may, "schedule: rank %d reports a part of peer %d that it was not given", r.prog.Rank, peer)
	}
	i := steps[at[peer]]
	m := r.move(int(i))
	r.past[i] = m.Hi
	if m.Last {
		r.past[i] = stepDone
		at[peer]++
		r.left--
	}
}
