// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/internal/cli"
)

// Topo runs gvw topo. It computes the schedule as a rank would, but sends nothing.
func Topo(_ context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	if !s.Has("n") {
		return cli.Usagef("gvw topo: -n is missing, the number of ranks, as in: gvw topo -n 8")
	}
	if s.Has("graph") {
		return drawGraph(p, s)
	}
	if s.Has("mixing") {
		return cli.Usagef("--mixing would be ignored without --graph: an all-reduce has no weights")
	}
	spec := schedule.Spec{Size: int(s.Number("n")), Bytes: 1 << 20, Elem: 4}
	if s.Has("bytes") {
		spec.Bytes = int(s.Number("bytes"))
	}
	if spec.Bytes%spec.Elem != 0 {
		return cli.Usagef("--bytes %d: the vector is of float32, so give a multiple of 4", spec.Bytes)
	}
	if s.Has("schedule") {
		if spec.Schedule, err = schedule.ParseName(s.Get("schedule")); err != nil {
			return cli.Usagef("--schedule: %w", err)
		}
	}
	// The schedule auto depends on the size, so it is resolved before anything is drawn.
	spec = spec.Resolve()
	format := s.Get("format")
	switch {
	case s.Has("rank") && format != "" && format != "ascii":
		return cli.Usagef("--rank would be ignored with --format %s: only ascii lists steps", format)
	case s.Has("rank") && int(s.Number("rank")) >= spec.Size:
		return cli.Usagef("--rank %d: with -n %d the ranks are 0 to %d", s.Number("rank"), spec.Size, spec.Size-1)
	}
	// A large vector has many segments, each with its own messages.
	if steps := spec.Steps(); steps > maxDrawn {
		return cli.Usagef("gvw topo: this %v would have about %d million steps: give less --bytes or a smaller -n", spec.Schedule, steps/1_000_000)
	}
	switch format {
	case "dot":
		return p.Print(spec.Graph().DOT())
	case "svg":
		return p.Print(spec.Graph().SVG(topoCaption(spec)...))
	}
	text := strings.Join(topoCaption(spec), "\n") + "\n\n" + topoTree(spec) + spec.Graph().ASCII()
	if s.Has("rank") {
		rank := int(s.Number("rank"))
		text += fmt.Sprintf("\nsteps of rank %d:\n%v", rank, spec.AllReduce(rank))
	}
	return p.Print(text)
}

// maxDrawn is the largest number of steps of a schedule that is drawn. It bounds time and memory.
const maxDrawn = 10_000_000

// topoCaption returns the schedule, its predicted time, and the order of its additions.
func topoCaption(c schedule.Spec) []string {
	lines := []string{
		fmt.Sprintf("%v, ranks: %d, bytes: %d", c.Schedule, c.Size, c.Bytes),
		fmt.Sprintf("predicted: %v at %s, %v on %s",
			schedule.Network.Predict(c).Round(time.Microsecond), schedule.Network.Name,
			schedule.OneHost.Predict(c).Round(time.Microsecond), schedule.OneHost.Name),
	}
	// A line of a sum lists all ranks.
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

// topoTree draws the trees of a schedule, or returns "" for one without trees.
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
