// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"math"
	"slices"
)

// Without returns the graph of the ranks that remain when some are lost. The
// remaining ranks keep their order and are numbered 0 … n-1 again.
//
// A graph with a name is built again for the remaining number. [Graph.Union] and
// [Graph.Metropolis] are applied again, Metropolis where the graph has an edge back for each
// edge: a one_peer graph of 2^k ranks has not, and keeps the mean without it.
//
// In a custom graph each sender of a lost rank gets an edge to each of that rank's receivers, so
// that a strongly connected graph stays so. A receiver with uniform weights has uniform weights
// again. For any other one, the weight of a lost sender is divided among those that sent to it, the
// receiver included, in proportion to their weights: if no weights are uniform, a graph that keeps
// the mean still does. Receivers that have lost no sender keep their weights.
func (g *Graph) Without(lost ...int) *Graph {
	var left []int
	for rank := range g.size {
		if !slices.Contains(lost, rank) {
			left = append(left, rank)
		}
	}
	next := g.named(len(left))
	if next == nil {
		next = g.bypass(left)
	}
	for _, again := range g.derived {
		next = again(next)
	}
	next.derived = g.derived // also what has not changed a graph of this size
	return next
}

// named returns the graph of n ranks with the same name; nil: it has no ranks, or the name is no generator's.
func (g *Graph) named(n int) *Graph {
	for _, named := range generators {
		if named.name == g.name && n > 0 {
			return named.make(n)
		}
	}
	return nil
}

// bypass returns a custom graph, which has one round, with edges past the ranks that are not left.
func (g *Graph) bypass(left []int) *Graph {
	in := make([][]Edge, g.size) // by receiver; changed rows are copies
	if len(g.rounds) > 0 {
		copy(in, g.rounds[0].in)
	}
	position := make([]int, g.size)
	for rank := range position {
		i, ok := slices.BinarySearch(left, rank)
		if position[rank] = i; ok {
			continue
		}
		position[rank] = -1
		through := in[rank]
		in[rank] = nil
		for to, row := range in {
			if i, ok := slices.BinarySearchFunc(row, rank, bySender); ok {
				in[to] = bypassed(row, i, to, through)
			}
		}
	}
	var arcs []arc
	for to, at := range position {
		if at < 0 {
			continue
		}
		uniform := uniformIn(g.rounds[0].in[to])
		for _, e := range in[to] {
			a := arc{from: position[e.From], to: at, weight: e.Weight}
			if uniform {
				a.weight = 0
			}
			arcs = append(arcs, a)
		}
	}
	return build(g.name, len(left), arcs)
}

// bypassed returns the edges in to a rank when its i-th sender is lost, to which the ranks of through sent.
func bypassed(in []Edge, i, to int, through []Edge) []Edge {
	total := 0.0
	for _, e := range through {
		total += e.Weight
	}
	next := slices.Delete(slices.Clone(in), i, i+1)
	for _, e := range through {
		if e.From == to {
			continue // it goes to the receiver's own weight
		}
		weight := max(in[i].Weight*(e.Weight/total), math.SmallestNonzeroFloat64) // 0 stands for a uniform one
		if k, ok := slices.BinarySearchFunc(next, e.From, bySender); ok {
			next[k].Weight = min(next[k].Weight+weight, 1)
		} else {
			next = slices.Insert(next, k, Edge{From: e.From, Weight: min(weight, 1)})
		}
	}
	return next
}

func bySender(e Edge, rank int) int { return cmp.Compare(e.From, rank) }

// uniformIn reports whether edges to a rank have the weights that edges without a weight get.
func uniformIn(in []Edge) bool {
	return !slices.ContainsFunc(in, func(e Edge) bool { return e.Weight != uniformWeight(len(in)) })
}
