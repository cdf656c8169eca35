// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"math"
	"slices"
)

// maxGap is the largest number of ranks for which Gap computes eigenvalues: n³ operations.
const maxGap = 1024

// Undirected reports whether each edge of each round has an edge back in the same round.
func (g *Graph) Undirected() bool {
	for i := range g.rounds {
		for from, out := range g.rounds[i].out {
			for _, to := range out {
				if _, ok := slices.BinarySearch(g.rounds[i].out[to], from); !ok {
					return false
				}
			}
		}
	}
	return true
}

// Metropolis returns the graph with Metropolis-Hastings weights: the weight of an
// edge is 1 / (1 + the larger degree of its two ranks). The matrix of the weights is symmetric
// and doubly stochastic, so that averaging keeps the mean of all ranks (Xiao, Boyd, "Fast
// linear iterations for distributed averaging", 2004). The graph must be undirected.
func (g *Graph) Metropolis() (*Graph, error) {
	if !g.Undirected() {
		return nil, fmt.Errorf("graph %s: Metropolis-Hastings weights need an edge back for each edge", g.name)
	}
	var rounds [][]arc
	for i := range g.rounds {
		arcs := []arc{}
		for from, out := range g.rounds[i].out {
			for _, to := range out {
				degree := max(len(out), len(g.rounds[i].out[to]))
				arcs = append(arcs, arc{from, to, 1 / float64(1+degree)})
			}
		}
		rounds = append(rounds, arcs)
	}
	return build(g.name, g.size, rounds...).derive(g, (*Graph).metropolisIfUndirected), nil
}

// metropolisIfUndirected is Metropolis where it is possible, and else the graph itself.
func (g *Graph) metropolisIfUndirected() *Graph {
	if m, err := g.Metropolis(); err == nil {
		return m
	}
	return g
}

// KeepsMean reports whether averaging keeps the mean of all ranks: the weights with
// which each rank's value goes into all next values add up to 1, in each round.
func (g *Graph) KeepsMean() bool {
	for i := range g.rounds {
		for _, w := range g.columnSums(i) {
			if math.Abs(w-1) > 1e-9 {
				return false
			}
		}
	}
	return true
}

func (g *Graph) columnSums(round int) []float64 {
	sums := slices.Clone(g.rounds[round].self)
	for _, in := range g.rounds[round].in {
		for _, e := range in {
			sums[e.From] += e.Weight
		}
	}
	return sums
}

// Gap returns the spectral gap 1 − |λ2|^(1/period): the part of the distance between
// the ranks' values by which a round of averaging shrinks it, in the long run. λ2 is the second largest
// eigenvalue, by modulus, of the product of the mixing matrices of a period.
// The gap is 1 where a period gives all ranks the same value, and 0 where values stay
// apart. Graphs have at most 1,024 ranks here.
func (g *Graph) Gap() (float64, error) {
	switch {
	case g.size > maxGap:
		return 0, fmt.Errorf("graph %s: the spectral gap of %d ranks takes too long: want at most %d", g.name, g.size, maxGap)
	case g.size <= 1:
		return 1, nil
	}
	product := newMatrix(g.size)
	for i := range product {
		product[i][i] = 1
	}
	for i := range g.rounds {
		product = g.matrix(i).times(product)
	}
	second := product.differences().radius()
	if second < 1e-7 { // an exact average, but for rounding
		return 1, nil
	}
	return max(0, 1-math.Pow(second, 1/float64(g.Period()))), nil
}

// matrix returns the mixing matrix of a round: row i has the weights of rank i's next value.
func (g *Graph) matrix(round int) matrix {
	m := newMatrix(g.size)
	for rank, in := range g.rounds[round].in {
		m[rank][rank] = g.rounds[round].self[rank]
		for _, e := range in {
			m[rank][e.From] = e.Weight
		}
	}
	return m
}
