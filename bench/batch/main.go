// SPDX-License-Identifier: Apache-2.0

// Command batch measures training by passes over all data, of gvw beside a peer
// that it runs in the same minute.
//
//	go run ./bench/batch -vw "python -m vowpalwabbit" -passes a9a20.vw
//	go run ./bench/batch -python python -optimum imdb.vw:100,assist2015.vw:10
//
// -passes: seconds of one data pass of L-BFGS, from runs of two lengths, beside
// the vw of PyPI. -optimum: whole processes from a text file to within 0.1 % of
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
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/gvw-project/gvw/bench/internal/setup"
)

// bench is one run of this program.
type bench struct {
	dir    string
	gvw    string
	vw     []string
	python []string
	runs   int
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
	flag.Parse()
	if *passes == "" && *optimum == "" {
		return errors.New("nothing to measure: give -passes FILE or -optimum FILE:LAMBDA")
	}
	dir, err := os.MkdirTemp("", "gvw-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, gvw: *gvw, vw: strings.Fields(*vw), python: strings.Fields(*python), runs: *runs}
	if b.gvw == "" {
		if b.gvw, err = setup.Build(context.Background(), dir, "gvw"); err != nil {
			return err
		}
	}
	fmt.Printf("%s, medians of %d runs in turns\n", setup.Machine(), b.runs)
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

// cost is what a process used, in seconds.
type cost struct{ wall, cpu float64 }

// measure runs a command line to its end and returns its cost and its output on stdout and
// stderr.
func measure(args ...string) (cost, string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	c := cost{wall: time.Since(begun).Seconds()}
	if err != nil {
		return c, "", fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	c.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return c, string(out), nil
}

// inTurns measures several command lines, run in turns, and returns the median of each.
func (b *bench) inTurns(lines ...[]string) ([]cost, error) {
	all := make([][]cost, len(lines))
	for range b.runs {
		for i, l := range lines {
			c, _, err := measure(l...)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], c)
		}
	}
	out := make([]cost, len(lines))
	for i, cs := range all {
		at := func(f func(cost) float64) float64 {
			v := make([]float64, len(cs))
			for k, c := range cs {
				v[k] = f(c)
			}
			slices.Sort(v)
			return v[len(v)/2]
		}
		out[i] = cost{wall: at(func(c cost) float64 { return c.wall }), cpu: at(func(c cost) float64 { return c.cpu })}
	}
	return out, nil
}
