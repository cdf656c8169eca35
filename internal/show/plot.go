// SPDX-License-Identifier: Apache-2.0

package show

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/chart"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/record"
	"github.com/gvw-project/gvw/internal/report"
	"github.com/gvw-project/gvw/internal/search/journal"
)

// The size of a picture in a terminal, in characters.
const (
	plotColumns = 60
	plotRows    = 16
)

// Plot runs gvw plot. It draws the losses of records, those of a search, or the largest weights of a model.
func Plot(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	names := append(s.Words, s.Rest...)
	if len(names) == 0 {
		return cli.Usagef("gvw plot: got no file, want one of --record or --log_json, of gvw search --state, or a model, as in: gvw plot run.jsonl")
	}
	if err := checkPicture(s); err != nil {
		return err
	}
	set := files.New(p)
	d := drawing{p: p, s: s, set: set, fsys: set.System(s.Get, true), names: names}
	head, err := beginning(ctx, d.fsys, names[0])
	switch {
	case err != nil:
		return err
	case bytes.HasPrefix(head, []byte(`{"journal":`)):
		return d.search(ctx)
	case len(head) == 0, head[0] == '{': // models begin otherwise, also as text
		return d.losses(ctx)
	}
	return d.weights(ctx)
}

// drawing is a call of gvw plot.
type drawing struct {
	p     *cli.Process
	s     *cli.Settings
	set   *files.Set
	fsys  hdfsio.FS
	names []string // of the files
}

// picture is a chart in each format of a file.
type picture interface {
	AppendSVG(dst []byte, mode chart.Mode) []byte
	AppendPNG(dst []byte) ([]byte, error)
}

// checkPicture returns the faults of the options that name the file of the picture.
func checkPicture(s *cli.Settings) error {
	switch name := s.Get("output"); {
	case !s.Has("output"):
		return nil
	case s.Has("svg"):
		return cli.Usagef("--output and --svg both name the picture: leave one out")
	case !isPNG(name) && !strings.HasSuffix(strings.ToLower(name), ".svg"):
		return cli.Usagef("--output %s: got a name with another ending, want .svg or .png, which decides the format", name)
	}
	return nil
}

// isPNG reports whether the name of a file ends in .png.
func isPNG(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".png") }

// show writes the picture, or prints its text if no option names a file.
func (d *drawing) show(ctx context.Context, p picture, text func() []byte) error {
	name := d.s.Get("output")
	switch {
	case d.s.Has("svg"):
		return write(ctx, d.set, d.fsys, d.s.Get("svg"), p.AppendSVG(nil, chart.File))
	case name == "":
		return d.p.Print(string(text()))
	case !isPNG(name):
		return write(ctx, d.set, d.fsys, name, p.AppendSVG(nil, chart.File))
	}
	contents, err := p.AppendPNG(nil)
	if err != nil {
		return fmt.Errorf("cannot draw %s: %w", name, err)
	}
	return write(ctx, d.set, d.fsys, name, contents)
}

// ignored returns an error if an option is given that has no meaning for the files.
func (d *drawing) ignored(what string, options ...string) error {
	for _, name := range options {
		if d.s.Has(name) {
			return cli.Usagef("--%s would be ignored: %s is %s", name, d.names[0], what)
		}
	}
	return nil
}

// beginning returns the first bytes of a file, without blanks before them.
func beginning(ctx context.Context, fsys hdfsio.FS, name string) (head []byte, err error) {
	err = readFile(ctx, fsys, name, func(in io.Reader) error {
		var b [16]byte
		n, err := io.ReadFull(in, b[:])
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return err
		}
		head = bytes.TrimSpace(b[:n])
		return nil
	})
	return head, err
}

// losses draws the losses of any number of runs.
func (d *drawing) losses(ctx context.Context) error {
	if err := d.ignored("no model", "top", "names", "data", "dictionary_path", "format"); err != nil {
		return err
	}
	var runs []*report.Run
	for _, name := range d.names {
		if err := readFile(ctx, d.fsys, name, func(in io.Reader) error {
			r, err := record.Read(name, in)
			runs = append(runs, &report.Run{Name: filepath.Base(name), Record: r})
			return err
		}); err != nil {
			return err
		}
	}
	byPass, byTime, byTraffic := report.Losses(runs)
	l := byPass
	switch x := d.s.Get("x"); x {
	case "", "pass":
	case "time":
		l = byTime
	case "bytes":
		l = byTraffic
	default:
		return cli.Usagef("--x: got %q, want pass, time or bytes for the record of a run", x)
	}
	if len(l.Series) == 0 {
		return cli.Usagef("gvw plot: no loss is known by %s", l.X)
	}
	l.Title = "Loss"
	return d.show(ctx, l, func() []byte { return l.AppendText(nil, plotColumns, plotRows) })
}

// search draws the losses of a search.
func (d *drawing) search(ctx context.Context) error {
	if err := d.ignored("no model", "top", "names", "data", "dictionary_path", "format"); err != nil {
		return err
	}
	if len(d.names) > 1 {
		return cli.Usagef("gvw plot: got %d files, want one of a search", len(d.names))
	}
	var l *chart.Lines
	if err := readFile(ctx, d.fsys, d.names[0], func(in io.Reader) error {
		text, err := io.ReadAll(io.LimitReader(in, maxJournal))
		if err != nil {
			return err
		}
		h, all, _, err := journal.Parse(text)
		if err != nil {
			return err
		}
		l, err = searchLines(h, all, d.s.Get("x"))
		return err
	}); err != nil {
		return err
	}
	return d.show(ctx, l, func() []byte { return l.AppendText(nil, plotColumns, plotRows) })
}

// maxJournal limits the journal of a search, in bytes.
const maxJournal = 1 << 30

// weights draws the largest weights of a model.
func (d *drawing) weights(ctx context.Context) error {
	if len(d.names) > 1 {
		return cli.Usagef("gvw plot: got %d models, want one", len(d.names))
	}
	if err := d.ignored("a model", "x"); err != nil {
		return err
	}
	w, err := readWeights(ctx, d.p, d.s, d.names[0])
	if err != nil {
		return err
	}
	bars := report.WeightBars(w.Top)
	bars.Title = "Largest weights of " + w.Model
	return d.show(ctx, bars, func() []byte { return bars.AppendText(nil, plotColumns/2) })
}
