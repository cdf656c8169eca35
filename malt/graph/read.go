// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/graph/formats/dot"
	"gonum.org/v1/gonum/graph/formats/dot/ast"
)

// maxFile bounds the size of a file with a graph, in bytes.
const maxFile = 64 << 20

// Read reads a graph of n ranks from a list of edges or from Graphviz's DOT, and
// returns an error that lists all its faults.
//
// A list has an edge per line, "FROM TO" or "FROM TO WEIGHT"; empty lines and lines that
// begin with # are skipped. The names of the vertices are ranks in both formats. In DOT an edge's
// weight is its attribute weight, and the edges of an undirected graph lead both ways. Edges within
// subgraphs and default weights are faults. An edge without a weight gets a uniform one. A file name,
// if not empty, begins the errors.
func Read(r io.Reader, name string, n int) (*Graph, error) {
	if n < 1 || n > MaxSize {
		return nil, fmt.Errorf("graph: %d ranks: want 1 to %d", n, MaxSize)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("graph: cannot read %s: %w", name, err)
	case len(text) > maxFile:
		return nil, fmt.Errorf("graph: %s: more than %d bytes", name, maxFile)
	}
	f := file{name: name, size: n}
	if isDOT(text) {
		f.dot(text)
	} else {
		f.list(text)
	}
	if len(f.faults) > 0 {
		return nil, errors.Join(f.faults...)
	}
	g := build("custom", n, f.arcs)
	if err := g.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return g, nil
}

// isDOT reports whether the first word of a text, after comments, is one with which a DOT file begins.
func isDOT(text []byte) bool {
	for {
		text = bytes.TrimSpace(text)
		end := ""
		switch {
		case bytes.HasPrefix(text, []byte("#")), bytes.HasPrefix(text, []byte("//")):
			end = "\n"
		case bytes.HasPrefix(text, []byte("/*")):
			end = "*/"
		default:
			word := text
			if n := bytes.IndexFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }); n >= 0 {
				word = text[:n]
			}
			switch strings.ToLower(string(word)) {
			case "strict", "graph", "digraph":
				return true
			}
			return false
		}
		var ended bool
		if _, text, ended = bytes.Cut(text, []byte(end)); !ended {
			return false
		}
	}
}

// file is a graph that is being read.
type file struct {
	name   string
	size   int
	arcs   []arc
	seen   map[[2]int]bool
	faults []error
}

// fault notes a fault; where says at which line or edge.
func (f *file) fault(where, format string, args ...any) {
	if len(f.faults) < 20 {
		f.faults = append(f.faults, fmt.Errorf("graph: %s: %s: %s", f.name, where, fmt.Sprintf(format, args...)))
	}
}

// edge adds an edge from its words. weight may be empty.
func (f *file) edge(where, from, to, weight string) {
	a := arc{}
	var err error
	for _, end := range []struct {
		text string
		to   *int
	}{{from, &a.from}, {to, &a.to}} {
		if *end.to, err = strconv.Atoi(end.text); err != nil || *end.to < 0 || *end.to >= f.size {
			f.fault(where, "got rank %q, want 0 to %d", end.text, f.size-1)
			return
		}
	}
	if weight != "" {
		if a.weight, err = strconv.ParseFloat(weight, 64); err != nil || !(a.weight > 0 && a.weight <= 1) {
			f.fault(where, "got weight %q, want more than 0 and at most 1", weight)
			return
		}
	}
	if f.seen == nil {
		f.seen = map[[2]int]bool{}
	}
	switch {
	case a.from == a.to:
		f.fault(where, "edge %d -> %d: a rank does not send to itself", a.from, a.to)
	case f.seen[[2]int{a.from, a.to}]:
		f.fault(where, "edge %d -> %d occurs twice", a.from, a.to)
	case len(f.arcs) == maxEdges:
		f.fault(where, "more than %d edges", maxEdges)
	default:
		f.seen[[2]int{a.from, a.to}] = true
		f.arcs = append(f.arcs, a)
	}
}

// list reads lines of edges.
func (f *file) list(text []byte) {
	for i, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		where := fmt.Sprintf("line %d", i+1)
		switch len(words) {
		case 2:
			f.edge(where, words[0], words[1], "")
		case 3:
			f.edge(where, words[0], words[1], words[2])
		default:
			f.fault(where, "got %d words, want FROM TO or FROM TO WEIGHT", len(words))
		}
	}
}

// dot reads a graph in Graphviz's language.
func (f *file) dot(text []byte) {
	parsed, err := dot.ParseBytes(text)
	switch {
	case err != nil:
		f.fault("DOT", "%v", err)
		return
	case len(parsed.Graphs) != 1:
		f.fault("DOT", "got %d graphs, want one", len(parsed.Graphs))
		return
	}
	g := parsed.Graphs[0]
	for _, s := range g.Stmts { // vertices and other attributes have no meaning here
		switch s := s.(type) {
		case *ast.EdgeStmt:
			f.edges(s, g.Directed)
		case *ast.Subgraph:
			if hasEdges(s) {
				where := "a subgraph"
				if s.ID != "" {
					where = "the subgraph " + s.ID
				}
				f.fault("DOT", "edges in %s are not supported: list them outside of it", where)
			}
		case *ast.AttrStmt:
			if s.Kind == ast.EdgeKind && weightOf(s.Attrs) != "" {
				f.fault("DOT", "a default weight of edges is not supported: give each edge its attribute weight")
			}
		}
	}
}

// edges adds the edges of a statement.
func (f *file) edges(s *ast.EdgeStmt, directed bool) {
	weight, from := weightOf(s.Attrs), s.From
	for to := s.To; to != nil; to = to.To {
		a, okA := from.(*ast.Node)
		b, okB := to.Vertex.(*ast.Node)
		if !okA || !okB {
			f.fault("DOT", "subgraphs as ends of edges are not supported: list the edges")
			return
		}
		sender, receiver := strings.Trim(a.ID, `"`), strings.Trim(b.ID, `"`)
		where := fmt.Sprintf("edge %s, %s", sender, receiver)
		f.edge(where, sender, receiver, weight)
		if !directed {
			f.edge(where, receiver, sender, weight)
		}
		from = to.Vertex
	}
}

// hasEdges reports whether there are edges in a subgraph or in those within it.
func hasEdges(g *ast.Subgraph) bool {
	return slices.ContainsFunc(g.Stmts, func(s ast.Stmt) bool {
		inner, ok := s.(*ast.Subgraph)
		_, edge := s.(*ast.EdgeStmt)
		return edge || ok && hasEdges(inner)
	})
}

// weightOf returns the attribute weight; "": there is none.
func weightOf(attrs []*ast.Attr) (weight string) {
	for _, a := range attrs {
		if strings.Trim(a.Key, `"`) == "weight" {
			weight = strings.Trim(a.Val, `"`)
		}
	}
	return weight
}

// Uniform reports whether each receiver gives the same weight to its senders and to itself.
func (g *Graph) Uniform() bool {
	const rounding = 1e-9
	for round := range g.Period() {
		for rank := range g.Size() {
			in := g.In(round, rank)
			for _, e := range in {
				if math.Abs(e.Weight*float64(len(in)+1)-1) > rounding {
					return false
				}
			}
		}
	}
	return true
}
