// SPDX-License-Identifier: Apache-2.0

package schedule

import "slices"

// halving returns the program of recursive halving and doubling. Ranks at distance 1, 2, 4, …
// exchange halves of their current range, until each has one segment of the result.
// Then the exchanges run in reverse, with growing segments. The nearest ranks come first,
// so that each sum has adjacent ranks.
//
// Two ranks that share a place each sum half of the vector for both of them, and
// take part with only that half.
func (s Spec) halving(rank int) *Program {
	b, f := s.builder(rank), foldOf(s.Size)
	place := f.place(rank)
	mid := s.cutIn(0, s.Bytes, 1, 2)
	if f.extra == 0 {
		b.butterfly(s, block{f, place, 0, s.Bytes, 0})
		return b.seal()
	}
	blocks := [2]block{{f, place, 0, mid, 0}, {f, place, mid, s.Bytes, 1}}
	if !f.paired(place) {
		b.butterfly(s, blocks[0], blocks[1])
		return b.seal()
	}
	mine, other := blocks[rank%2], blocks[1-rank%2]
	partner := rank ^ 1
	b.addNonEmpty(Give, partner, other.lo, other.hi)
	b.addNonEmpty(joinFrom(partner, rank), partner, mine.lo, mine.hi)
	b.butterfly(s, mine)
	b.addNonEmpty(Give, partner, mine.lo, mine.hi)
	b.addNonEmpty(Take, partner, other.lo, other.hi)
	return b.seal()
}

// block is a range of the vector that the places halve and double.
type block struct {
	fold
	place  int
	lo, hi int
	side   int // which of the two ranks of a pair takes part: 0 or 1
}

// butterfly adds the steps of all blocks of a rank, level by level.
func (b builder) butterfly(s Spec, blocks ...block) {
	before := make([][]block, 0, 32) // the wings at each level
	for d := 1; d < blocks[0].places; d *= 2 {
		before = append(before, slices.Clone(blocks))
		for i, w := range blocks {
			keep, give := w.halves(s, d)
			b.addNonEmpty(Give, w.peer(d), give.lo, give.hi)
			b.addNonEmpty(joinFrom(w.peer(d), b.p.Rank), w.peer(d), keep.lo, keep.hi)
			blocks[i] = keep
		}
	}
	for level, whole := range slices.Backward(before) {
		for i, w := range whole {
			keep, missing := w.halves(s, 1<<level)
			b.addNonEmpty(Give, w.peer(1<<level), keep.lo, keep.hi)
			b.addNonEmpty(Take, w.peer(1<<level), missing.lo, missing.hi)
			blocks[i] = w
		}
	}
}

// peer returns the rank that takes part for the place at distance d.
func (w block) peer(d int) int {
	place := w.place ^ d
	if w.paired(place) {
		return w.first(place) + w.side
	}
	return w.first(place)
}

// halves returns the half that the place keeps after distance d, and the one that its partner keeps.
func (w block) halves(s Spec, d int) (keep, give block) {
	keep, give = w, w
	mid := s.cutIn(w.lo, w.hi, 1, 2)
	if w.place&d == 0 {
		keep.hi, give.lo = mid, mid
	} else {
		keep.lo, give.hi = mid, mid
	}
	return keep, give
}
