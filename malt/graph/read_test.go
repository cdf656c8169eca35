// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadFormats(t *testing.T) {
	want := "0 -> 1 2\n1 -> 0\n2 -> 0\n"
	for name, text := range map[string]string{
		"list":          "# a star\n0 1\n0 2\n\n1 0\n2 0\n",
		"digraph":       "digraph { 0 -> 1; 0 -> 2; 1 -> 0; 2 -> 0 }",
		"chain":         "digraph star {\n  node [shape=circle];\n  1 -> 0 -> 1;\n  2 -> 0 -> 2\n}",
		"undirected":    "// Graphviz\nstrict graph { \"0\" -- \"1\"; \"0\" -- \"2\" }",
		"picture of us": Star(3).Picture(8).DOT(),
		"no blank":      "digraph{0->1 0->2 1->0 2->0}",
		"a name":        "strict\ndigraph\"star\"{0->1 0->2 1->0 2->0}",
		"a comment":     "/* all ranks,\nand rank 0 */ DiGraph/**/{ 0 -> 1; 0 -> 2; 1 -> 0; 2 -> 0 }",
		"a long line":   "digraph { 0 -> 1 [comment=\"" + strings.Repeat("c", 1<<16) + "\"]; 0 -> 2; 1 -> 0; 2 -> 0 }",
	} {
		g, err := Read(strings.NewReader(text), name, 3)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(want, g.String()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestReadWeights(t *testing.T) {
	for name, text := range map[string]string{
		"list":       "0 1 0.25\n1 0\n",
		"DOT":        `digraph { 0 -> 1 [weight=0.25, color=red]; 1 -> 0 }`,
		"quoted DOT": `digraph { "0" -> "1" ["weight"="0.25", "color"="red"]; 1 -> 0 }`,
	} {
		g, err := Read(strings.NewReader(text), name, 2)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]Edge{{From: 0, Weight: 0.25}}, g.In(0, 1)); d != "" {
			t.Errorf("%s: edges to rank 1 (-want +got):\n%s", name, d)
		}
		if g.Self(0, 1) != 0.75 || g.Self(0, 0) != 0.5 {
			t.Errorf("%s: got own weights %v and %v, want 0.5 and 0.75", name, g.Self(0, 0), g.Self(0, 1))
		}
	}
}

func TestReadReportsAllFaults(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"list", "0 1\n0 1\n1 1\n0 3\nx 0\n0 1 2\n1\n", []string{
			"graph: list: line 2: edge 0 -> 1 occurs twice",
			"graph: list: line 3: edge 1 -> 1: a rank does not send to itself",
			`graph: list: line 4: got rank "3", want 0 to 2`,
			`graph: list: line 5: got rank "x", want 0 to 2`,
			`graph: list: line 6: got weight "2", want more than 0 and at most 1`,
			"graph: list: line 7: got 1 words, want FROM TO or FROM TO WEIGHT",
		}},
		{"DOT", "digraph { 0 -> { 1 2 }; a -> 0 }", []string{
			"graph: DOT: DOT: subgraphs as ends of edges are not supported: list the edges",
			`graph: DOT: edge a, 0: got rank "a", want 0 to 2`,
		}},
		{"subgraph", "digraph { 0 -> 1; subgraph one { 1 -> 2; subgraph { 2 -> 0 } } subgraph { 0 1 } { 2 -> 1 } }", []string{
			"graph: subgraph: DOT: edges in the subgraph one are not supported: list them outside of it",
			"graph: subgraph: DOT: edges in a subgraph are not supported: list them outside of it",
		}},
		{"nested", "digraph { 0 -> 1 -> 2 -> 0; subgraph { subgraph { 2 -> 1 } } }", []string{
			"graph: nested: DOT: edges in a subgraph are not supported: list them outside of it",
		}},
		{"defaults", "digraph { edge [color=red]; edge [weight=0.2]; node [weight=3]; 0 -> 1 -> 2 -> 0 }", []string{
			"graph: defaults: DOT: a default weight of edges is not supported: give each edge its attribute weight",
		}},
		{"quoted", `digraph { edge ["weight"=0.2]; 0 -> 1 -> 2 -> 0 }`, []string{
			"graph: quoted: DOT: a default weight of edges is not supported: give each edge its attribute weight",
		}},
		{"two", "digraph { 0 -> 1 } digraph { 1 -> 0 }", []string{"graph: two: DOT: got 2 graphs, want one"}},
		{"apart", "0 1\n1 0\n", []string{
			"apart: graph custom: updates of rank 0 do not reach rank 2: add edges until the graph is strongly connected",
			"graph custom: updates of rank 2 do not reach rank 0: add edges until the graph is strongly connected",
		}},
		{"one way", "0 1\n1 2\n", []string{
			"one way: graph custom: updates of rank 1 do not reach rank 0: add edges until the graph is strongly connected",
			"graph custom: updates of rank 2 do not reach rank 0: add edges until the graph is strongly connected",
		}},
		{"heavy", "0 1 0.7\n2 1 0.7\n1 0\n1 2\n", []string{
			"heavy: graph custom: the weights of the senders of rank 1 add up to 1.4, want at most 1",
		}},
	} {
		_, err := Read(strings.NewReader(c.text), c.name, 3)
		if d := cmp.Diff(strings.Join(c.want, "\n"), fmt.Sprint(err)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"0 1\n1 0 0.5\n", "digraph { 0 -> 1 -> 0 [weight=0.1] }", "graph { 0 -- 1 }", "strict digraph x {}"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		g, err := Read(strings.NewReader(text), "file", n%64)
		if err != nil {
			return
		}
		if err := g.Validate(); err != nil {
			t.Fatalf("Read returned an invalid graph: %v", err)
		}
		var again strings.Builder
		for rank := range g.Size() {
			for _, e := range g.In(0, rank) {
				fmt.Fprintln(&again, e.From, rank, e.Weight)
			}
		}
		back, err := Read(strings.NewReader(again.String()), "again", g.Size())
		if err != nil {
			t.Fatal(err)
		}
		if back.Digest() != g.Digest() {
			t.Fatalf("written as a list and read again, the graph differs:\n%v\n%v", g, back)
		}
	})
}
