// SPDX-License-Identifier: Apache-2.0

package schedule

// ring returns the program of the ring. Segment k starts at rank k and is summed from rank
// to rank, around to rank k-1, which passes the sum on around the ring. A byte is
// forwarded as soon as it is joined (cut-through), because steps wait for each other
// byte by byte.
//
// A sum has its operands in the order k, k+1, … N-1, 0, 1, …. In each join the operand
// with the lowest rank comes first.
func (s Spec) ring(rank int) *Program {
	b := s.builder(rank)
	b.ringSum(s, rank)
	b.ringSpread(s.Cut, rank+1)
	return b.seal()
}

// ringSum sums all segments. A rank first sends segment start. After N-1 steps it has the
// sum of segment start+1.
func (b builder) ringSum(s Spec, start int) {
	n, rank := s.Size, b.p.Rank
	next, prev := (rank+1)%n, (rank+n-1)%n
	for t := range n - 1 {
		out, in := mod(start-t, n), mod(start-t-1, n)
		b.addNonEmpty(Give, next, s.Cut(out), s.Cut(out+1))
		act := Below
		if rank == 0 {
			act = Above // the operand has wrapped around: it has only higher ranks
		}
		b.addNonEmpty(act, prev, s.Cut(in), s.Cut(in+1))
	}
}

// ringSpread passes all segments around. This rank starts with segment have;
// segment k is cut(k) … cut(k+1).
func (b builder) ringSpread(cut func(int) int, have int) {
	n, rank := b.p.Size, b.p.Rank
	next, prev := (rank+1)%n, (rank+n-1)%n
	for t := range n - 1 {
		out, in := mod(have-t, n), mod(have-t-1, n)
		b.addNonEmpty(Give, next, cut(out), cut(out+1))
		b.addNonEmpty(Take, prev, cut(in), cut(in+1))
	}
}

// mod returns k modulo n, from 0 to n-1.
func mod(k, n int) int { return (k%n + n) % n }
