// SPDX-License-Identifier: Apache-2.0

package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/gvw-project/gvw/internal/chart"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/timeline"
	"github.com/gvw-project/gvw/learn"
)

// Timeline runs gvw timeline.
func Timeline(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	names := append(s.Words, s.Rest...)
	if len(names) == 0 {
		return cli.Usagef("gvw timeline: got no file, want one of --timeline, as in: gvw timeline trace.json --svg picture.svg")
	}
	set := files.New(p)
	fsys := set.System(s.Get, true)
	var spans []timeline.Span
	for _, name := range names {
		if err := readFile(ctx, fsys, name, func(in io.Reader) error {
			more, err := timeline.Read(in)
			spans = append(spans, more...)
			return err
		}); err != nil {
			return err
		}
	}
	from, to := 0.0, math.Inf(1)
	for _, at := range []struct {
		option string
		value  *float64
	}{{"from", &from}, {"to", &to}} {
		if s.Has(at.option) {
			*at.value, _ = strconv.ParseFloat(s.Get(at.option), 64) // the table of options has checked it
		}
	}
	t, err := newTrace(spans, from, to)
	if err != nil {
		return &learn.DataError{Name: names[0], Text: err.Error()}
	}
	if !s.Has("svg") {
		return p.Print(string(t.appendTable(nil)))
	}
	return write(ctx, set, fsys, s.Get("svg"), t.picture().AppendSVG(nil, chart.File))
}

// trace is the time of the ranks, divided into parts.
type trace struct {
	ranks    []int
	parts    [][timeline.Parts]timeline.Intervals // by position in ranks
	begun    int64                                // begin of the first span of any rank, in microseconds
	from, to int64
}

// newTrace divides the time of the ranks between two times, in seconds after the first span.
func newTrace(spans []timeline.Span, from, to float64) (*trace, error) {
	if len(spans) == 0 {
		return nil, errors.New("got no span, want those of a Chrome trace that --timeline has written")
	}
	own := map[int][]timeline.Span{}
	t := &trace{begun: math.MaxInt64}
	var end int64
	for _, s := range spans {
		if own[s.Rank] == nil {
			t.ranks = append(t.ranks, s.Rank)
		}
		own[s.Rank] = append(own[s.Rank], s)
		t.begun, end = min(t.begun, s.Began), max(end, s.Began+s.Took)
	}
	slices.Sort(t.ranks)
	t.from, t.to = t.begun, end
	if from > 0 {
		t.from = t.begun + int64(min(from*1e6, float64(end-t.begun)))
	}
	if to < float64(end-t.begun)/1e6 {
		t.to = t.begun + int64(to*1e6)
	}
	if t.from >= t.to {
		return nil, fmt.Errorf("got the times from %g s to %g s, want a part of the %.3f s of the trace", from, to, float64(end-t.begun)/1e6)
	}
	for _, rank := range t.ranks {
		t.parts = append(t.parts, timeline.Split(own[rank], t.from, t.to))
	}
	return t, nil
}

// seconds returns a time in seconds after the first span.
func (t *trace) seconds(us int64) float64 { return float64(us-t.begun) / 1e6 }

// picture returns the Gantt chart.
func (t *trace) picture() *chart.Lanes {
	l := &chart.Lanes{Title: fmt.Sprintf("Time of %d ranks", len(t.ranks)), X: "s", Parts: timeline.PartNames[:]}
	for i, rank := range t.ranks {
		lane := chart.Lane{Name: "rank " + strconv.Itoa(rank)}
		for part, in := range t.parts[i] {
			for _, s := range in {
				lane.Spans = append(lane.Spans, chart.Span{From: t.seconds(s.Lo), To: t.seconds(s.Hi), Part: part})
			}
		}
		l.Lanes = append(l.Lanes, lane)
	}
	return l
}

// appendTable appends the seconds of each part, by rank.
func (t *trace) appendTable(dst []byte) []byte {
	dst = append(dst, "rank"...)
	for _, name := range timeline.PartNames {
		dst = fmt.Appendf(dst, " %20s", name)
	}
	dst = append(dst, '\n')
	for i, rank := range t.ranks {
		dst = fmt.Appendf(dst, "%4d", rank)
		for _, in := range t.parts[i] {
			us := in.Sum()
			dst = fmt.Appendf(dst, " %10.3f s (%4.1f %%)", float64(us)/1e6, 100*float64(us)/float64(t.to-t.from))
		}
		dst = append(dst, '\n')
	}
	return fmt.Appendf(dst, "of %.3f s\n", float64(t.to-t.from)/1e6)
}
