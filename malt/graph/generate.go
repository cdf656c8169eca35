// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// generators are the graphs that have a name, in the order of help texts.
var generators = []struct {
	name string
	make func(n int) *Graph
}{
	{"all", All},
	{"halton", Halton},
	{"ring", Ring},
	{"tree", Tree},
	{"star", Star},
	{"exponential", Exponential},
	{"one_peer", OnePeer},
}

// Names returns the names that [New] takes.
func Names() []string {
	var names []string
	for _, g := range generators {
		names = append(names, g.name)
	}
	return names
}

// New returns the graph of n ranks with a name of [Names].
func New(name string, n int) (*Graph, error) {
	if n < 1 || n > MaxSize {
		return nil, fmt.Errorf("graph: %d ranks: want 1 to %d", n, MaxSize)
	}
	if name == "all" && n*(n-1) > maxEdges {
		return nil, fmt.Errorf("graph all: %d ranks have %d edges, want at most %d: take halton", n, n*(n-1), maxEdges)
	}
	for _, g := range generators {
		if g.name == name {
			return g.make(n), nil
		}
	}
	return nil, fmt.Errorf("graph: got %q, want %s", name, strings.Join(Names(), ", "))
}

// All returns the complete graph: each rank sends to all others.
func All(n int) *Graph {
	var arcs []arc
	for from := range n {
		for to := range n {
			if from != to {
				arcs = append(arcs, arc{from: from, to: to})
			}
		}
	}
	return build("all", n, arcs)
}

// Halton returns MALT's graph of n ranks: rank i sends to i + ⌊n·h⌋ (mod n) for the
// first ⌈log2 n⌉ terms h of Halton's sequence with base 2: 1/2, 1/4, 3/4, 1/8, …
//
// Terms that repeat an offset or give offset 0 are left out, and the last term
// is the first one with which the graph is strongly connected: for n = 8 the offsets
// are 4, 2, 1, because 4, 2, 6 never lead from even to odd ranks.
func Halton(n int) *Graph { return circulant("halton", n, haltonOffsets(n)) }

func haltonOffsets(n int) []int {
	degree := bits.Len(uint(n - 1)) // ⌈log2 n⌉
	var offsets []int
	common := n // the greatest common divisor of n and the offsets
	for i := uint(1); len(offsets) < degree; i++ {
		// Term i of the sequence mirrors the bits of i behind the binary point.
		digits := bits.Len(i)
		mirrored := bits.Reverse64(uint64(i)) >> (64 - digits)
		offset := int(uint64(n) * mirrored >> digits)
		if offset == 0 || slices.Contains(offsets, offset) {
			continue
		}
		if len(offsets) == degree-1 && gcd(common, offset) != 1 {
			continue
		}
		offsets = append(offsets, offset)
		common = gcd(common, offset)
	}
	return offsets
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Exponential returns the graph in which rank i sends to i + 2^k (mod n) for all 2^k < n.
func Exponential(n int) *Graph {
	var offsets []int
	for o := 1; o < n; o *= 2 {
		offsets = append(offsets, o)
	}
	return circulant("exponential", n, offsets)
}

// circulant returns the graph in which each rank sends to the ranks at the same offsets.
func circulant(name string, n int, offsets []int) *Graph {
	var arcs []arc
	for rank := range n {
		for _, o := range offsets {
			arcs = append(arcs, arc{from: rank, to: (rank + o) % n})
		}
	}
	return build(name, n, arcs)
}

// Ring returns the graph in which each rank sends to the ranks before and after it.
func Ring(n int) *Graph {
	var arcs []arc
	for rank := range n {
		if next := (rank + 1) % n; next != rank {
			arcs = append(arcs, arc{from: rank, to: next}, arc{from: next, to: rank})
		}
	}
	return build("ring", n, arcs)
}

// Tree returns a binary tree with root 0, whose edges lead both ways: rank i
// exchanges updates with its parent ⌊(i−1)/2⌋ and its children 2i+1 and 2i+2.
func Tree(n int) *Graph {
	var arcs []arc
	for rank := 1; rank < n; rank++ {
		parent := (rank - 1) / 2
		arcs = append(arcs, arc{from: rank, to: parent}, arc{from: parent, to: rank})
	}
	return build("tree", n, arcs)
}

// Star returns the graph of a parameter server: all ranks send to rank 0, and
// rank 0 sends to all. A rank other than 0 takes the value of rank 0 as it is:
// the weight of that edge is 1.
func Star(n int) *Graph {
	var arcs []arc
	for rank := 1; rank < n; rank++ {
		arcs = append(arcs, arc{from: rank, to: 0}, arc{from: 0, to: rank, weight: 1})
	}
	return build("star", n, arcs)
}
