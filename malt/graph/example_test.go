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
