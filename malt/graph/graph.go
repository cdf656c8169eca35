// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/allreduce/topo"
)

// MaxSize is the largest number of ranks of a graph.
const MaxSize = 1 << 16

// maxEdges bounds the memory of a graph: 4 million edges, about 100 MB.
const maxEdges = 1 << 22

// Graph is a directed graph over the ranks 0 … Size()-1 which may change from
// round to round with a fixed period. The zero Graph has no ranks.
type Graph struct {
	name    string
	size    int
	rounds  []round
	derived []func(*Graph) *Graph // what has changed the graph of this name since, for Without
}

// round is the graph of one round.
type round struct {
	out  [][]int  // by sender: receivers, ascending
	in   [][]Edge // by receiver: senders, ascending
	self []float64
}

// Edge is an edge as its receiver sees it.
type Edge struct {
	From int
	// Weight is the share of the sender's value in the receiver's next value, from 0 to 1.
	Weight float64
}

// arc is an edge under construction. A weight of 0 stands for a uniform one.
type arc struct {
	from, to int
	weight   float64
}

// build returns the graph with the given arcs per round. Arcs that occur twice count once.
func build(name string, size int, rounds ...[]arc) *Graph {
	g := &Graph{name: name, size: size}
	for _, arcs := range rounds {
		arcs = slices.Clone(arcs)
		slices.SortFunc(arcs, func(a, b arc) int {
			return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from))
		})
		arcs = slices.CompactFunc(arcs, func(a, b arc) bool { return a.from == b.from && a.to == b.to })
		r := round{out: make([][]int, size), in: make([][]Edge, size), self: make([]float64, size)}
		for _, a := range arcs {
			r.out[a.from] = append(r.out[a.from], a.to)
			r.in[a.to] = append(r.in[a.to], Edge{From: a.from, Weight: a.weight})
		}
		for rank := range size {
			slices.Sort(r.out[rank])
			r.weigh(rank)
		}
		g.rounds = append(g.rounds, r)
	}
	return g
}

// weigh replaces weights of 0 by uniform ones and leaves the rest of 1 to the rank itself.
func (r *round) weigh(rank int) {
	own := 1.0
	for i := range r.in[rank] {
		if r.in[rank][i].Weight == 0 {
			r.in[rank][i].Weight = uniformWeight(len(r.in[rank]))
		}
		own -= r.in[rank][i].Weight
	}
	r.self[rank] = own
}

// uniformWeight returns the weight of each of so many senders that equals the receiver's own one.
func uniformWeight(senders int) float64 { return 1 / float64(senders+1) }

// derive notes by which function this graph was made from another one.
func (g *Graph) derive(from *Graph, by func(*Graph) *Graph) *Graph {
	g.derived = append(slices.Clone(from.derived), by)
	return g
}

// Name returns the name that [New] takes, or "custom".
func (g *Graph) Name() string { return g.name }

// Size returns the number of ranks.
func (g *Graph) Size() int { return g.size }

// Period returns the number of rounds after which the graph repeats: 1 if it never changes.
func (g *Graph) Period() int { return len(g.rounds) }

// at returns the graph of a round; rounds count from 0.
func (g *Graph) at(n int) *round { return &g.rounds[n%len(g.rounds)] }

// Out returns the ranks to which rank sends in a round, ascending. The caller
// must not change the slice.
func (g *Graph) Out(round, rank int) []int { return g.at(round).out[rank] }

// In returns the edges over which rank receives in a round, ascending by
// sender. The caller must not change the slice.
func (g *Graph) In(round, rank int) []Edge { return g.at(round).in[rank] }

// Self returns the share of a rank's own value in its next value, after a round.
func (g *Graph) Self(round, rank int) float64 { return g.at(round).self[rank] }

// Senders returns the ranks that send to rank in any round, ascending.
func (g *Graph) Senders(rank int) []int {
	var from []int
	for i := range g.rounds {
		for _, e := range g.rounds[i].in[rank] {
			from = append(from, e.From)
		}
	}
	slices.Sort(from)
	return slices.Compact(from)
}

// Receivers returns the ranks to which rank sends in any round, ascending.
func (g *Graph) Receivers(rank int) []int {
	var to []int
	for i := range g.rounds {
		to = append(to, g.rounds[i].out[rank]...)
	}
	slices.Sort(to)
	return slices.Compact(to)
}

// Edges returns the number of edges of a round: the updates that all ranks send in it.
func (g *Graph) Edges(round int) int {
	n := 0
	for _, out := range g.at(round).out {
		n += len(out)
	}
	return n
}

// Union returns the graph that has the edges of all rounds in each round, with uniform weights.
// A graph of one round is its own union.
func (g *Graph) Union() *Graph {
	if g.Period() <= 1 {
		return g
	}
	var all []arc
	for rank := range g.size {
		for _, to := range g.Receivers(rank) {
			all = append(all, arc{from: rank, to: to})
		}
	}
	return build(g.name, g.size, all).derive(g, (*Graph).Union)
}

// Validate reports all faults: edges that leave the graph or lead from a rank to
// itself, weights that are no shares, and ranks that updates do not reach.
// The edges of all rounds together must be strongly connected.
func (g *Graph) Validate() error {
	if g.size < 1 || len(g.rounds) == 0 {
		return errors.New("graph: no ranks")
	}
	var faults []error
	for i := range g.rounds {
		for rank := range g.size {
			for _, e := range g.rounds[i].in[rank] {
				switch {
				case e.From < 0 || e.From >= g.size:
					faults = append(faults, fmt.Errorf("graph %s: edge %d -> %d: ranks are 0 to %d", g.name, e.From, rank, g.size-1))
				case e.From == rank:
					faults = append(faults, fmt.Errorf("graph %s: edge %d -> %d: a rank does not send to itself", g.name, rank, rank))
				case !(e.Weight > 0 && e.Weight <= 1):
					faults = append(faults, fmt.Errorf("graph %s: edge %d -> %d: weight %v, want more than 0 and at most 1", g.name, e.From, rank, e.Weight))
				}
			}
			if own := g.rounds[i].self[rank]; own < -1e-9 {
				faults = append(faults, fmt.Errorf("graph %s: the weights of the senders of rank %d add up to %v, want at most 1", g.name, rank, 1-own))
			}
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	forward := g.reach(g.Receivers)
	backward := g.reach(g.Senders)
	for rank := range g.size {
		if !forward[rank] {
			faults = append(faults, fmt.Errorf("graph %s: updates of rank 0 do not reach rank %d: add edges until the graph is strongly connected", g.name, rank))
		}
		if !backward[rank] {
			faults = append(faults, fmt.Errorf("graph %s: updates of rank %d do not reach rank 0: add edges until the graph is strongly connected", g.name, rank))
		}
	}
	return errors.Join(faults...)
}

// reach returns the ranks that can be reached from rank 0.
func (g *Graph) reach(next func(int) []int) []bool {
	seen := make([]bool, g.size)
	seen[0] = true
	for stack := []int{0}; len(stack) > 0; {
		rank := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, to := range next(rank) {
			if !seen[to] {
				seen[to] = true
				stack = append(stack, to)
			}
		}
	}
	return seen
}

// Digest identifies the graph: two graphs have the same digest exactly if they
// have the same ranks, rounds, edges and weights. The name does not count.
func (g *Graph) Digest() [sha256.Size]byte {
	h := sha256.New()
	word := func(v uint64) { _ = binary.Write(h, binary.LittleEndian, v) }
	word(uint64(g.size))
	word(uint64(len(g.rounds)))
	for i := range g.rounds {
		for rank := range g.size {
			in := g.rounds[i].in[rank]
			word(uint64(len(in)))
			for _, e := range in {
				word(uint64(e.From))
				word(math.Float64bits(e.Weight))
			}
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Picture returns the edges of all rounds of a period, each with the given bytes an update, for drawing.
func (g *Graph) Picture(bytes int) topo.Graph {
	p := topo.Graph{Size: g.size}
	for rank := range g.size {
		for _, to := range g.Receivers(rank) {
			l := topo.Link{From: rank, To: to}
			for i := range g.rounds {
				if _, ok := slices.BinarySearch(g.rounds[i].out[rank], to); ok {
					l.Messages++
					l.Bytes += bytes
				}
			}
			p.Links = append(p.Links, l)
		}
	}
	return p
}

// String lists the receivers of each rank, one line per rank and round.
func (g *Graph) String() string {
	var b strings.Builder
	for i := range g.rounds {
		if g.Period() > 1 {
			fmt.Fprintf(&b, "round %d:\n", i)
		}
		for rank, out := range g.rounds[i].out {
			fmt.Fprintf(&b, "%d ->", rank)
			for _, to := range out {
				fmt.Fprintf(&b, " %d", to)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
