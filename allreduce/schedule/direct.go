// SPDX-License-Identifier: Apache-2.0

package schedule

// direct: everybody gives each rank its segment, the rank sums it and gives
// the sum to everybody. Two hops for any N, but 2(N-1) messages per rank.
//
// The owner joins its neighbours first: rank 2 of 4 makes (0 + (1 + 2)) + 3.
func (s Spec) direct(rank int) *Program {
	b := s.builder(rank)
	b.directSum(s)
	b.directSpread(s.Cut)
	return b.seal()
}

// directSum leaves at each rank the sum of its segment. Ranks begin with their next
// neighbours, so that not all talk to one at the same time.
func (b builder) directSum(s Spec) {
	n, rank := s.Size, b.p.Rank
	for t := 1; t < n; t++ {
		peer := (rank + t) % n
		b.some(Give, peer, s.Cut(peer), s.Cut(peer+1))
	}
	lo, hi := s.Cut(rank), s.Cut(rank+1)
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
