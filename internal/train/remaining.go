// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/statusline"
	"github.com/gvw-project/gvw/learn"
)

// remaining keeps a line at the bottom of a terminal with the progress of a run and the time
// left. Diagnostics are written through its lines, so that they appear above.
type remaining struct {
	*statusline.Lines
	now   func() time.Time
	ranks string       // rank and number of ranks; empty: one process
	read  atomic.Int64 // bytes of text in the first pass
	size  int64        // bytes of all text; 0: not known

	begun  time.Time
	latest time.Time // time of the last line
	seen   int       // examples in all passes at that time
	before int       // examples of the passes before the current one
	last   learn.Progress
}

// between is the least time between two updates of the line.
const between = 500 * time.Millisecond

// newRemaining returns the line of a run that begins now. size is the number of bytes of text in
// the data, 0 if it is not known.
func newRemaining(lines *statusline.Lines, now func() time.Time, size int64) *remaining {
	t := now()
	return &remaining{Lines: lines, now: now, size: size, begun: t, latest: t}
}

// watch updates the line, unless the last update is recent. The time left assumes that the rest
// takes as long per part of a pass as the run has taken so far. Only the goroutine of the run calls it.
func (r *remaining) watch(p learn.Progress) {
	if p.Pass != r.last.Pass {
		r.before += r.last.Examples
	}
	r.last = p
	now := r.now()
	if now.Sub(r.latest) < between {
		return
	}
	seen := r.before + p.Examples
	rate := float64(seen-r.seen) / now.Sub(r.latest).Seconds()
	r.latest, r.seen = now, seen
	row := statusline.Row{Label: r.ranks, Share: -1, Fields: []string{"", "", statusline.Count(rate) + "/s", statusline.Count(float64(p.Examples)) + " examples"}}
	if p.Passes > 1 {
		row.Label += fmt.Sprintf("pass %d/%d", p.Pass, p.Passes)
	} else if row.Label == "" {
		row.Label = "pass 1"
	}
	if !math.IsNaN(p.Loss) {
		row.Fields[1] = fmt.Sprintf("loss %.4g", p.Loss)
	}
	// Passes count alike: the first one, which parses text, takes longer than later ones from the
	// cache, so the estimate is too long at first.
	if part := r.part(p); part > 0 {
		row.Share = (float64(p.Pass-1) + part) / float64(p.Passes)
		row.Fields[0] = statusline.Left(now.Sub(r.begun), row.Share)
	}
	r.Show(row.Fit(r.Width()))
}

// part returns the part of the pass that is done, from 0 to 1, or 0 if it is not known.
func (r *remaining) part(p learn.Progress) float64 {
	switch {
	case p.Of > 0:
		return min(float64(p.Examples)/float64(p.Of), 1)
	case r.size > 0:
		return min(float64(r.read.Load())/float64(r.size), 1)
	}
	return 0
}

// count makes an input count its bytes.
func (r *remaining) count(in learn.Input) learn.Input {
	open := in.Open
	in.Open = func(ctx context.Context) (io.ReadCloser, error) {
		f, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return &counted{f, &r.read}, nil
	}
	return in
}

// counted is an input that adds the bytes read to n.
type counted struct {
	io.ReadCloser
	n *atomic.Int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// textSize returns the number of bytes of text in the files, or 0 if it is not known, as for
// stdin and for compressed files, whose text is larger by an unknown factor.
func textSize(ctx context.Context, fsys hdfsio.FS, data []string) int64 {
	files, err := dataSizes(ctx, fsys, data)
	if err != nil {
		return 0 // opening the files will report the error
	}
	var sum int64
	for _, f := range files {
		for _, ending := range []string{".gz", ".zst", ".bz2"} {
			if strings.HasSuffix(f.What, ending) {
				return 0
			}
		}
		sum += int64(f.Bytes)
	}
	return sum
}
