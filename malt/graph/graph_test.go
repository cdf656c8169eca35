// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestNamedGraphsAreValid(t *testing.T) {
	for _, name := range Names() {
		for n := 1; n <= 130; n++ {
			g, err := New(name, n)
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Validate(); err != nil {
				t.Fatalf("%s of %d ranks: %v", name, n, err)
			}
			if g.Name() != name || g.Size() != n {
				t.Fatalf("%s of %d ranks: got %s of %d", name, n, g.Name(), g.Size())
			}
		}
	}
}

// TestEdgesOfARound compares the number of updates a round with the formulas of MALT.
func TestEdgesOfARound(t *testing.T) {
	for n := 2; n <= 200; n++ {
		log := bits.Len(uint(n - 1))
		both := 2 * n
		if n == 2 {
			both = 2
		}
		for name, want := range map[string]int{
			"all": n * (n - 1), "halton": n * log, "exponential": n * log, "ring": both, "tree": 2 * (n - 1), "star": 2 * (n - 1),
		} {
			g, err := New(name, n)
			if err != nil {
				t.Fatal(err)
			}
			if got := g.Edges(0); got != want {
				t.Errorf("%s of %d ranks: got %d edges, want %d", name, n, got, want)
			}
		}
		one := OnePeer(n)
		for round := range one.Period() {
			got := one.Edges(round)
			if n&(n-1) == 0 && got != n || got > n {
				t.Errorf("one_peer of %d ranks: got %d edges in round %d, want %d or, if that is no power of two, fewer", n, got, round, n)
			}
		}
	}
}

func TestHaltonOffsets(t *testing.T) {
	for n, want := range map[int][]int{2: {1}, 3: {1, 2}, 4: {2, 1}, 6: {3, 1, 4}, 8: {4, 2, 1}, 10: {5, 2, 7, 1}, 16: {8, 4, 12, 1}, 1: nil} {
		if d := cmp.Diff(want, haltonOffsets(n)); d != "" {
			t.Errorf("%d ranks (-want +got):\n%s", n, d)
		}
	}
}

// TestOnePeerAveragesExactly applies a period to random values: all ranks end with the mean.
func TestOnePeerAveragesExactly(t *testing.T) {
	for n := 1; n <= 130; n++ {
		g := OnePeer(n)
		if limit := 2*bits.Len(uint(n)) - 1; g.Period() > limit {
			t.Errorf("%d ranks: got a period of %d rounds, want at most %d", n, g.Period(), limit)
		}
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		x := make([]float64, n)
		mean := 0.0
		for i := range x {
			x[i] = rng.NormFloat64()
			mean += x[i] / float64(n)
		}
		for round := range g.Period() {
			x = average(g, round, x)
			for rank := range n {
				if len(g.Out(round, rank)) > 1 || len(g.In(round, rank)) > 1 {
					t.Fatalf("%d ranks, round %d: rank %d has %d receivers and %d senders, want at most one",
						n, round, rank, len(g.Out(round, rank)), len(g.In(round, rank)))
				}
			}
		}
		for rank, v := range x {
			if math.Abs(v-mean) > 1e-12 {
				t.Fatalf("%d ranks: rank %d has %v after a period, want the mean %v", n, rank, v, mean)
			}
		}
	}
}

// average applies the weights of a round.
func average(g *Graph, round int, x []float64) []float64 {
	y := make([]float64, len(x))
	for rank := range x {
		y[rank] = g.Self(round, rank) * x[rank]
		for _, e := range g.In(round, rank) {
			y[rank] += e.Weight * x[e.From]
		}
	}
	return y
}

func TestInAndOutAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		for round := range g.Period() {
			for rank := range g.Size() {
				own := g.Self(round, rank)
				for _, e := range g.In(round, rank) {
					own += e.Weight
					if !slices.Contains(g.Out(round, e.From), rank) {
						t.Fatalf("round %d: rank %d receives from %d, which does not send to it", round, rank, e.From)
					}
					if !slices.Contains(g.Senders(rank), e.From) || !slices.Contains(g.Receivers(e.From), rank) {
						t.Fatalf("edge %d -> %d is missing in the union of rounds", e.From, rank)
					}
				}
				if math.Abs(own-1) > 1e-9 {
					t.Fatalf("round %d: the weights of rank %d add up to %v, want 1", round, rank, own)
				}
			}
		}
	})
}

// TestWithoutStaysConnected removes ranks one by one, as they are lost.
func TestWithoutStaysConnected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		lost := rapid.SliceOfNDistinct(rapid.IntRange(0, g.Size()-1), 0, g.Size()-1, rapid.ID[int]).Draw(t, "lost")
		left := g.Without(lost...)
		if left.Size() != g.Size()-len(lost) {
			t.Fatalf("got %d ranks, want %d less %d", left.Size(), g.Size(), len(lost))
		}
		if err := left.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestWithoutJoinsNeighboursOfTheLost(t *testing.T) {
	g, err := Read(strings.NewReader("0 1\n1 2\n2 3\n3 0\n"), "ring.txt", 4)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("0 -> 1\n1 -> 2\n2 -> 0\n", g.Without(2).String()); d != "" {
		t.Errorf("rank 2 of a directed ring lost (-want +got):\n%s", d)
	}
	if d := cmp.Diff("0 ->\n", g.Without(0, 1, 3).String()); d != "" {
		t.Errorf("one rank left (-want +got):\n%s", d)
	}
}

// drawGraph draws a named graph, or a strongly connected custom one.
func drawGraph(t *rapid.T) *Graph {
	n := rapid.IntRange(1, 20).Draw(t, "n")
	kind := rapid.SampledFrom(append(Names(), "custom")).Draw(t, "name")
	if kind != "custom" {
		g, err := New(kind, n)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	var arcs []arc
	if n > 1 {
		cycle := rapid.Permutation(seq(n)).Draw(t, "cycle") // makes the graph strongly connected
		for i, from := range cycle {
			arcs = append(arcs, arc{from: from, to: cycle[(i+1)%n]})
		}
	}
	for range rapid.IntRange(0, 3*n).Draw(t, "more") {
		a := arc{from: rapid.IntRange(0, n-1).Draw(t, "from"), to: rapid.IntRange(0, n-1).Draw(t, "to")}
		if a.from != a.to {
			arcs = append(arcs, a)
		}
	}
	if rapid.Bool().Draw(t, "weights") {
		for i := range arcs { // 20 ranks have at most 19 senders
			arcs[i].weight = float64(rapid.IntRange(0, 5).Draw(t, "weight")) / 100
		}
	}
	return build("custom", n, arcs)
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func TestDigestSeparatesGraphs(t *testing.T) {
	seen := map[[32]byte]string{}
	for _, name := range Names() {
		for n := 5; n <= 9; n++ {
			g, err := New(name, n)
			if err != nil {
				t.Fatal(err)
			}
			if again, _ := New(name, n); again.Digest() != g.Digest() {
				t.Errorf("%s of %d ranks: two digests", name, n)
			}
			same := n == 8 && name == "exponential" // Halton's offsets are 4, 2, 1 there
			if other, ok := seen[g.Digest()]; ok && !same {
				t.Errorf("%s of %d ranks has the digest of %s", name, n, other)
			}
			seen[g.Digest()] = name
		}
	}
	if Ring(5).Digest() == mustMetropolis(t, Tree(5)).Digest() {
		t.Error("a ring has the digest of a tree")
	}
	if Tree(5).Digest() == mustMetropolis(t, Tree(5)).Digest() {
		t.Error("other weights, same digest")
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		want string
	}{
		{"all", 0, "graph: 0 ranks: want 1 to 65536"},
		{"all", 65537, "graph: 65537 ranks: want 1 to 65536"},
		{"all", 3000, "graph all: 3000 ranks have 8997000 edges, want at most 4194304: take halton"},
		{"cube", 4, `graph: got "cube", want all, halton, ring, tree, star, exponential, one_peer`},
	} {
		_, err := New(c.name, c.n)
		if err == nil || err.Error() != c.want {
			t.Errorf("New(%q, %d): got %v, want %s", c.name, c.n, err, c.want)
		}
	}
	if err := (&Graph{}).Validate(); err == nil {
		t.Error("the zero graph is valid, want an error")
	}
}

func TestPictureCountsRounds(t *testing.T) {
	p := OnePeer(4).Picture(100)
	if len(p.Links) != 8 {
		t.Fatalf("got %d links, want 8: offsets 1 and 2 of each rank", len(p.Links))
	}
	for _, l := range p.Links {
		if l.Messages != 1 || l.Bytes != 100 {
			t.Errorf("link %d -> %d: got %d messages of %d bytes in all, want 1 of 100", l.From, l.To, l.Messages, l.Bytes)
		}
	}
}
