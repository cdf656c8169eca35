// SPDX-License-Identifier: Apache-2.0

package schedule

// directSegment is the least number of bytes per owner in a direct exchange. A shorter
// vector has a single owner, rank 0: it handles 2(N-1) messages, as many as a tree has,
// in two hops.
const directSegment = 128 << 10

// directCut returns the offset of the k-th owner's segment. Ranks that own nothing come last.
func (s Spec) directCut(k int) int {
	if owners := s.directOwners(); k < owners {
		return s.cutIn(0, s.Bytes, k, owners)
	}
	return s.Bytes
}

// directOwners returns the number of ranks that sum a segment.
func (s Spec) directOwners() int { return min(s.Size, max(1, s.Bytes/directSegment)) }

// direct returns the program of a direct exchange. Each rank sends each owner its
// segment; the owner sums it and sends the sum to all. That takes two hops for any N, but
// up to 2(N-1) messages per rank.
//
// The owner joins with its neighbours first: rank 2 of 4 computes (0 + (1 + 2)) + 3.
func (s Spec) direct(rank int) *Program {
	b := s.builder(rank)
	b.directSum(s.Size, s.directCut)
	b.directSpread(s.directCut)
	return b.seal()
}

// directSum leaves at each rank the sum of its segment, cut(rank) … cut(rank+1). Each rank
// begins with its next neighbour, so that the ranks do not all send to the same one at once.
func (b builder) directSum(n int, cut func(int) int) {
	rank := b.p.Rank
	for t := 1; t < n; t++ {
		peer := (rank + t) % n
		b.addNonEmpty(Give, peer, cut(peer), cut(peer+1))
	}
	lo, hi := cut(rank), cut(rank+1)
	for peer := rank - 1; peer >= 0; peer-- {
		b.addNonEmpty(Below, peer, lo, hi)
	}
	for peer := rank + 1; peer < n; peer++ {
		b.addNonEmpty(Above, peer, lo, hi)
	}
}

// directSpread sends each rank's segment to all; segment k is cut(k) … cut(k+1).
func (b builder) directSpread(cut func(int) int) {
	n, rank := b.p.Size, b.p.Rank
	for t := 1; t < n; t++ {
		b.addNonEmpty(Give, (rank+t)%n, cut(rank), cut(rank+1))
	}
	for t := 1; t < n; t++ {
		peer := (rank + n - t) % n
		b.addNonEmpty(Take, peer, cut(peer), cut(peer+1))
	}
}
