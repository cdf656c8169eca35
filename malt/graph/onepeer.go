// SPDX-License-Identifier: Apache-2.0

package graph

import "math/bits"

// OnePeer returns a graph that changes every round, in which a rank sends to at
// most one other rank and receives from at most one. After a period the weighted averages
// of all ranks equal the mean of their first values.
//
// If n is a power of two, rank i sends to i + 2^(round mod log2 n): n edges a
// round, log2 n rounds, weights 1/2. Otherwise the ranks form groups whose sizes are the
// powers of two in n, largest first, and the ranks of a pair exchange their values:
//
//  1. Each group averages its values: in round r partners differ in bit r.
//  2. Each rank of the groups after the first exchanges with a rank of the first group
//     of its own. The weight of the partner's value is the first group's share of
//     all ranks. Now the mean of the first group and the mean of the rest both equal the mean
//     of all ranks.
//  3. The first group averages again. The rest has equal values within each group, and
//     continues with step 2 at the same time.
//
// The period is at most 2⌊log2 n⌋ + 1 rounds.
func OnePeer(n int) *Graph {
	if n&(n-1) == 0 {
		return onePeerPower(n)
	}
	var rounds [][]arc
	pair := func(round, a, b int, weight float64) {
		for len(rounds) <= round {
			rounds = append(rounds, nil)
		}
		rounds[round] = append(rounds[round], arc{a, b, weight}, arc{b, a, weight})
	}
	// hypercube averages the ranks first … first+size-1, from a round on.
	hypercube := func(round, first, size int) {
		for bit := 1; bit < size; bit *= 2 {
			for i := range size {
				if i&bit == 0 {
					pair(round, first+i, first+i+bit, 0.5)
				}
			}
			round++
		}
	}
	for first, rest := 0, n; rest > 0; {
		size := largestPower(rest)
		hypercube(0, first, size)
		first, rest = first+size, rest-size
	}
	round := bits.Len(uint(n)) - 1 // the first group has averaged its values
	for first, left := 0, n; ; round++ {
		size := largestPower(left)
		rest := left - size
		if rest == 0 {
			break
		}
		for i := range rest {
			pair(round, first+i, first+size+i, float64(size)/float64(left))
		}
		hypercube(round+1, first, size)
		first, left = first+size, rest
	}
	return build("one_peer", n, rounds...)
}

func largestPower(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// onePeerPower is OnePeer for a power of two.
func onePeerPower(n int) *Graph {
	rounds := [][]arc{nil} // one rank alone: a round without edges
	for i, o := 0, 1; o < n; i, o = i+1, o*2 {
		var arcs []arc
		for rank := range n {
			arcs = append(arcs, arc{from: rank, to: (rank + o) % n})
		}
		if i == 0 {
			rounds = nil
		}
		rounds = append(rounds, arcs)
	}
	return build("one_peer", n, rounds...)
}
