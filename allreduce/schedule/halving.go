// SPDX-License-Identifier: Apache-2.0

package schedule

import "slices"

// halving: ranks at distance 1, 2, 4, … exchange halves of what they are
// still to sum, until each has a segment of the result; then the same back, with
// growing segments. Near ranks first, so that sums hold neighbours.
//
// Where two ranks share a place each sums half of the vector for the two, and
// takes part with that half alone.
func (s Spec) halving(rank int) *Program {
	b, f := s.builder(rank), foldOf(s.Size)
	place := f.place(rank)
	mid := s.cutIn(0, s.Bytes, 1, 2)
	if f.extra == 0 {
		b.butterfly(s, wing{f, place, 0, s.Bytes, 0})
		return b.seal()
	}
	wings := [2]wing{{f, place, 0, mid, 0}, {f, place, mid, s.Bytes, 1}}
	if !f.paired(place) {
		b.butterfly(s, wings[0], wings[1])
		return b.seal()
	}
	mine, other := wings[rank%2], wings[1-rank%2]
	mate := rank ^ 1
	b.some(Give, mate, other.lo, other.hi)
	b.some(joinFrom(mate, rank), mate, mine.lo, mine.hi)
	b.butterfly(s, mine)
	b.some(Give, mate, mine.lo, mine.hi)
	b.some(Take, mate, other.lo, other.hi)
	return b.seal()
}

// wing is a range of the vector that places halve and double.
type wing struct {
	fold
	place  int
	lo, hi int
	side   int // of a pair: which of the two ranks takes part
}

// butterfly adds the steps of all wings of a rank, level by level.
func (b builder) butterfly(s Spec, wings ...wing) {
	before := make([][]wing, 0, 32) // the wings at each level
	for d := 1; d < wings[0].places; d *= 2 {
		before = append(before, slices.Clone(wings))
		for i, w := range wings {
			keep, give := w.halves(s, d)
			b.some(Give, w.peer(d), give.lo, give.hi)
			b.some(joinFrom(w.peer(d), b.p.Rank), w.peer(d), keep.lo, keep.hi)
			wings[i] = keep
		}
	}
	for level, whole := range slices.Backward(before) {
		for i, w := range whole {
			keep, lacks := w.halves(s, 1<<level)
			b.some(Give, w.peer(1<<level), keep.lo, keep.hi)
			b.some(Take, w.peer(1<<level), lacks.lo, lacks.hi)
			wings[i] = w
		}
	}
}

// peer is the rank that takes part for the place at distance d.
func (w wing) peer(d int) int {
	place := w.place ^ d
	if w.paired(place) {
		return w.first(place) + w.side
	}
	return w.first(place)
}

// halves are what the place goes on with after distance d, and what its partner does.
func (w wing) halves(s Spec, d int) (keep, give wing) {
	keep, give = w, w
	mid := s.cutIn(w.lo, w.hi, 1, 2)
	if w.place&d == 0 {
		keep.hi, give.lo = mid, mid
	} else {
		keep.lo, give.hi = mid, mid
	}
	return keep, give
}
