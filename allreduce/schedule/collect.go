// SPDX-License-Identifier: Apache-2.0

package schedule

import "fmt"

// The collectives of this file work in place. Each rank's record is in the vector:
// that of rank r at offsets[r] … offsets[r+1]. The Size+1 offsets rise from 0 to
// Bytes. nil means the equal segments of Cut.

// at returns a function that returns the offset of record k.
func (s Spec) at(offsets []int) func(k int) int {
	if offsets == nil {
		return s.Cut
	}
	if len(offsets) != s.Size+1 || offsets[0] != 0 || offsets[s.Size] != s.Bytes {
		panic(fmt.Sprintf("BUG: schedule: %d offsets for %d ranks and %d bytes: want one more than ranks, from 0 to the end", len(offsets), s.Size, s.Bytes))
	}
	return func(k int) int { return offsets[k] }
}

// AllGather returns rank's program of an all-gather, which copies each rank's record to all.
//
// It uses doubling for small vectors and for a power of two of ranks, a ring otherwise.
func (s Spec) AllGather(offsets []int, rank int) *Program {
	s = s.withDefaults()
	b := s.builder(rank)
	b.inPlace = true
	cut := s.at(offsets)
	switch {
	case s.Bytes == 0:
		return s.Barrier(rank)
	case s.Bytes <= smallBytes || s.Size&(s.Size-1) == 0:
		b.gatherDoubling(cut)
	default:
		b.ringSpread(cut, rank)
	}
	return b.seal()
}

// gatherDoubling adds the steps of an all-gather by doubling. Ranks at distance 1, 2, 4, …
// exchange the records that they have, which are adjacent. The first rank of a pair
// sends its record before, and receives the others after.
func (b builder) gatherDoubling(cut func(int) int) {
	f, rank := foldOf(b.p.Size), b.p.Rank
	place := f.place(rank)
	partner := f.first(place)
	switch {
	case rank != f.leader(place):
		b.addNonEmpty(Give, rank+1, cut(rank), cut(rank+1))
		b.addNonEmpty(Take, rank+1, 0, cut(rank))
		b.addNonEmpty(Take, rank+1, cut(rank+1), b.p.Bytes)
		return
	case f.paired(place):
		b.addNonEmpty(Take, partner, cut(partner), cut(partner+1))
	}
	for d := 1; d < f.places; d *= 2 {
		peer := f.leader(place ^ d)
		have, missing := place&^(d-1), (place^d)&^(d-1)
		b.addNonEmpty(Give, peer, cut(f.first(have)), cut(f.first(have+d)))
		b.addNonEmpty(Take, peer, cut(f.first(missing)), cut(f.first(missing+d)))
	}
	if f.paired(place) {
		b.addNonEmpty(Give, partner, 0, cut(partner))
		b.addNonEmpty(Give, partner, cut(partner+1), b.p.Bytes)
	}
}

// Gather returns rank's program of a gather: the records of all ranks go to root. Small
// records go up a binomial tree, in which each rank uses the whole vector as scratch.
// Large ones go directly to root, and a rank accesses only its own record.
func (s Spec) Gather(root int, offsets []int, rank int) *Program {
	return s.binomialRecords(root, offsets, rank, Take)
}

// Scatter returns rank's program of a scatter, the reverse of Gather: each rank gets its
// record from root's vector.
func (s Spec) Scatter(root int, offsets []int, rank int) *Program {
	return s.binomialRecords(root, offsets, rank, Give)
}

// binomialRecords moves records up or down a tree; act is what a rank does with its children's.
func (s Spec) binomialRecords(root int, offsets []int, rank int, act Act) *Program {
	s = s.withDefaults()
	b := s.builder(rank)
	b.inPlace = true
	cut := s.at(offsets)
	if s.Bytes == 0 {
		return s.Barrier(rank)
	}
	v := mod(rank-root, s.Size)
	parent, children := s.recordTree(v)
	records := func(act Act, peer, top int) { // of the subtree of top
		lo, hi := top+root, min(top+s.recordReach(top), s.Size)+root // wraps around at the last rank
		peer = (peer + root) % s.Size
		b.addNonEmpty(act, peer, cut(min(lo, s.Size)), cut(min(hi, s.Size)))
		b.addNonEmpty(act, peer, cut(max(lo, s.Size)-s.Size), cut(max(hi, s.Size)-s.Size))
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

// recordTree returns the parent and the children of v. The root is 0.
func (s Spec) recordTree(v int) (parent int, children []int) {
	if s.Bytes <= smallBytes {
		return binomial(v, s.Size)
	}
	for child := v + 1; v == 0 && child < s.Size; child++ {
		children = append(children, child)
	}
	return 0, children
}

// recordReach returns the number of positions in the subtree of v.
func (s Spec) recordReach(v int) int {
	if s.Bytes <= smallBytes {
		return reachOf(v, s.Size)
	}
	return 1
}
