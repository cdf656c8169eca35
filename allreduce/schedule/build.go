// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
)

// builder collects the steps of a program.
type builder struct {
	p *Program
	// inPlace: the contribution stands in the result, at its place, from the start.
	inPlace bool
}

func newBuilder(size, rank, bytes int) builder {
	return builder{p: &Program{Size: size, Rank: rank, Bytes: bytes}}
}

func (b builder) add(act Act, peer, lo, hi int) {
	b.p.Steps = append(b.p.Steps, Step{Act: act, Peer: peer, Lo: lo, Hi: hi})
}

// some adds a step unless it has nothing to move. Both ends must do so.
func (b builder) some(act Act, peer, lo, hi int) {
	if lo < hi {
		b.add(act, peer, lo, hi)
	}
}

// seal completes a program: who comes after whom, and the lists by peer.
func (b builder) seal() *Program {
	b.order()
	b.byPeer()
	return b.p
}

// byPeer makes the lists of sends and receives.
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

// order finds for each step those before it that it conflicts with. The vector is
// cut wherever a step begins or ends; per cell it is enough to know who wrote it last
// and who has read it since, as these come after all others.
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
			b.mixed(s)
		}
		if len(after) > 0 {
			slices.Sort(after)
			s.After = append(s.After, slices.Compact(after)...)
		}
	}
}

// cell is a range that each step touches as a whole or not at all.
type cell struct {
	writer  int32 // the last step that wrote it; -1: none
	readers []int32
}

// visit notes that step i touches the cell, and appends whom it comes after.
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

// mixed is for a step over bytes of which some were written and some were not.
// That has a meaning only where both are in the same memory.
func (b builder) mixed(s *Step) {
	if !b.inPlace {
		panic(fmt.Sprintf("BUG: schedule: rank %d of %d: step %+v mixes its contribution with what came", b.p.Rank, b.p.Size, *s))
	}
}
