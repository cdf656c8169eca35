// SPDX-License-Identifier: Apache-2.0

package graph

import "slices"

// Without returns the graph of the ranks that remain when some are lost. The
// remaining ranks keep their order and are numbered 0 … n-1 again.
//
// A graph with a name is built again for the remaining number. In a custom graph each
// sender of a lost rank gets an edge to each of that rank's receivers, so that a
// strongly connected graph stays so.
func (g *Graph) Without(lost ...int) *Graph {
	var left []int
	for rank := range g.size {
		if !slices.Contains(lost, rank) {
			left = append(left, rank)
		}
	}
	for _, named := range generators {
		if named.name == g.name && len(left) > 0 {
			return named.make(len(left))
		}
	}
	next := make([]map[int]bool, g.size)
	for rank := range g.size {
		next[rank] = map[int]bool{}
		for _, to := range g.Receivers(rank) {
			next[rank][to] = true
		}
	}
	for _, gone := range lost {
		if gone < 0 || gone >= g.size {
			continue
		}
		for from := range g.size {
			if !next[from][gone] {
				continue
			}
			delete(next[from], gone)
			for to := range next[gone] {
				if to != from {
					next[from][to] = true
				}
			}
		}
		next[gone] = map[int]bool{}
	}
	var arcs []arc
	for i, from := range left {
		for j, to := range left {
			if next[from][to] {
				arcs = append(arcs, arc{from: i, to: j})
			}
		}
	}
	return build(g.name, len(left), arcs)
}
