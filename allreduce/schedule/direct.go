// SPDX-License-Identifier: Apache-2.0

package schedule

// directSegment is the least that is worth an owner in a direct exchange. A shorter
// vector has one: all give theirs to rank 0, which takes 2(N-1) messages, as few as a
// tree, in two hops.
const directSegment = 128 << 10

// directCut is where the segment of the k-th owner begins; ranks that own nothing
// come last.
func (s Spec) directCut(k int) int {
	if owners := s.directOwners(); k < owners {
		return s.cutIn(0, s.Bytes, k, owners)
	}
	return s.Bytes
}

func (s Spec) directOwners() int { return min(s.Size, max(1, s.Bytes/directSegment)) }

// direct: everybody gives each owner its segment, the owner sums it and gives
// the sum to everybody. Two hops for any N, but up to 2(N-1) messages per rank.
//
// The owner joins its neighbours first: rank 2 of 4 makes (0 + (1 + 2)) + 3.
func (s Spec) direct(rank int) *Program {
	b := s.builder(rank)
	b.directSum(s.Size, s.directCut)
	b.directSpread(s.directCut)
	return b.seal()
}

// directSum leaves at each rank the sum of its segment, cut(rank) … cut(rank+1). Ranks
// begin with their next neighbours, so that not all talk to one at the same time.
func (b builder) directSum(n int, cut func(int) int) {
	rank := b.p.Rank
	for t := 1; t < n; t++ {
		peer := (rank + t) % n
		b.some(Give, peer, cut(peer), cut(peer+1))
	}
	lo, hi := cut(rank), cut(rank+1)
	for peer := rank - 1; peer >= 0; peer-- {
		b.some(Below, peer, lo, hi)
	}
	for peer := rank + 1; peer < n; peer++ {
		b.some(Above, peer, lo, hi)
	}
}

// directSpread brings each rank's segment to all; segment k is cut(k) … cut(k+1).
func (b builder) directSpread(cut func(int) int) {
	n, rank := b.p.Size, b.p.Rank
	for t := 1; t < n; t++ {
		b.some(Give, (rank+t)%n, cut(rank), cut(rank+1))
	}
	for t := 1; t < n; t++ {
		peer := (rank + n - t) % n
		b.some(Take, peer, cut(peer), cut(peer+1))
	}
}
