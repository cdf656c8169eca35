// SPDX-License-Identifier: Apache-2.0

package schedule

// ring: segment k starts at rank k and is summed from rank to rank, around to
// rank k-1, which has the sum and passes it on around the ring. A byte travels on as
// soon as it is joined (cut-through), as steps wait for each other byte by byte.
//
// A sum has its operands in the order k, k+1, … N-1, 0, 1, …; the operand with the
// lowest rank comes first in each join.
func (s Spec) ring(rank int) *Program {
	b := s.builder(rank)
	b.ringSum(s, rank)
	b.ringSpread(s.Cut, rank+1)
	return b.seal()
}

// ringSum sums all segments: the one that starts at rank start here is the first
// that a rank gives, and after N-1 steps it has the sum of the one after it.
func (b builder) ringSum(s Spec, start int) {
	n, rank := s.Size, b.p.Rank
	next, prev := (rank+1)%n, (rank+n-1)%n
	for t := range n - 1 {
		out, in := mod(start-t, n), mod(start-t-1, n)
		b.some(Give, next, s.Cut(out), s.Cut(out+1))
		act := Below
		if rank == 0 {
			act = Above // what comes has gone around: it holds higher ranks alone
		}
		b.some(act, prev, s.Cut(in), s.Cut(in+1))
	}
}

// ringSpread passes all segments around: this rank has the one of number
// have; segment k is cut(k) … cut(k+1).
func (b builder) ringSpread(cut func(int) int, have int) {
	n, rank := b.p.Size, b.p.Rank
	next, prev := (rank+1)%n, (rank+n-1)%n
	for t := range n - 1 {
		out, in := mod(have-t, n), mod(have-t-1, n)
		b.some(Give, next, cut(out), cut(out+1))
		b.some(Take, prev, cut(in), cut(in+1))
	}
}

// mod is k modulo n, from 0 to n-1.
func mod(k, n int) int { return (k%n + n) % n }
