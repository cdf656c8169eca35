// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/gvw-project/gvw/bench/internal/figure"
	"github.com/gvw-project/gvw/bench/internal/setup"
)

// options are the flags.
type options struct {
	vw, python, data, only, out string
	runs, lines                 int
}

func main() {
	var o options
	flag.StringVar(&o.vw, "vw", "python3 -m vowpalwabbit", "`command` that starts the real vw")
	flag.StringVar(&o.python, "python", "", "a `Python` with scikit-learn and liblinear-official; empty: times to the optimum are not measured")
	flag.StringVar(&o.data, "data", "", "`directory` of the data sets; empty: rows that need one are not measured")
	flag.StringVar(&o.only, "only", "", "measure rows whose name matches the `regexp`; no figure is written then")
	flag.IntVar(&o.runs, "runs", 5, "turns of each program")
	flag.IntVar(&o.lines, "lines", 200_000, "lines of the made data, at least 8,000")
	flag.StringVar(&o.out, "out", "", "`directory` for compare.csv; empty: it is not written")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, o options, w io.Writer) (err error) {
	wanted, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	var groups []group
	for _, g := range table() {
		if slices.ContainsFunc(g.rows, func(r row) bool { return wanted.MatchString(r.name) }) {
			groups = append(groups, g)
		}
	}
	if groups == nil {
		return fmt.Errorf("no row matches -only %s", o.only)
	}
	dir, err := os.MkdirTemp("", "gvw-compare-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &session{dir: dir, python: o.python, data: o.data, runs: max(o.runs, 1), sparse: filepath.Join(dir, "sparse.vw"), benchmarks: map[string]string{}}
	if s.gvw, err = setup.Build(ctx, dir, "gvw"); err != nil {
		return err
	}
	s.findVW(ctx, o.vw)
	if err := makeData(dir, o.lines); err != nil {
		return err
	}
	begun, before := time.Now(), setup.Machine()
	origin := figure.OriginOf(ctx, begun)
	var rows []row
	var outcomes []outcome
	var failed error
	for _, g := range groups {
		start := time.Now()
		got, err := g.measure(ctx, s)
		if why, ok := errors.AsType[missing](err); ok {
			got = slices.Repeat([]outcome{{missing: string(why)}}, len(g.rows))
		} else if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failed = errors.Join(failed, fmt.Errorf("%s: %w", g.rows[0].name, err))
			got = slices.Repeat([]outcome{{missing: err.Error()}}, len(g.rows))
		}
		fmt.Fprintf(os.Stderr, "%s: %.1f s, load %s\n", g.rows[0].name, time.Since(start).Seconds(), setup.Load())
		rows, outcomes = append(rows, g.rows...), append(outcomes, got...)
	}
	method := fmt.Sprintf("%d turns of each program, %d lines of made data, %s before and load %s after, %.0f min; %s; gvw %s",
		s.runs, o.lines, before, setup.Load(), time.Since(begun).Minutes(), cmp.Or(s.vwVersion, oneLine(s.vwWhy)), origin.Commit)
	fmt.Fprintf(w, "%s, %s: %s\n\n", origin.Date, origin.Machine, method)
	if err := writeTable(w, rows, outcomes); err != nil {
		return err
	}
	if o.out == "" || o.only != "" || failed != nil {
		return failed
	}
	f := figureOf(rows, outcomes, method)
	f.Origin = origin
	if err := f.Write(o.out, `go run ./bench/compare -vw "PYTHON -m vowpalwabbit" -python PYTHON -data DIR -out docs/figures`); err != nil {
		return err
	}
	return figure.Index(o.out)
}
