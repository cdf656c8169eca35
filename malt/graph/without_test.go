// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// TestWithoutAppliesChangesAgain checks that a named graph with other weights, or with the edges of all
// rounds, is the same kind of graph after a loss.
func TestWithoutAppliesChangesAgain(t *testing.T) {
	metropolis := func(g *Graph) *Graph { return mustMetropolis(t, g) }
	for _, c := range []struct {
		name      string
		got, want *Graph
		keeps     bool // the mean
	}{
		{"Metropolis", metropolis(Star(5)).Without(2), metropolis(Star(4)), true},
		{"Union", OnePeer(8).Union().Without(1, 3), OnePeer(6).Union(), false},
		{"Metropolis of Union", metropolis(OnePeer(7).Union()).Without(3), metropolis(OnePeer(6).Union()), true},
		{"twice", metropolis(Ring(6)).Without(0).Without(2), metropolis(Ring(4)), true},
		{"a directed one, which keeps the mean", metropolis(OnePeer(6)).Without(0, 1), OnePeer(4), true},
		{"an undirected one after it", metropolis(OnePeer(6)).Without(0, 1).Without(0), metropolis(OnePeer(3)), true},
		{"no change", Star(5).Without(2), Star(4), false},
		{"Metropolis of a custom graph", metropolis(read(t, 4, "graph { 0 -- 1 -- 2 -- 3 }")).Without(1), metropolis(read(t, 3, "graph { 0 -- 1 -- 2 }")), true},
	} {
		if c.got.Digest() != c.want.Digest() || c.got.Period() != c.want.Period() || c.got.Name() != c.want.Name() {
			t.Errorf("%s: got the graph %s\n%vwant %s\n%v", c.name, c.got.Name(), c.got, c.want.Name(), c.want)
		}
		if c.got.KeepsMean() != c.keeps {
			t.Errorf("%s: keeps the mean: got %v, want %v", c.name, c.got.KeepsMean(), c.keeps)
		}
	}
}

func read(t *testing.T, n int, text string) *Graph {
	t.Helper()
	g, err := Read(strings.NewReader(text), "text", n)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestWithoutKeepsWeights checks the weights of a custom graph after the loss of rank 1.
func TestWithoutKeepsWeights(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       [][]Edge // by remaining rank
	}{
		{"a receiver that has lost no sender", "0 1\n1 2\n2 0 0.125\n", [][]Edge{{{From: 1, Weight: 0.125}}, {{From: 0, Weight: 0.5}}}},
		{"a sender of the lost one", "0 1 0.3\n1 2 0.75\n2 0 0.125\n", [][]Edge{{{From: 1, Weight: 0.125}}, {{From: 0, Weight: 0.75}}}},
		{"several senders, in proportion", "0 1 0.1\n3 1 0.3\n1 2 0.8\n2 0\n0 3\n", [][]Edge{
			{{From: 1, Weight: 0.5}}, {{From: 0, Weight: 0.2}, {From: 2, Weight: 0.6}}, {{From: 0, Weight: 0.5}},
		}},
		{"a sender twice", "0 1\n0 2 0.25\n1 2 0.5\n2 0\n", [][]Edge{{{From: 1, Weight: 0.5}}, {{From: 0, Weight: 0.75}}}},
		{"the receiver is a sender of the lost one", "0 1 0.25\n2 1 0.25\n1 0 0.8\n0 2 0.125\n", [][]Edge{{{From: 1, Weight: 0.4}}, {{From: 0, Weight: 0.125}}}},
		{"uniform weights", "0 2\n1 2\n0 1\n3 1\n2 0\n2 3 0.25\n", [][]Edge{
			{{From: 1, Weight: 0.5}}, {{From: 0, Weight: 1. / 3}, {From: 2, Weight: 1. / 3}}, {{From: 1, Weight: 0.25}},
		}},
	} {
		n := len(c.want) + 1
		g := read(t, n, c.text).Without(1)
		if err := g.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for rank, want := range c.want {
			if d := cmp.Diff(want, g.In(0, rank), cmpopts.EquateApprox(0, 1e-12)); d != "" {
				t.Errorf("%s: edges to rank %d (-want +got):\n%s", c.name, rank, d)
			}
		}
	}
}

// TestWithoutKeepsTheMean checks that a custom graph without uniform weights that keeps the mean still
// does after losses.
func TestWithoutKeepsTheMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.Custom(drawGraph).Filter(func(g *Graph) bool {
			m, err := g.Metropolis()
			return err == nil && m.Period() == 1
		}).Draw(t, "graph")
		m, err := drawn.Metropolis()
		if err != nil {
			t.Fatal(err)
		}
		var arcs []arc
		for to, in := range m.rounds[0].in {
			for _, e := range in {
				arcs = append(arcs, arc{from: e.From, to: to, weight: e.Weight * 0.7})
			}
		}
		g := build("custom", m.size, arcs)
		lost := rapid.SliceOfNDistinct(rapid.IntRange(0, g.Size()-1), 0, g.Size()-1, rapid.ID[int]).Draw(t, "lost")
		left := g.Without(lost...)
		if err := left.Validate(); err != nil || !left.KeepsMean() {
			t.Fatalf("without %v: keeps the mean: %v, valid: %v:\n%v", lost, left.KeepsMean(), err, left)
		}
	})
}
