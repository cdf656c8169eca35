// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/malt/graph"
)

// drawGraph draws a dataflow graph for gvw topo --graph.
func drawGraph(p *cli.Process, s *cli.Settings) error {
	for _, other := range []string{"schedule", "rank"} {
		if s.Has(other) {
			return cli.Usagef("--%s would be ignored with --graph: it belongs to an all-reduce", other)
		}
	}
	n := int(s.Number("n"))
	g, err := readGraph(s.Get("graph"), n)
	if err != nil {
		return err
	}
	bytes := 1 << 20
	if s.Has("bytes") {
		bytes = int(s.Number("bytes"))
	}
	caption := graphCaption(g, bytes)
	switch s.Get("format") {
	case "dot":
		return p.Print(g.Picture(bytes).DOT())
	case "svg":
		return p.Print(g.Picture(bytes).SVG(caption...))
	}
	text := strings.Join(caption, "\n") + "\n\n" + g.String()
	if s.Has("mixing") {
		weights, err := mixingText(g, s.Get("mixing") == "metropolis")
		if err != nil {
			return err
		}
		text += weights
	}
	return p.Print(text)
}

// mixingText lists the weights with which each rank averages its own value and those that it receives, one line per rank
// and round.
func mixingText(g *graph.Graph, metropolis bool) (string, error) {
	title := "mixing weights"
	if metropolis {
		m, err := g.Metropolis()
		if err != nil {
			return "", cli.Usagef("--mixing metropolis: %w: leave it out", err)
		}
		g, title = m, "Metropolis-Hastings weights"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s, receiver <- sender:weight\n", title)
	for round := range g.Period() {
		if g.Period() > 1 {
			fmt.Fprintf(&b, "round %d:\n", round)
		}
		for rank := range g.Size() {
			fmt.Fprintf(&b, "%d <- %d:%.4g", rank, rank, g.Self(round, rank))
			for _, e := range g.In(round, rank) {
				fmt.Fprintf(&b, " %d:%.4g", e.From, e.Weight)
			}
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}

// readGraph returns the graph with a name, or the one in a file.
func readGraph(name string, n int) (*graph.Graph, error) {
	if slices.Contains(graph.Names(), name) {
		return graph.New(name, n)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, cli.Usagef("--graph: %w: give a file or one of %s", err, strings.Join(graph.Names(), ", "))
	}
	defer f.Close()
	g, err := graph.Read(f, name, n)
	if err != nil {
		return nil, cli.Usagef("--graph: %w", err)
	}
	return g, nil
}

// graphCaption returns the costs of a graph per round, and its spectral gaps: the larger the
// gap, the faster the ranks' values converge to their mean.
func graphCaption(g *graph.Graph, bytes int) []string {
	// The load differs between rounds and ranks. The busiest rank determines how long a round takes.
	edges, most := 0, 0
	for round := range g.Period() {
		edges += g.Edges(round)
		for rank := range g.Size() {
			most = max(most, len(g.Out(round, rank)))
		}
	}
	perRound := float64(edges) / float64(g.Period())
	lines := []string{
		fmt.Sprintf("%s, ranks: %d, rounds until it repeats: %d", g.Name(), g.Size(), g.Period()),
		fmt.Sprintf("updates a round: %.4g, at most %d from a rank; with %d bytes an update %.4g bytes a round", perRound, most, bytes, perRound*float64(bytes)),
		"spectral gap: " + gapText(g),
	}
	if m, err := g.Metropolis(); err == nil {
		lines = append(lines, "spectral gap with Metropolis-Hastings weights: "+gapText(m))
	}
	if !g.KeepsMean() {
		lines = append(lines, "averaging with these weights does not keep the mean of all ranks")
	}
	return lines
}

// gapText returns the spectral gap, or why there is none.
func gapText(g *graph.Graph) string {
	gap, err := g.Gap()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.4f", gap)
}
