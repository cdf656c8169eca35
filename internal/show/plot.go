// SPDX-License-Identifier: Apache-2.0

package show

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/chart"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/record"
	"github.com/gvw-project/gvw/internal/report"
)

// The size of a picture in a terminal, in characters.
const (
	plotColumns = 60
	plotRows    = 16
)

// Plot runs gvw plot. It draws the losses of records, or the largest weights of a model.
func Plot(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	names := append(s.Words, s.Rest...)
	if len(names) == 0 {
		return cli.Usagef("gvw plot: got no file, want one of --record or --log_json, or a model, as in: gvw plot run.jsonl")
	}
	set := files.New(p)
	fsys := set.System(s.Get, true)
	isRecord, err := beginsRecord(ctx, fsys, names[0])
	if err != nil {
		return err
	}
	if isRecord {
		return plotLosses(ctx, p, s, set, fsys, names)
	}
	return plotWeights(ctx, p, s, set, fsys, names)
}

// beginsRecord reports whether a file is a record, or a log of passes: JSON lines. Models begin otherwise, also as text.
func beginsRecord(ctx context.Context, fsys hdfsio.FS, name string) (is bool, err error) {
	err = readFile(ctx, fsys, name, func(in io.Reader) error {
		var head [16]byte
		n, err := io.ReadFull(in, head[:])
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return err
		}
		is = n == 0 || bytes.HasPrefix(bytes.TrimSpace(head[:n]), []byte("{"))
		return nil
	})
	return is, err
}

// plotLosses draws the losses of any number of runs.
func plotLosses(ctx context.Context, p *cli.Process, s *cli.Settings, set *files.Set, fsys hdfsio.FS, names []string) error {
	for _, name := range []string{"top", "names", "data", "format"} {
		if s.Has(name) {
			return cli.Usagef("--%s would be ignored: %s is no model", name, names[0])
		}
	}
	var runs []*report.Run
	for _, name := range names {
		if err := readFile(ctx, fsys, name, func(in io.Reader) error {
			r, err := record.Read(name, in)
			runs = append(runs, &report.Run{Name: filepath.Base(name), Record: r})
			return err
		}); err != nil {
			return err
		}
	}
	byPass, byTime, byTraffic := report.Losses(runs)
	l := byPass
	switch s.Get("x") {
	case "time":
		l = byTime
	case "bytes":
		l = byTraffic
	}
	if len(l.Series) == 0 {
		return cli.Usagef("gvw plot: no loss is known by %s", l.X)
	}
	l.Title = "Loss"
	if !s.Has("svg") {
		return p.Print(string(l.AppendText(nil, plotColumns, plotRows)))
	}
	return write(ctx, set, fsys, s.Get("svg"), l.AppendSVG(nil, chart.File))
}

// plotWeights draws the largest weights of a model.
func plotWeights(ctx context.Context, p *cli.Process, s *cli.Settings, set *files.Set, fsys hdfsio.FS, names []string) error {
	if len(names) > 1 {
		return cli.Usagef("gvw plot: got %d models, want one", len(names))
	}
	if s.Has("x") {
		return cli.Usagef("--x would be ignored: %s is a model", names[0])
	}
	w, err := readWeights(ctx, p, s, names[0])
	if err != nil {
		return err
	}
	bars := report.WeightBars(w.Top)
	bars.Title = "Largest weights of " + w.Model
	if !s.Has("svg") {
		return p.Print(string(bars.AppendText(nil, plotColumns/2)))
	}
	return write(ctx, set, fsys, s.Get("svg"), bars.AppendSVG(nil, chart.File))
}
