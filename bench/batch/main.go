// SPDX-License-Identifier: Apache-2.0

// Command batch measures training by passes over all data, of gvw beside a peer
// that it runs in the same minute.
//
//	go run ./bench/batch -vw "python -m vowpalwabbit" -passes a9a20.vw
//	go run ./bench/batch -python python -optimum imdb.vw:100,assist2015.vw:10
//
// -passes: seconds of one data pass of L-BFGS, from runs of two lengths, beside
// the vw of PyPI, and nanoseconds a feature, beside a plain loop of one thread that
// adds up the gradient. -optimum: whole processes from a text file to within 0.1 % of
// the least objective, gvw's hybrid on two workers beside scikit-learn
// (load_svmlight_file and LogisticRegression), each with the fewest passes or
// iterations that suffice; what importing scikit-learn takes is left out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/gvw-project/gvw/bench/internal/cost"
	"github.com/gvw-project/gvw/bench/internal/setup"
)

// bench is one run of this program.
type bench struct {
	ctx    context.Context
	dir    string
	gvw    string
	vw     []string
	python []string
	runs   int
	json   bool
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "batch:", err)
		os.Exit(1)
	}
}

func run() error {
	vw := flag.String("vw", "python3 -m vowpalwabbit", "command line that starts the real vw")
	python := flag.String("python", "python3", "a Python that has scikit-learn")
	gvw := flag.String("gvw", "", "gvw binary; empty: built from this tree")
	runs := flag.Int("runs", 5, "runs of each program")
	passes := flag.String("passes", "", "vw text for seconds per data pass; empty: leave it out")
	optimum := flag.String("optimum", "", "FILE:LAMBDA,… for the way to the optimum; empty: leave it out")
	lines := flag.Bool("json", false, "with -passes: print a JSON object for each run, per pass, instead of text")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *passes == "" && *optimum == "" {
		return errors.New("nothing to measure: give -passes FILE or -optimum FILE:LAMBDA")
	}
	dir, err := os.MkdirTemp("", "gvw-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{ctx: ctx, dir: dir, gvw: *gvw, vw: strings.Fields(*vw), python: strings.Fields(*python), runs: *runs, json: *lines}
	if b.gvw == "" {
		if b.gvw, err = setup.Build(ctx, dir, "gvw"); err != nil {
			return err
		}
	}
	if !b.json {
		fmt.Printf("%s, medians of %d runs in turns\n", setup.Machine(), b.runs)
	}
	if *passes != "" {
		if err := b.passes(*passes); err != nil {
			return err
		}
	}
	if *optimum != "" {
		return b.optima(strings.Split(*optimum, ","))
	}
	return nil
}

// inTurns measures several command lines, run in turns, and returns the median of each.
func (b *bench) inTurns(lines ...[]string) ([]cost.Sample, error) {
	all, err := cost.InTurns(b.ctx, b.runs, lines...)
	if err != nil {
		return nil, err
	}
	out := make([]cost.Sample, len(lines))
	for i, s := range all {
		out[i] = cost.Median(s)
	}
	return out, nil
}
