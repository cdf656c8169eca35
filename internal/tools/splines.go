// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/splines"
	"github.com/gvw-project/gvw/learn"
)

// maxSplineLine bounds a line of the data, in bytes.
const maxSplineLine = 16 << 20

// Splines runs gvw splines: it replaces the features of vw's text by splines.
func Splines(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	data, from, to := s.Get("data"), s.Get("initial_regressor"), s.Get("final_regressor")
	switch {
	case data == "":
		return cli.Usagef("gvw splines: -d is missing, the data, as in: gvw splines -d train.vw -f splines -p train.splines.vw")
	case from == "" && to == "":
		return cli.Usagef("gvw splines: give -f FILE to fit splines to the data and write them, or -i FILE to use those of other data")
	case from == "" && readOnce(data):
		return cli.Usagef("gvw splines: -d %s with -f: the data is read twice, but a stream can be read only once: give a file", data)
	case from != "" && (to != "" || s.Has("knots")):
		return cli.Usagef("gvw splines: -i has splines that are fitted already: leave -f and --knots out")
	}
	knots := 3
	if s.Has("knots") {
		knots = int(s.Number("knots"))
	}
	w := &splineFiles{ctx: ctx, files: files.New(p)}
	w.fsys = w.files.System(s.Get, true)
	basis, err := w.basis(data, from, knots)
	if err != nil {
		return err
	}
	if to != "" {
		text, err := json.Marshal(basis)
		if err != nil {
			return err
		}
		if err := w.write(to, func(out *bufio.Writer) error {
			_, err := out.Write(append(text, '\n'))
			return err
		}); err != nil {
			return err
		}
	}
	name := s.Get("predictions")
	if name == "" {
		name = "stdout"
	}
	var line []byte
	return w.write(name, func(out *bufio.Writer) error {
		return w.lines(data, func(text []byte) (err error) {
			if line, err = basis.Append(line[:0], text); err != nil {
				return err
			}
			_, err = out.Write(append(line, '\n'))
			return err
		})
	})
}

// readOnce reports whether a name is that of stdin or of a pipe.
func readOnce(name string) bool {
	info, err := os.Stat(name)
	return slices.Contains(files.StdinNames, name) || err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// splineFiles are the files of gvw splines.
type splineFiles struct {
	ctx   context.Context
	files *files.Set
	fsys  hdfsio.FS
}

// basis reads splines, or fits them to the data.
func (w *splineFiles) basis(data, from string, knots int) (*splines.Basis, error) {
	if from == "" {
		var fit splines.Fit
		if err := w.lines(data, fit.Add); err != nil {
			return nil, err
		}
		basis, err := fit.Basis(knots)
		if err != nil {
			return nil, &learn.DataError{Name: data, Text: err.Error()}
		}
		return basis, nil
	}
	f, err := hdfsio.Open(w.ctx, w.fsys, from)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	basis, err := splines.Parse(text)
	if err != nil {
		return nil, &learn.DataError{Name: from, Text: err.Error()}
	}
	return basis, nil
}

// open opens the data.
func (w *splineFiles) open(name string) (io.ReadCloser, error) {
	if !slices.Contains(files.StdinNames, name) {
		return hdfsio.Open(w.ctx, w.fsys, name)
	}
	inputs, err := w.files.Inputs(w.ctx, w.fsys, []string{name}, "", hdfsio.Shard{})
	if err != nil {
		return nil, err
	}
	return inputs[0].Open(w.ctx)
}

// lines calls f for each line of the data.
func (w *splineFiles) lines(name string, f func(line []byte) error) (err error) {
	in, err := w.open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	sc := bufio.NewScanner(in)
	sc.Buffer(nil, maxSplineLine)
	n := 0
	for sc.Scan() {
		n++
		if err := w.ctx.Err(); err != nil {
			return context.Cause(w.ctx)
		}
		if err := f(bytes.TrimRight(sc.Bytes(), "\r")); err != nil {
			return &learn.DataError{Name: name, Text: fmt.Sprintf("line %d: %v", n, err)}
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("%s: line %d: %w", name, n+1, err)
	}
	return nil
}

// write writes a file, which appears when it is complete.
func (w *splineFiles) write(name string, f func(out *bufio.Writer) error) error {
	out, err := w.files.Creator(w.ctx, w.fsys, 0)(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(out)
	if err := errors.Join(f(b), b.Flush()); err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}
