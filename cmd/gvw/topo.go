// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/internal/cli"
)

// catTopo is the category of what gvw topo takes.
const catTopo = "What to draw"

// topoFlags are the options of `gvw topo`.
var topoFlags = []*spec{
	{name: "n", short: "n", kind: integer, positive: true, max: 1024, category: catTopo, arg: "N", help: "ranks, up to 1024"},
	{name: "schedule", kind: text, category: catTopo, arg: "NAME", choices: scheduleNames(), def: "auto", help: "who sends what to whom"},
	{name: "bytes", kind: integer, max: 1 << 40, category: catTopo, arg: "B", def: "1048576", help: "length of the vector, a multiple of 4"},
	{name: "rank", kind: integer, category: catTopo, arg: "R", help: "list the steps of this rank, too (ascii)"},
	{name: "format", kind: text, category: catTopo, arg: "HOW", choices: []string{"ascii", "dot", "svg"}, def: "ascii", help: "text, Graphviz or a picture"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}

func scheduleNames() []string {
	names := []string{schedule.Auto.String()}
	for _, n := range schedule.Names {
		names = append(names, n.String())
	}
	return names
}

// topoHelp is the help of gvw topo.
func topoHelp() string {
	var b strings.Builder
	b.WriteString("gvw topo draws an all-reduce of float32 numbers: who sends how much to whom, and\n" +
		"in which order the ranks' numbers are added.\n\n" +
		"  gvw topo -n 8 --schedule halving\n" +
		"  gvw topo -n 12 --schedule double_tree --format svg > picture.svg\n")
	writeOptions(&b, topoFlags, true)
	return b.String()
}

// topoCommand is gvw topo.
func (p *program) topoCommand(_ context.Context, args []string) error {
	s, err := normalise(topoFlags, args, p.Env, os.ReadFile)
	switch {
	case err != nil:
		return err
	case s.has("help"):
		return p.Print(topoHelp())
	case len(s.words)+len(s.rest) > 0:
		return cli.Usagef("gvw topo takes options only, but got %q", append(s.words, s.rest...)[0])
	case !s.has("n"):
		return cli.Usagef("gvw topo: -n is missing: how many ranks? As in: gvw topo -n 8")
	}
	c := schedule.Spec{Size: int(s.number("n")), Bytes: 1 << 20, Elem: 4}
	if s.has("bytes") {
		c.Bytes = int(s.number("bytes"))
	}
	if c.Bytes%c.Elem != 0 {
		return cli.Usagef("--bytes %d: the vector is of float32, so give a multiple of 4", c.Bytes)
	}
	if s.has("schedule") {
		if c.Schedule, err = schedule.ParseName(s.get("schedule")); err != nil {
			return cli.Usagef("--schedule: %w", err)
		}
	}
	c = c.Resolve()
	format := s.get("format")
	switch {
	case s.has("rank") && format != "" && format != "ascii":
		return cli.Usagef("--rank would be ignored with --format %s: only ascii lists steps", format)
	case s.has("rank") && int(s.number("rank")) >= c.Size:
		return cli.Usagef("--rank %d: with -n %d the ranks are 0 to %d", s.number("rank"), c.Size, c.Size-1)
	}
	if steps := c.Steps(); steps > maxDrawn {
		return cli.Usagef("gvw topo: this %v would have about %d million steps: give less --bytes or a smaller -n", c.Schedule, steps/1_000_000)
	}
	switch format {
	case "dot":
		return p.Print(c.Graph().DOT())
	case "svg":
		return p.Print(c.Graph().SVG(topoCaption(c)...))
	}
	text := strings.Join(topoCaption(c), "\n") + "\n\n" + topoTree(c) + c.Graph().ASCII()
	if s.has("rank") {
		rank := int(s.number("rank"))
		text += fmt.Sprintf("\nsteps of rank %d:\n%v", rank, c.AllReduce(rank))
	}
	return p.Print(text)
}

// maxDrawn bounds the time and memory that a picture takes.
const maxDrawn = 10_000_000

// topoCaption says what is drawn, what it costs and how it adds.
func topoCaption(c schedule.Spec) []string {
	lines := []string{
		fmt.Sprintf("%v, ranks: %d, bytes: %d", c.Schedule, c.Size, c.Bytes),
		fmt.Sprintf("predicted: %v at %s, %v on %s",
			schedule.Network.Predict(c).Round(time.Microsecond), schedule.Network.Name,
			schedule.OneHost.Predict(c).Round(time.Microsecond), schedule.OneHost.Name),
	}
	if c.Size > 64 {
		return append(lines, "the sums of more than 64 ranks are not written out")
	}
	const shown = 8
	for i, sum := range c.Sums() {
		if i == shown {
			return append(lines, "and so on for the other segments")
		}
		lines = append(lines, fmt.Sprintf("bytes %d to %d: %v", sum.Lo, sum.Hi, sum))
	}
	return lines
}

// topoTree draws the trees of the schedules that have some.
func topoTree(c schedule.Spec) string {
	switch c.Schedule {
	case schedule.BinaryTree:
		return topo.Binary(c.Size).String() + "\n"
	case schedule.VWTree:
		return topo.VW(c.Size).String() + "\n"
	case schedule.DoubleTree:
		first, second := topo.Double(c.Size)
		return "first half of the vector:\n" + first.String() + "\nsecond half:\n" + second.String() + "\n"
	}
	return ""
}
