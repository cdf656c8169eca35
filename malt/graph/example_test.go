// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/malt/graph"
)

func ExampleNew() {
	g, err := graph.New("halton", 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("rank 3 sends to", g.Out(0, 3), "and receives from", g.Senders(3))
	fmt.Println(g.Edges(0), "updates a round")
	// Output:
	// rank 3 sends to [4 5 7] and receives from [1 2 7]
	// 24 updates a round
}

// A graph of one peer a round averages exactly, in few rounds, for any number of ranks.
func ExampleOnePeer() {
	g := graph.OnePeer(3)
	x := []float64{3, 6, 9}
	for round := range g.Period() {
		next := make([]float64, len(x))
		for rank := range x {
			next[rank] = g.Self(round, rank) * x[rank]
			for _, e := range g.In(round, rank) {
				next[rank] += e.Weight * x[e.From]
			}
		}
		x = next
		fmt.Printf("after round %d: %.1f\n", round, x)
	}
	// Output:
	// after round 0: [4.5 4.5 9.0]
	// after round 1: [7.5 4.5 6.0]
	// after round 2: [6.0 6.0 6.0]
}

func ExampleGraph_Gap() {
	for _, name := range []string{"all", "exponential", "ring"} {
		g, _ := graph.New(name, 16)
		gap, _ := g.Gap()
		fmt.Printf("%-12s %3d updates a round, spectral gap %.3f\n", name, g.Edges(0), gap)
	}
	// Output:
	// all          240 updates a round, spectral gap 1.000
	// exponential   64 updates a round, spectral gap 0.400
	// ring          32 updates a round, spectral gap 0.051
}

func ExampleRead() {
	g, err := graph.Read(strings.NewReader("digraph { 0 -> 1 -> 2 -> 0 }"), "ring.dot", 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(g)
	// Output:
	// 0 -> 1
	// 1 -> 2
	// 2 -> 0
}

// The graphs with names, of eight ranks.
func ExampleNames() {
	for _, g := range []*graph.Graph{
		graph.All(8), graph.Halton(8), graph.Ring(8), graph.Tree(8), graph.Star(8), graph.Exponential(8), graph.OnePeer(8),
	} {
		fmt.Printf("%-12s rank 1 sends to %v\n", g.Name(), g.Receivers(1))
	}
	fmt.Println(graph.Names())
	// Output:
	// all          rank 1 sends to [0 2 3 4 5 6 7]
	// halton       rank 1 sends to [2 3 5]
	// ring         rank 1 sends to [0 2]
	// tree         rank 1 sends to [0 3 4]
	// star         rank 1 sends to [0]
	// exponential  rank 1 sends to [2 3 5]
	// one_peer     rank 1 sends to [2 3 5]
	// [all halton ring tree star exponential one_peer]
}

// A ring of five ranks without rank 2 is a ring of the four that remain.
func ExampleGraph_Without() {
	fmt.Print(graph.Ring(5).Without(2))
	// Output:
	// 0 -> 1 3
	// 1 -> 0 2
	// 2 -> 1 3
	// 3 -> 0 2
}

// With uniform weights the root of a tree counts more than its share. Metropolis-Hastings weights keep the mean.
func ExampleGraph_Metropolis() {
	g := graph.Tree(4)
	m, err := g.Metropolis()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("undirected:", g.Undirected())
	fmt.Println("uniform:", g.Uniform(), m.Uniform())
	fmt.Println("keeps the mean:", g.KeepsMean(), m.KeepsMean())
	// Output:
	// undirected: true
	// uniform: true false
	// keeps the mean: false true
}

// In each round of this graph a rank has one receiver. In its union it has the receivers of all rounds.
func ExampleGraph_Union() {
	g := graph.OnePeer(4)
	fmt.Print(g, "all rounds:\n", g.Union())
	// Output:
	// round 0:
	// 0 -> 1
	// 1 -> 2
	// 2 -> 3
	// 3 -> 0
	// round 1:
	// 0 -> 2
	// 1 -> 3
	// 2 -> 0
	// 3 -> 1
	// all rounds:
	// 0 -> 1 2
	// 1 -> 2 3
	// 2 -> 0 3
	// 3 -> 0 1
}

// Updates of rank 2 reach no other rank.
func ExampleGraph_Validate() {
	_, err := graph.Read(strings.NewReader("0 1\n1 0\n1 2"), "edges", 3)
	fmt.Println(err)
	fmt.Println(graph.Halton(6).Validate())
	// Output:
	// edges: graph custom: updates of rank 2 do not reach rank 0: add edges until the graph is strongly connected
	// <nil>
}

// Ranks compare digests instead of graphs. The digest does not depend on the name of a graph.
func ExampleGraph_Digest() {
	g, err := graph.Read(strings.NewReader("graph { 0 -- 1 -- 2 -- 0 }"), "triangle.dot", 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Size(), "ranks, the complete graph:", g.Digest() == graph.All(3).Digest())
	// Output:
	// 3 ranks, the complete graph: true
}

// The picture of a graph has the bytes of a period for each edge.
func ExampleGraph_Picture() {
	fmt.Print(graph.Star(3).Picture(1 << 20).ASCII())
	// Output:
	// 0 <-> 1  1048576 bytes in 1 message each way
	//   0 <-> 2  1048576 bytes in 1 message each way
}
