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

	"github.com/gvw-project/gvw/bench/internal/cost"
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
	flag.IntVar(&b.timed, "timed", 2, "ranks of the job that is timed; 1: a process without gvw run")
	flag.IntVar(&b.rounds, "rounds", 3, "rounds of the times, of which the median counts; 0: count passes and vectors only")
	flag.StringVar(&b.only, "solvers", "lbfgs,newton,giant,auto", "values of --solver that are measured")
	flag.StringVar(&b.known, "known", "", "SET:LEAST:ITERATIONS:TOLERANCE,… the least objective and the settings of the peers, which are not searched then")
	flag.BoolVar(&b.json, "json", false, "print a JSON object for each timed run instead of the table, and do not count passes on -ranks")
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
	b.table = os.Stdout
	if b.json {
		b.table = os.Stderr
	}
	fmt.Fprintf(b.table, "gvw %s, %s; %s; seed %s\n", strings.TrimSpace(string(commit)), versions, setup.Machine(), b.seed)
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
	least, settings, err := b.knownSettings(name)
	if err == nil && settings == nil {
		least, err = b.number("least", r.file, lambda)
	}
	if err != nil {
		return err
	}
	r.goal = near * least
	fmt.Fprintf(b.table, "\n%s, λ %s: %d examples, %d features; least objective %.8g by liblinear\n", name, lambda, r.examples, r.features, least)
	if b.rounds == 0 {
		return r.count()
	}
	lines := [][]string{}
	names := []string{"scikit-learn", "liblinear"}
	notes := make([]string, 2)
	for i, p := range []string{"sklearn", "liblinear"} {
		n := ""
		if settings != nil {
			n = settings[i]
		} else if n, err = b.ask("fewest", p, r.file, lambda, strconv.FormatFloat(r.goal, 'g', -1, 64)); err != nil {
			return err
		}
		lines = append(lines, b.line("time", p, r.file, lambda, n))
		notes[i] = []string{"iterations ", "tolerance "}[i] + n
	}
	for _, s := range b.chosen() {
		var e effort
		if !b.json {
			if e, err = r.effort(s, b.ranks); err != nil {
				return err
			}
		}
		t, err := r.effort(s, b.timed)
		if err != nil {
			return err
		}
		if b.json {
			e = t
		}
		if t.requests == 0 {
			fmt.Fprintf(b.table, "gvw %-9s %v\n", s.name, t)
			continue
		}
		names = append(names, "gvw "+s.name)
		lines = append(lines, r.job(s, b.timed, t.requests))
		notes = append(notes, e.String())
	}
	all, err := b.inTurns(r.goal, lines)
	if err != nil {
		return err
	}
	seconds := make([]cost.Sample, len(all))
	for i, s := range all {
		if b.json {
			if err := cost.WriteLines(os.Stdout, name, names[i], 0, s...); err != nil {
				return err
			}
		}
		slices.SortFunc(s, func(a, b cost.Sample) int { return cmp.Compare(a.CPU, b.CPU) })
		seconds[i] = s[len(s)/2]
	}
	for i, n := range names {
		fmt.Fprintf(b.table, "%-13s %6.2f s wall %6.2f s CPU", n, seconds[i].Wall, seconds[i].CPU)
		if i > 1 {
			fmt.Fprintf(b.table, "  of scikit-learn %.2f, %.2f  of liblinear %.2f, %.2f",
				seconds[i].Wall/seconds[0].Wall, seconds[i].CPU/seconds[0].CPU, seconds[i].Wall/seconds[1].Wall, seconds[i].CPU/seconds[1].CPU)
		}
		fmt.Fprintf(b.table, "  %s\n", notes[i])
	}
	return nil
}

// chosen returns the solvers that are measured.
func (b *bench) chosen() (some []solver) {
	for _, s := range solvers {
		if slices.Contains(strings.Split(b.only, ","), s.name) {
			some = append(some, s)
		}
	}
	return some
}

// count prints what the solvers need, without times.
func (r *race) count() error {
	for _, s := range r.chosen() {
		e, err := r.effort(s, r.ranks)
		if err != nil {
			return err
		}
		fmt.Printf("gvw %-9s %v\n", s.name, e)
	}
	return nil
}

// knownSettings returns what -known has about a set: the least objective, and the settings of scikit-learn and liblinear.
// The settings are nil if it has nothing.
func (b *bench) knownSettings(name string) (least float64, settings []string, err error) {
	for entry := range strings.SplitSeq(b.known, ",") {
		if f := strings.Split(entry, ":"); f[0] == name {
			if len(f) != 4 {
				return 0, nil, fmt.Errorf("-known: got %q, want SET:LEAST:ITERATIONS:TOLERANCE", entry)
			}
			least, err = strconv.ParseFloat(f[1], 64)
			return least, f[2:], err
		}
	}
	return 0, nil, nil
}

// inTurns measures the lines in turns. A peer whose objective is above the goal is an error.
func (b *bench) inTurns(goal float64, lines [][]string) ([][]cost.Sample, error) {
	all := make([][]cost.Sample, len(lines))
	for range b.rounds {
		for i, line := range lines {
			s, out, err := b.measure(line)
			if err != nil {
				return nil, err
			}
			if i < 2 { // the peers measure themselves, without their imports
				var objective float64
				if _, err := fmt.Sscan(out, &s.Wall, &s.CPU, &objective); err != nil {
					return nil, fmt.Errorf("the peer printed %q: %w", out, err)
				}
				if !(objective <= goal) {
					return nil, fmt.Errorf("%s comes to %g, want at most %g: leave out -known, so that its setting is searched", strings.Join(line, " "), objective, goal)
				}
			}
			all[i] = append(all[i], s)
		}
	}
	return all, nil
}
