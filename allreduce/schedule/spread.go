// SPDX-License-Identifier: Apache-2.0

package schedule

import "math/bits"

// Broadcast returns rank's program of a broadcast, which copies root's vector to all. It
// works in place: root's result is its contribution.
//
// Small vectors go down a binomial tree. Large ones go through all ranks in a chain
// or, where the chain is long, down a binary tree.
func (s Spec) Broadcast(root, rank int) *Program {
	s = s.withDefaults()
	b := s.builder(rank)
	b.inPlace = true
	v := mod(rank-root, s.Size) // root is 0
	at := func(v int) int { return (v + root) % s.Size }
	parent, children := 0, []int(nil)
	switch {
	case s.Bytes == 0:
		return s.Barrier(rank)
	case s.Bytes <= smallBytes:
		parent, children = binomial(v, s.Size)
	case s.prefersChain():
		parent, children = v-1, []int{v + 1}
	default:
		parent, children = (v-1)/2, []int{2*v + 1, 2*v + 2}
	}
	if v > 0 {
		b.add(Take, at(parent), 0, s.Bytes)
	}
	for _, child := range children {
		if child < s.Size {
			b.add(Give, at(child), 0, s.Bytes)
		}
	}
	return b.seal()
}

// binomial returns the parent and the children of v in the binomial tree of n ranks. The
// subtree of v ends before v plus its lowest set bit. The children with the largest
// subtrees come first.
func binomial(v, n int) (parent int, children []int) {
	reach := reachOf(v, n)
	for d := reach / 2; d > 0; d /= 2 {
		if v+d < n {
			children = append(children, v+d)
		}
	}
	return v - v&-v, children
}

// reachOf returns the number of positions in the subtree of v, itself included, not limited by n.
func reachOf(v, n int) int {
	if v == 0 {
		return 1 << bits.Len(uint(n-1))
	}
	return v & -v
}

// SendRecv returns rank's program that sends out bytes to one rank and receives in
// bytes from another. None for either omits it. The contribution is sent and the
// result is received: two separate buffers, both from offset 0.
func SendRecv(size, rank, to, out, from, in int) *Program {
	b := newBuilder(size, rank, max(out, in))
	if to != None {
		b.add(Give, to, 0, out)
		b.p.Steps[0].Own = true
	}
	if from != None {
		b.add(Take, from, 0, in)
	}
	b.byPeer() // without order: the two steps are independent
	return b.p
}
