// SPDX-License-Identifier: Apache-2.0

// Command averaging measures how much faster several ranks of one machine train than one process, to the same loss.
//
//	go run ./bench/averaging -ranks 2
//
// It draws a data set, and trains with each learning rate and number of passes: in one process, with averages of models
// on several ranks, and in one process with threads that update the weights without locks. Of each way it takes the rate
// and the fewest passes that reach the best loss of one process with one thread and the same rule on a test set, and
// measures these in turn. Examples are read from caches, which are made before.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gvw-project/gvw/bench/internal/setup"
)

func main() {
	var b bench
	flag.IntVar(&b.data.examples, "examples", 400_000, "examples of the data set")
	flag.IntVar(&b.data.features, "features", 40, "features of an example")
	flag.IntVar(&b.data.names, "names", 50_000, "different features")
	flag.Uint64Var(&b.data.seed, "seed", 1, "seed of the data set")
	flag.IntVar(&b.ranks, "ranks", 2, "ranks")
	flag.IntVar(&b.passes, "passes", 8, "passes of one process, whose loss is the target")
	flag.IntVar(&b.runs, "runs", 5, "measurements of each way, of which the median counts")
	flag.StringVar(&b.options, "options", "--l2 1e-6", "further options of the ways with averages")
	flag.StringVar(&b.gvw, "gvw", "", "gvw to measure; empty: it is built")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "averaging:", err)
		os.Exit(1)
	}
}

// bench is the measurement.
type bench struct {
	data                dataset
	ranks, passes, runs int
	options             string

	gvw, dir string
}

// way is a way to train.
type way struct {
	name    string
	ranks   int // 1: one process
	threads int // of each rank
	options string
}

// group has ways with one rule of updates. The first is one process with one thread.
type group struct {
	rates []float64 // learning rates that each way tries
	ways  []way
}

// trial is a training of a way.
type trial struct {
	way
	rate   float64
	passes int
}

// outcome is what a training has taken, and its loss.
type outcome struct {
	wall, cpu time.Duration
	loss      float64 // on the test set
}

func (b *bench) run(ctx context.Context) (err error) {
	if b.dir, err = os.MkdirTemp("", "averaging-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if b.gvw == "" {
		if b.gvw, err = setup.Build(ctx, b.dir, "gvw"); err != nil {
			return err
		}
	}
	if err := b.data.write(b.path("train.vw"), b.path("test.vw")); err != nil {
		return err
	}
	version, err := b.output(ctx, "--version")
	if err != nil {
		return err
	}
	fmt.Printf("%s, %s, %s; seed %d, %d examples of %d features, options %q\n\n", strings.SplitN(version, "\n", 2)[0], runtime.Version(), setup.Machine(),
		b.data.seed, b.data.examples, b.data.features, b.options)
	momentum := 1 - 1/float64(b.ranks) // the mean of n models has moved 1/n as far
	average := "--aggregate model " + b.options
	for _, g := range []group{
		{[]float64{2, 4, 6, 8, 12, 16}, []way{
			{"one process", 1, 1, average},
			{fmt.Sprintf("%d ranks, averages at the end of a pass", b.ranks), b.ranks, 1, average},
			{fmt.Sprintf("%d ranks, averages after 0.1 of a pass", b.ranks), b.ranks, 1, average + " --average_every 0.1"},
			{fmt.Sprintf("%d ranks, outer momentum %.2g", b.ranks, momentum), b.ranks, 1, average + fmt.Sprintf(" --average_every 0.1 --outer_momentum %g", momentum)},
		}},
		{[]float64{0.1, 0.2, 0.35, 0.5, 0.75, 1}, []way{
			{"one process, vw's rule", 1, 1, ""},
			{fmt.Sprintf("%d threads without locks, vw's rule", b.ranks), 1, b.ranks, fmt.Sprintf("--hogwild %d", b.ranks)},
		}},
	} {
		if err := b.measure(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// measure prints the table of a group.
func (b *bench) measure(ctx context.Context, g group) error {
	target := math.Inf(1)
	for _, rate := range g.rates {
		o, err := b.train(ctx, trial{g.ways[0], rate, b.passes})
		if err != nil {
			return err
		}
		target = min(target, o.loss)
	}
	target *= 1.0005 // rounding and the order of the examples
	var trials []trial
	for _, w := range g.ways {
		winner, err := b.fewest(ctx, w, g.rates, target)
		if err != nil {
			return err
		}
		trials = append(trials, winner)
	}
	return b.compare(ctx, trials, target)
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// fewest returns the trial of a way that reaches the target in the fewest passes. It has no passes if none does.
func (b *bench) fewest(ctx context.Context, w way, rates []float64, target float64) (trial, error) {
	for passes := 1; passes <= 4*b.passes; passes++ {
		for _, rate := range rates {
			t := trial{w, rate, passes}
			if o, err := b.train(ctx, t); err != nil || o.loss <= target {
				return t, err
			}
		}
	}
	return trial{way: w}, nil
}

// compare measures the trials in turn and prints them beside the first.
func (b *bench) compare(ctx context.Context, trials []trial, target float64) error {
	walls, cpus := make([][]float64, len(trials)), make([][]float64, len(trials))
	losses := make([]float64, len(trials))
	for range b.runs {
		for i, t := range trials {
			if t.passes == 0 {
				continue
			}
			o, err := b.train(ctx, t)
			if err != nil {
				return err
			}
			walls[i], cpus[i], losses[i] = append(walls[i], o.wall.Seconds()), append(cpus[i], o.cpu.Seconds()), o.loss
		}
	}
	fmt.Printf("to a loss of %.5f, medians of %d runs\n\n| way | rate | passes | loss | s | CPU s per core | ratio | ratio by CPU |\n|---|--:|--:|--:|--:|--:|--:|--:|\n", target, b.runs)
	for i, t := range trials {
		if t.passes == 0 {
			fmt.Printf("| %s | | more than %d | | | | | |\n", t.name, 4*b.passes)
			continue
		}
		wall, cpu := median(walls[i]), median(cpus[i])/float64(t.ranks*t.threads)
		fmt.Printf("| %s | %g | %d | %.5f | %.3f | %.3f | %.2f | %.2f |\n", t.name, t.rate, t.passes, losses[i], wall, cpu, median(walls[0])/wall, median(cpus[0])/cpu)
	}
	fmt.Println()
	return nil
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
