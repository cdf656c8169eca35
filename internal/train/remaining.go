// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/learn"
)

// remaining keeps a line at the bottom of a terminal with the progress of a run and the time
// left. It is the writer of diagnostics, too: text written through it appears above the line.
type remaining struct {
	out  io.Writer
	now  func() time.Time
	read atomic.Int64 // bytes of text in the first pass
	size int64        // bytes of all text; 0: not known

	mu     sync.Mutex
	begun  time.Time
	latest time.Time // time of the last line
	shown  bool
	open   bool // the last write did not end a line: L-BFGS writes its rows in pieces
}

// between is the least time between two updates of the line.
const between = 500 * time.Millisecond

// newRemaining returns the line of a run that begins now. size is the number of bytes of text in
// the data, 0 if it is not known.
func newRemaining(out io.Writer, now func() time.Time, size int64) *remaining {
	t := now()
	return &remaining{out: out, now: now, size: size, begun: t, latest: t}
}

// Write writes text above the line.
func (r *remaining) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wipe()
	// The line must not be drawn behind an incomplete row.
	r.open = len(text) > 0 && text[len(text)-1] != '\n'
	return r.out.Write(text)
}

// wipe removes the line.
func (r *remaining) wipe() {
	if r.shown {
		_, _ = io.WriteString(r.out, "\r\x1b[K") // an error leaves only the line itself
		r.shown = false
	}
}

// end removes the line for good.
func (r *remaining) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wipe()
}

// watch updates the line, unless the last update is recent or a row is incomplete. The time
// left assumes that the rest takes as long per part of a pass as the run has taken so far.
func (r *remaining) watch(p learn.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if r.open || now.Sub(r.latest) < between {
		return
	}
	r.latest = now
	line := fmt.Sprintf("%d examples", p.Examples)
	if p.Passes > 1 {
		line = fmt.Sprintf("pass %d of at most %d, %s", p.Pass, p.Passes, line)
	}
	// Passes count alike: the first one, which parses text, takes longer than later ones from the
	// cache, so the estimate is too long at first.
	if part := r.part(p); part > 0 {
		done := (float64(p.Pass-1) + part) / float64(p.Passes)
		elapsed := now.Sub(r.begun)
		left := time.Duration(float64(elapsed) * (1 - done) / done).Round(time.Second)
		line += fmt.Sprintf(", %.0f %%, about %v left", 100*done, left)
	}
	r.wipe()
	_, _ = io.WriteString(r.out, line)
	r.shown = true
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
