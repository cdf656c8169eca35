// SPDX-License-Identifier: Apache-2.0

package schedule

import "fmt"

// The collectives of this file work in place: each rank's record stands in the
// vector, that of rank r at offsets[r] … offsets[r+1], with Size+1 rising offsets
// from 0 to Bytes. nil stands for the equal segments of Cut.

// at is where record k begins.
func (s Spec) at(offsets []int) func(k int) int {
	if offsets == nil {
		return s.Cut
	}
	if len(offsets) != s.Size+1 || offsets[0] != 0 || offsets[s.Size] != s.Bytes {
		panic(fmt.Sprintf("BUG: schedule: %d offsets for %d ranks and %d bytes: want one more than ranks, from 0 to the end", len(offsets), s.Size, s.Bytes))
	}
	return func(k int) int { return offsets[k] }
}

// AllGather is rank's program to bring the records of all to all.
//
// Small ones, and those of a power of two of ranks, by doubling; others go around a ring.
func (s Spec) AllGather(offsets []int, rank int) *Program {
	s = s.checked()
	b := s.builder(rank)
	b.inPlace = true
	cut := s.at(offsets)
	switch {
	case s.Bytes == 0:
		return s.Barrier(rank)
	case s.Bytes <= small || s.Size&(s.Size-1) == 0:
		b.gatherDoubling(cut)
	default:
		b.ringSpread(cut, rank)
	}
	return b.seal()
}

// gatherDoubling: ranks at distance 1, 2, 4, … exchange the records they have, which
// are neighbours. The first one of a pair gives before, and takes the rest after.
func (b builder) gatherDoubling(cut func(int) int) {
	f, rank := foldOf(b.p.Size), b.p.Rank
	place := f.place(rank)
	mate := f.first(place)
	switch {
	case rank != f.speaker(place):
		b.some(Give, rank+1, cut(rank), cut(rank+1))
		b.some(Take, rank+1, 0, cut(rank))
		b.some(Take, rank+1, cut(rank+1), b.p.Bytes)
		return
	case f.paired(place):
		b.some(Take, mate, cut(mate), cut(mate+1))
	}
	for d := 1; d < f.places; d *= 2 {
		peer := f.speaker(place ^ d)
		have, lack := place&^(d-1), (place^d)&^(d-1)
		b.some(Give, peer, cut(f.first(have)), cut(f.first(have+d)))
		b.some(Take, peer, cut(f.first(lack)), cut(f.first(lack+d)))
	}
	if f.paired(place) {
		b.some(Give, mate, 0, cut(mate))
		b.some(Give, mate, cut(mate+1), b.p.Bytes)
	}
}

// Gather is rank's program to bring the records of all to root. Small ones come
// up a binomial tree, for which every rank needs the whole vector as scratch; large
// ones come directly, and a rank touches its own record alone.
func (s Spec) Gather(root int, offsets []int, rank int) *Program {
	return s.binomialRecords(root, offsets, rank, Take)
}

// Scatter is rank's program to bring to each rank its record of root's vector, the
// way Gather goes back.
func (s Spec) Scatter(root int, offsets []int, rank int) *Program {
	return s.binomialRecords(root, offsets, rank, Give)
}

// binomialRecords moves records up or down; act is what a rank does with its children.
func (s Spec) binomialRecords(root int, offsets []int, rank int, act Act) *Program {
	s = s.checked()
	b := s.builder(rank)
	b.inPlace = true
	cut := s.at(offsets)
	if s.Bytes == 0 {
		return s.Barrier(rank)
	}
	v := mod(rank-root, s.Size)
	parent, children := s.recordTree(v)
	records := func(act Act, peer, top int) { // those of top and the ranks below it
		lo, hi := top+root, min(top+s.recordReach(top), s.Size)+root // past the last rank: from 0 on
		peer = (peer + root) % s.Size
		b.some(act, peer, cut(min(lo, s.Size)), cut(min(hi, s.Size)))
		b.some(act, peer, cut(max(lo, s.Size)-s.Size), cut(max(hi, s.Size)-s.Size))
	}
	if v > 0 && act == Give {
		records(Take, parent, v)
	}
	for _, child := range children {
		records(act, child, child)
	}
	if v > 0 && act == Take {
		records(Give, parent, v)
	}
	return b.seal()
}

// recordTree is the place of v below root, which is 0.
func (s Spec) recordTree(v int) (parent int, children []int) {
	if s.Bytes <= small {
		return binomial(v, s.Size)
	}
	for child := v + 1; v == 0 && child < s.Size; child++ {
		children = append(children, child)
	}
	return 0, children
}

// recordReach is how many places v stands for.
func (s Spec) recordReach(v int) int {
	if s.Bytes <= small {
		return reachOf(v, s.Size)
	}
	return 1
}
