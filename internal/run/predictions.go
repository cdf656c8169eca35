// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/feature/csv"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/run/dataorder"
	"github.com/gvw-project/gvw/internal/timeline"
	"github.com/gvw-project/gvw/learn"
)

// gatherAll writes the predictions and timelines of the ranks to the files that the user has named. The pieces of a file
// that it cannot write are kept, unless the user has ended the job.
func (p *launcher) gatherAll(ctx context.Context, fsys hdfsio.FS, pl *plan) error {
	if len(pl.gathered) == 0 {
		return nil
	}
	var order *dataorder.Order
	var orderErr error
	if slices.ContainsFunc(pl.gathered, func(g gathering) bool { return !g.timeline }) {
		order, orderErr = pl.order(ctx, fsys)
	}
	var errs []error
	for i := range pl.gathered {
		g := &pl.gathered[i]
		err := orderErr
		if g.timeline || err == nil {
			err = p.gatherOne(ctx, fsys, *g, order)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return errors.Join(append(errs, fmt.Errorf("cannot put together %s: %w", g.name, err))...)
		default:
			g.keep = true
			errs = append(errs, fmt.Errorf("cannot put together %s: %w; the ranks' pieces of it are kept: %s to %s",
				g.name, err, g.pieces[0], g.pieces[len(g.pieces)-1]))
		}
	}
	return errors.Join(errs...)
}

// order returns the order of predictions in the data. It returns nil, without reading the data
// again, if the pieces only need to be concatenated: after one pass over contiguous parts.
func (pl *plan) order(ctx context.Context, fsys hdfsio.FS) (*dataorder.Order, error) {
	w := pl.workers[0]
	h := w.Get("hybrid")
	// Over contiguous parts the order of the ranks is that of the data. Several passes repeat the
	// ranks in each pass, so the pieces must be cut into passes.
	onePass := !w.Has("passes") && h == "" || w.Get("passes") == "1" || strings.HasPrefix(h, "1:")
	if onePass && pl.kind != hdfsio.Lines {
		return nil, nil
	}
	files := make([][]string, len(pl.workers))
	for rank, w := range pl.workers {
		files[rank] = w.All("data")
	}
	d, err := dataorder.Read(ctx, fsys, pl.kind, files, dataFormat(w))
	return &d, err
}

// dataFormat returns the format of the data. The options must have been checked.
func dataFormat(s *cli.Settings) stream.Format {
	cfg := learn.Config{
		Data: learn.DataConfig{CSV: csv.Config{
			Separator:       s.Get("csv_separator"),
			Header:          s.Get("csv_header"),
			NoFileHeader:    s.Has("csv_no_file_header"),
			NamespaceValues: s.Get("csv_ns_value"),
			Label:           s.Get("label"),
		}},
	}
	for _, format := range learn.Formats {
		if s.Has(format) {
			cfg.Data.Format = format
		}
	}
	return cfg.DataFormat()
}

// gatherOne writes one file. A nil order concatenates the pieces of predictions.
func (p *launcher) gatherOne(ctx context.Context, fsys hdfsio.FS, g gathering, order *dataorder.Order) (err error) {
	var clocks timeline.Clocks
	if g.timeline {
		if err := p.readClocks(ctx, fsys, g.pieces, &clocks); err != nil {
			return err
		}
	}
	var pieces []io.Reader
	for _, name := range g.pieces {
		r, oerr := fsys.Open(ctx, name, 0)
		if g.timeline && errors.Is(oerr, os.ErrNotExist) {
			continue // of a rank that never started
		}
		if oerr != nil {
			return oerr
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		pieces = append(pieces, r)
	}
	out, err := p.files.Creator(ctx, fsys, 0)(g.name)
	if err != nil {
		return err
	}
	switch {
	case g.timeline:
		err = clocks.Merge(out, pieces...)
	case order == nil:
		_, err = io.Copy(out, io.MultiReader(pieces...))
	default:
		err = order.Merge(out, pieces)
	}
	if err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}

// readClocks reads the exchanges of the ranks with the clock of the server.
func (p *launcher) readClocks(ctx context.Context, fsys hdfsio.FS, pieces []string, clocks *timeline.Clocks) error {
	for _, name := range pieces {
		r, err := fsys.Open(ctx, name, 0)
		if errors.Is(err, os.ErrNotExist) {
			continue // of a rank that never started
		}
		if err != nil {
			return err
		}
		if err := errors.Join(clocks.Read(r), r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// removePieces removes the pieces of single ranks that are not to be kept, also those of a failed run.
func (pl *plan) removePieces(ctx context.Context, fsys hdfsio.FS) error {
	var errs []error
	for _, g := range pl.gathered {
		if g.keep {
			continue
		}
		for _, name := range g.pieces {
			if err := fsys.Remove(ctx, name); !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
