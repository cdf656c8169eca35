// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
)

// builder appends the steps of one rank's program. Its value is copied; the program is shared.
type builder struct {
	p *Program
	// inPlace is set where the contribution is in the result, at its place, from the start.
	inPlace bool
}

func newBuilder(size, rank, bytes int) builder {
	return builder{p: &Program{Size: size, Rank: rank, Bytes: bytes}}
}

// add appends a step for the bytes lo … hi of the vector.
func (b builder) add(act Act, peer, lo, hi int) {
	b.p.Steps = append(b.p.Steps, Step{Act: act, Peer: peer, Lo: lo, Hi: hi})
}

// addNonEmpty adds a step unless its range is empty. Both ends must skip it alike.
func (b builder) addNonEmpty(act Act, peer, lo, hi int) {
	if lo < hi {
		b.add(act, peer, lo, hi)
	}
}

// seal completes a program: it derives Step.After and Step.Own, and the lists by peer.
func (b builder) seal() *Program {
	b.order()
	b.byPeer()
	return b.p
}

// byPeer fills Program.Peers and, for each peer, the lists of sends and receives.
func (b builder) byPeer() {
	p := b.p
	for i := range p.Steps {
		p.Peers = append(p.Peers, p.Steps[i].Peer)
	}
	slices.Sort(p.Peers)
	p.Peers = slices.Clip(slices.Compact(p.Peers))
	p.sends, p.receives = make([][]int32, len(p.Peers)), make([][]int32, len(p.Peers))
	for i := range p.Steps {
		at, _ := slices.BinarySearch(p.Peers, p.Steps[i].Peer)
		if p.Steps[i].Act == Give {
			p.sends[at] = append(p.sends[at], int32(i))
		} else {
			p.receives[at] = append(p.receives[at], int32(i))
		}
	}
}

// order sets After and Own of each step. The vector is cut wherever a step begins
// or ends. For each cell the last writer and the readers since then suffice: they
// themselves come after all earlier steps on the cell.
func (b builder) order() {
	p := b.p
	cuts := make([]int, 0, 2*len(p.Steps))
	for i := range p.Steps {
		cuts = append(cuts, p.Steps[i].Lo, p.Steps[i].Hi)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	cells := make([]cell, len(cuts)) // the last one, for empty steps, begins at the end
	for i := range cells {
		cells[i].writer = -1
	}
	var after []int32
	for i := range p.Steps {
		s := &p.Steps[i]
		lo, _ := slices.BinarySearch(cuts, s.Lo)
		hi, _ := slices.BinarySearch(cuts, s.Hi)
		touched := cells[lo:max(hi, lo+1)]
		after = after[:0]
		written := 0
		for k := range touched {
			c := &touched[k]
			if c.writer >= 0 {
				written++
			}
			after = c.visit(after, int32(i), s.Act == Give)
		}
		if s.Own = written == 0; !s.Own && written < len(touched) {
			b.checkMixed(s)
		}
		if len(after) > 0 {
			slices.Sort(after)
			s.After = append(s.After, slices.Compact(after)...)
		}
	}
}

// cell is a range of the vector that each step covers completely or not at all.
type cell struct {
	writer  int32   // the last step that wrote it; -1: none
	readers []int32 // the steps that have read it since
}

// visit records that step i accesses the cell, and appends the steps that i conflicts with.
func (c *cell) visit(after []int32, i int32, reads bool) []int32 {
	if !reads && len(c.readers) > 0 {
		after = append(after, c.readers...)
	} else if c.writer >= 0 {
		after = append(after, c.writer)
	}
	if reads {
		c.readers = append(c.readers, i)
	} else {
		c.writer, c.readers = i, c.readers[:0]
	}
	return after
}

// checkMixed panics, unless the program works in place, for a step over bytes of which some
// were written before and some were not: they would be in two different buffers.
func (b builder) checkMixed(s *Step) {
	if !b.inPlace {
		panic(fmt.Sprintf("BUG: schedule: rank %d of %d: step %+v reads both its contribution and its result", b.p.Rank, b.p.Size, *s))
	}
}
