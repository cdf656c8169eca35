// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"bytes"
	"context"
	"io"
	"sync"
)

// cutReader returns the lines that begin in [lo, hi) of the text of r. The text is read
// from position pos on, which is at most lo-1: the byte before lo shows whether a line
// begins at lo.
type cutReader struct {
	r      io.ReadCloser
	pos    int64 // position of the next byte of r
	lo, hi int64
	inside bool // the first line of the part has begun
	done   bool
}

func newCutReader(r io.ReadCloser, pos, lo, hi int64) *cutReader {
	return &cutReader{r: r, pos: pos, lo: lo, hi: hi, inside: lo == 0}
}

func (c *cutReader) Read(p []byte) (int, error) {
	for len(p) > 0 && !c.done {
		n, err := c.r.Read(p)
		b, start := p[:n], c.pos
		c.pos += int64(n)
		if !c.inside {
			b, start = c.enter(b, start)
			b = p[:copy(p, b)] // once per part: move its first bytes to the front
		}
		// The newline at hi-1 or after it ends the last line.
		if end := start + int64(len(b)); c.inside && end >= c.hi {
			from := max(c.hi-1-start, 0)
			if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
				b = b[:from+int64(i)+1]
				c.done = true
			}
		}
		switch {
		case len(b) > 0 && c.done:
			return len(b), nil
		case len(b) > 0 || err != nil:
			return len(b), err
		}
	}
	if c.done {
		return 0, io.EOF
	}
	return 0, nil
}

// enter skips to the first line that begins at lo or after it.
func (c *cutReader) enter(b []byte, start int64) ([]byte, int64) {
	i := 0
	if skip := c.lo - 1 - start; skip > 0 {
		i = int(min(skip, int64(len(b))))
	}
	j := bytes.IndexByte(b[i:], '\n')
	if j < 0 {
		c.done = start+int64(len(b)) >= c.hi
		return nil, start
	}
	first := start + int64(i+j+1)
	if first >= c.hi {
		c.done = true // this line begins in a later part
		return nil, first
	}
	c.inside = true
	return b[i+j+1:], first
}

func (c *cutReader) Close() error { return c.r.Close() }

// dealReader returns every total-th line. It compacts the lines within the caller's buffer,
// without an allocation or a second copy.
type dealReader struct {
	r       io.ReadCloser
	rank    int64
	total   int64
	line    int64 // number of lines that have ended, including those of earlier files
	open    bool  // a line has begun but not ended
	counted func(lines int64)
}

func (d *dealReader) Read(p []byte) (int, error) {
	for len(p) > 0 {
		n, err := d.r.Read(p)
		kept := 0
		for b := p[:n]; len(b) > 0; {
			i := bytes.IndexByte(b, '\n')
			end := i + 1
			if i < 0 {
				end = len(b)
			}
			if d.line%d.total == d.rank {
				kept += copy(p[kept:], b[:end])
			}
			d.open = i < 0
			if !d.open {
				d.line++
			}
			b = b[end:]
		}
		if err == io.EOF && d.open {
			d.line++ // the end of a file ends a line
			d.open = false
		}
		if err == io.EOF {
			d.counted(d.line)
		}
		if kept > 0 || err != nil {
			return kept, err
		}
	}
	return 0, nil
}

func (d *dealReader) Close() error { return d.r.Close() }

// lineCounts caches the number of lines up to the end of each file of a list, which
// determines the rank of the next file's first line. Files that have not been read are counted.
type lineCounts struct {
	fsys  FS
	names []string

	mu   sync.Mutex
	ends []int64 // number of lines up to the end of file i; filled in order
}

// before returns the number of lines in the files before file i.
func (l *lineCounts) before(ctx context.Context, i int) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.ends) < i {
		n, err := countLines(ctx, l.fsys, l.names[len(l.ends)])
		if err != nil {
			return 0, err
		}
		if k := len(l.ends); k > 0 {
			n += l.ends[k-1]
		}
		l.ends = append(l.ends, n)
	}
	if i == 0 {
		return 0, nil
	}
	return l.ends[i-1], nil
}

// set records the number of lines up to the end of file i.
func (l *lineCounts) set(i int, lines int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ends) == i {
		l.ends = append(l.ends, lines)
	}
}

func countLines(ctx context.Context, fsys FS, name string) (int64, error) {
	r, err := Open(ctx, fsys, name)
	if err != nil {
		return 0, err
	}
	d := &dealReader{r: r, rank: -1, total: 1, counted: func(int64) {}}
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, d, make([]byte, bufferSize)); err != nil {
		_ = r.Close() // the read error is more specific
		return 0, err
	}
	return d.line, r.Close()
}
