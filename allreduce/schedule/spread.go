// SPDX-License-Identifier: Apache-2.0

package schedule

import "math/bits"

// Broadcast is rank's program to bring root's vector to all. It works in place: root's
// result is its contribution.
//
// Small vectors go down a binomial tree; large ones through all ranks in a row,
// or, where the row is long, down a binary tree.
func (s Spec) Broadcast(root, rank int) *Program {
	s = s.checked()
	b := s.builder(rank)
	b.inPlace = true
	v := mod(rank-root, s.Size) // root is 0
	at := func(v int) int { return (v + root) % s.Size }
	parent, children := 0, []int(nil)
	switch {
	case s.Bytes == 0:
		return s.Barrier(rank)
	case s.Bytes <= small:
		parent, children = binomial(v, s.Size)
	case s.chains():
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

// binomial is the place of v in the binomial tree of n: the ranks below v are v …
// v + its lowest bit. Children with most below them come first.
func binomial(v, n int) (parent int, children []int) {
	reach := reachOf(v, n)
	for d := reach / 2; d > 0; d /= 2 {
		if v+d < n {
			children = append(children, v+d)
		}
	}
	return v - v&-v, children
}

// reachOf is how many places below v there are, itself included, if n allows.
func reachOf(v, n int) int {
	if v == 0 {
		return 1 << bits.Len(uint(n-1))
	}
	return v & -v
}

// SendRecv is rank's program to give out bytes to one rank and take in bytes
// from another; None for either leaves it out. What is given is the contribution, what
// comes is the result: two ranges of memory, both from 0.
func SendRecv(size, rank, to, out, from, in int) *Program {
	b := newBuilder(size, rank, max(out, in))
	if to != None {
		b.add(Give, to, 0, out)
		b.p.Steps[0].Own = true
	}
	if from != None {
		b.add(Take, from, 0, in)
	}
	b.byPeer() // without order: the two have nothing to do with each other
	return b.p
}
