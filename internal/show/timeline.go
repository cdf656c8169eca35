// SPDX-License-Identifier: Apache-2.0

package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/gvw-project/gvw/hdfsio"
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
	var clocks timeline.Clocks // of all files, before the first span
	for _, name := range names {
		if err := readFile(ctx, fsys, name, clocks.Read); err != nil {
			return err
		}
	}
	if s.Has("merge") {
		if s.Has("svg") || s.Has("from") || s.Has("to") {
			return cli.Usagef("--merge writes all spans of the files: leave out --svg, --from and --to")
		}
		return mergeTimelines(ctx, set, fsys, s.Get("merge"), names, &clocks)
	}
	var spans []timeline.Span
	for _, name := range names {
		if err := readFile(ctx, fsys, name, func(in io.Reader) error {
			more, err := clocks.Spans(in)
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
		return p.Print(string(appendClocks(t.appendTable(nil), clocks.Errors())))
	}
	return write(ctx, set, fsys, s.Get("svg"), t.picture().AppendSVG(nil, chart.File))
}

// mergeTimelines writes the events of several files as one file, on one clock.
func mergeTimelines(ctx context.Context, set *files.Set, fsys hdfsio.FS, to string, names []string, clocks *timeline.Clocks) (err error) {
	var in []io.Reader
	for _, name := range names {
		f, oerr := hdfsio.Open(ctx, fsys, name)
		if oerr != nil {
			return oerr
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		in = append(in, f)
	}
	out, err := set.Creator(ctx, fsys, 0)(to)
	if err != nil {
		return err
	}
	if err := clocks.Merge(out, in...); err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}

// appendClocks appends how well the times of different ranks can be compared.
func appendClocks(dst []byte, errs map[int]timeline.ClockError) []byte {
	aligned, bound, rate := 0, 0.0, 0.0
	for _, rank := range slices.Sorted(maps.Keys(errs)) {
		if e := errs[rank]; e.Aligned {
			aligned++
			bound, rate = max(bound, e.Bound), max(rate, e.Rate)
		}
	}
	if aligned > 0 {
		dst = fmt.Appendf(dst, "by the server's clock: %d of %d ranks, error at most %.3f ms (if rates differ by at most %.0f ppm)\n", aligned, len(errs), bound/1e3, rate*1e6)
	}
	if aligned == 0 && len(errs) > 1 {
		return append(dst, "by the clock of each rank: the files have no exchange with a server's clock\n"...)
	}
	for _, rank := range slices.Sorted(maps.Keys(errs)) {
		if e := errs[rank]; !e.Aligned && len(errs) > 1 {
			dst = fmt.Appendf(dst, "rank %d: %v\n", rank, e)
		}
	}
	return dst
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
