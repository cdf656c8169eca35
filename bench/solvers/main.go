// SPDX-License-Identifier: Apache-2.0

// Command solvers compares the batch solvers of gvw with each other and with scikit-learn's lbfgs
// and liblinear: passes, all-reduced vectors and seconds from a text file to within 0.1 % of the
// least objective. DIR has a folder for each set, with train.vw.gz:
//
//	go run ./bench/solvers -python PYTHON -data DIR
//
// PYTHON needs scikit-learn and liblinear-official.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/bench/internal/setup"
)

//go:embed peer.py
var peer []byte

const near = 1.001 // times the least objective is near enough

// solvers are the settings of gvw that are compared.
var solvers = []solver{
	{"lbfgs", nil},
	{"newton", []string{"--hessian_sample", "0.1"}},
	{"giant", nil},
	{"auto", nil},
}

type solver struct {
	name string
	many []string // options for more features than fit into a matrix
}

func main() {
	b := &bench{}
	python := flag.String("python", "python3", "interpreter with scikit-learn and liblinear-official")
	data := flag.String("data", "", "folder of the data sets")
	sets := flag.String("sets", "a9a:1,imdb:100,assist2015:10,kdd99:1,20news-bin:10", "SET:LAMBDA,…")
	flag.IntVar(&b.ranks, "ranks", 4, "ranks of the job whose passes and vectors are counted")
	flag.IntVar(&b.timed, "timed", 2, "ranks of the job that is timed")
	flag.IntVar(&b.rounds, "rounds", 3, "rounds of the times, of which the median counts; 0: count passes and vectors only")
	flag.StringVar(&b.seed, "seed", "0", "seed of the sample")
	flag.Parse()
	b.python = strings.Fields(*python)
	if err := b.run(*data, *sets); err != nil {
		fmt.Fprintln(os.Stderr, "solvers:", err)
		os.Exit(1)
	}
}

func (b *bench) run(data, sets string) error {
	var err error
	if b.dir, err = os.MkdirTemp("", "gvw-solvers-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b.ctx = ctx
	if b.gvw, err = setup.Build(ctx, b.dir, "gvw"); err != nil {
		return err
	}
	b.script = filepath.Join(b.dir, "peer.py")
	if err := os.WriteFile(b.script, peer, 0o600); err != nil {
		return err
	}
	versions, err := b.ask("versions")
	if err != nil {
		return err
	}
	commit, _ := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output() // empty without git
	fmt.Printf("gvw %s, %s; %s; seed %s\n", strings.TrimSpace(string(commit)), versions, setup.Machine(), b.seed)
	for s := range strings.SplitSeq(sets, ",") {
		name, lambda, ok := strings.Cut(s, ":")
		if v, err := strconv.ParseFloat(lambda, 64); !ok || err != nil || v <= 0 {
			return fmt.Errorf("%q is not SET:LAMBDA", s)
		}
		if err := b.set(data, name, lambda); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// set measures all programs on one data set, and prints its rows.
func (b *bench) set(data, name, lambda string) error {
	r := &race{bench: b, file: filepath.Join(b.dir, name+".svm"), lambda: lambda}
	defer os.Remove(r.file)
	shape, err := b.ask("prepare", data, name, r.file)
	if err != nil {
		return err
	}
	if _, err := fmt.Sscan(shape, &r.examples, &r.features); err != nil {
		return fmt.Errorf("the peer printed %q: %w", shape, err)
	}
	least, err := b.number("least", r.file, lambda)
	if err != nil {
		return err
	}
	r.goal = near * least
	fmt.Printf("\n%s, λ %s: %d examples, %d features; least objective %.8g by liblinear\n", name, lambda, r.examples, r.features, least)
	if b.rounds == 0 {
		return r.count()
	}
	lines := [][]string{}
	names := []string{"scikit-learn", "liblinear"}
	notes := make([]string, 2)
	for i, p := range []string{"sklearn", "liblinear"} {
		n, err := b.ask("fewest", p, r.file, lambda, strconv.FormatFloat(r.goal, 'g', -1, 64))
		if err != nil {
			return err
		}
		lines = append(lines, b.line("time", p, r.file, lambda, n))
		notes[i] = []string{"iterations ", "tolerance "}[i] + n
	}
	for _, s := range solvers {
		e, err := r.effort(s, b.ranks)
		if err != nil {
			return err
		}
		t, err := r.effort(s, b.timed)
		if err != nil {
			return err
		}
		if t.requests == 0 {
			fmt.Printf("gvw %-9s %v\n", s.name, t)
			continue
		}
		names = append(names, "gvw "+s.name)
		lines = append(lines, r.job(s, b.timed, t.requests))
		notes = append(notes, e.String())
	}
	seconds, err := b.inTurns(lines)
	if err != nil {
		return err
	}
	for i, n := range names {
		fmt.Printf("%-13s %6.2f s wall %6.2f s CPU", n, seconds[i].wall, seconds[i].cpu)
		if i > 1 {
			fmt.Printf("  of scikit-learn %.2f, %.2f  of liblinear %.2f, %.2f",
				seconds[i].wall/seconds[0].wall, seconds[i].cpu/seconds[0].cpu, seconds[i].wall/seconds[1].wall, seconds[i].cpu/seconds[1].cpu)
		}
		fmt.Printf("  %s\n", notes[i])
	}
	return nil
}

// count prints what the solvers need, without times.
func (r *race) count() error {
	for _, s := range solvers {
		e, err := r.effort(s, r.ranks)
		if err != nil {
			return err
		}
		fmt.Printf("gvw %-9s %v\n", s.name, e)
	}
	return nil
}

// inTurns measures the lines in turns, and returns the medians.
func (b *bench) inTurns(lines [][]string) ([]seconds, error) {
	all := make([][]seconds, len(lines))
	for range b.rounds {
		for i, line := range lines {
			s, out, err := b.measure(line)
			if err != nil {
				return nil, err
			}
			if i < 2 { // the peers measure themselves, without their imports
				if _, err := fmt.Sscan(out, &s.wall, &s.cpu); err != nil {
					return nil, fmt.Errorf("the peer printed %q: %w", out, err)
				}
			}
			all[i] = append(all[i], s)
		}
	}
	medians := make([]seconds, len(lines))
	for i, s := range all {
		slices.SortFunc(s, func(a, b seconds) int { return cmp.Compare(a.cpu, b.cpu) })
		medians[i] = s[len(s)/2]
	}
	return medians, nil
}
