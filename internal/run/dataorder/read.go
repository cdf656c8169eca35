// SPDX-License-Identifier: Apache-2.0

package dataorder

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/learn"
)

// Read reads the data and returns the order of the ranks' examples in it. files has the names of each rank's files. With
// hdfsio.Lines, line n of all files belongs to rank (n-1) mod the number of ranks, and all ranks have the same files; with
// hdfsio.Bytes, contiguous parts follow each other by rank; else each rank has its own files. The format decides which
// lines are examples.
func Read(ctx context.Context, fsys hdfsio.FS, kind hdfsio.Kind, files [][]string, format stream.Format) (Order, error) {
	total := len(files)
	d := Order{counts: make([]int, total)}
	if kind == hdfsio.Lines {
		// All ranks have the same files.
		d.owners = []uint16{}
		n := 0
		err := eachLine(ctx, fsys, files[0], hdfsio.Shard{}, format, func(example bool) {
			if example {
				// 16 bits hold any rank, and take a quarter of the memory of an int per line.
				d.owners = append(d.owners, uint16(n%total))
				d.counts[n%total]++
			}
			n++
		})
		return d, err
	}
	for rank := range total {
		err := eachLine(ctx, fsys, files[rank], hdfsio.Shard{Kind: kind, Rank: rank, Total: total}, format, func(example bool) {
			if example {
				d.counts[rank]++
			}
		})
		if err != nil {
			return d, err
		}
	}
	return d, nil
}

// eachLine calls f for every line of a shard, with whether it is an example.
func eachLine(ctx context.Context, fsys hdfsio.FS, files []string, s hdfsio.Shard, format stream.Format, f func(example bool)) error {
	if strings.HasPrefix(format.Name, learn.FormatParquet) {
		return eachRow(ctx, fsys, files, s, format, f)
	}
	parts, err := hdfsio.Split(ctx, fsys, files, s)
	if err != nil {
		return err
	}
	buf := bufio.NewReaderSize(nil, 1<<20)
	for _, p := range parts {
		t, err := newLineFilter(format, p)
		if err != nil {
			return err
		}
		r, err := p.Open(ctx)
		if err != nil {
			return err
		}
		buf.Reset(r)
		err = errors.Join(lines(buf, func(line []byte) { f(t.example(line)) }), r.Close())
		if err != nil {
			return fmt.Errorf("cannot read the data again to order the predictions: %w", err)
		}
	}
	return nil
}

// eachRow is eachLine for the rows of Parquet files.
func eachRow(ctx context.Context, fsys hdfsio.FS, names []string, s hdfsio.Shard, format stream.Format, f func(example bool)) error {
	inputs, err := files.ParquetShard(ctx, fsys, names, s)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		l, err := format.New(feature.Config{Bits: 1})
		if err != nil {
			return err
		}
		r, err := in.Open(ctx)
		if err != nil {
			return err
		}
		t := &lineFilter{lines: l, header: true}
		row := false // the first line is the header
		err = errors.Join(lines(bufio.NewReader(r), func(line []byte) {
			if example := t.example(line); row {
				f(example)
			}
			row = true
		}), r.Close())
		if err != nil {
			return fmt.Errorf("cannot read the data again to order the predictions: %w", err)
		}
	}
	return nil
}

// lineFilter distinguishes examples from other lines in one part of the data.
type lineFilter struct {
	lines  stream.Lines // nil: vw's text
	header bool         // the next line is a header
	batch  feature.Batch
}

// newLineFilter returns the filter for one part of the data. A part that begins in the middle of
// a file takes the header from the file's first line.
func newLineFilter(format stream.Format, p hdfsio.Part) (*lineFilter, error) {
	if format.New == nil {
		return &lineFilter{}, nil
	}
	// Only the number of examples matters, so the smallest table of weights will do.
	l, err := format.New(feature.Config{Bits: 1})
	if err != nil {
		return nil, err
	}
	t := &lineFilter{lines: l}
	if !format.Header {
		return t, nil
	}
	line, own, err := p.Header(math.MaxInt32) // the ranks have checked the limit
	if err != nil || own {
		t.header = true
		return t, err
	}
	return t, t.take(line)
}

// take reads a header, which the ranks have read without an error.
func (t *lineFilter) take(line []byte) error {
	t.header = false
	return t.lines.(stream.HeaderLines).Header(&t.batch, line)
}

// example reports whether a line is an example.
func (t *lineFilter) example(line []byte) bool {
	if t.lines == nil {
		return len(feature.TrimLine(line)) > 0
	}
	t.batch.Reset()
	if t.header {
		return t.take(line) != nil
	}
	return t.lines.AppendLine(&t.batch, line, 1) != nil || len(t.batch.Examples) > 0
}

// lines calls f for every line, its end included.
func lines(r *bufio.Reader, f func(line []byte)) error {
	var long []byte // first part of a line that is longer than the buffer
	for {
		b, err := r.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			long = append(long, b...)
		case err != nil && err != io.EOF:
			return err
		case len(long) > 0:
			f(append(long, b...))
			long = long[:0]
		case len(b) > 0:
			f(b)
		}
		if err == io.EOF {
			return nil
		}
	}
}
