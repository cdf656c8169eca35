// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/bench/internal/cost"
)

// besideVW measures a row of bench/pass.
func besideVW(name string) func(ctx context.Context, s *session) (outcome, error) {
	return func(ctx context.Context, s *session) (outcome, error) {
		if s.vw == nil {
			return outcome{}, missing(s.vwWhy)
		}
		lines, _, err := s.benchmark(ctx, "pass", "-vw", strings.Join(s.vw, " "), "-gvw", s.gvw, "-runs", strconv.Itoa(s.runs),
			"-data", filepath.Dir(s.sparse), "-only", name)
		if err != nil {
			return outcome{}, err
		}
		return pair(lines, "gvw", "vw", s.vwVersion), nil
	}
}

// pair returns the outcome of two programs by their wall times.
func pair(lines []cost.Line, ours, anchor, peer string) (o outcome) {
	o.ours, o.oursCPU = program(lines, ours, wallOf)
	o.anchor, o.anchorCPU = program(lines, anchor, wallOf)
	o.peer = peer
	return o
}

// classes measures one-against-all on text of twenty classes.
func classes(ctx context.Context, s *session) (outcome, error) {
	file, err := s.text("20news")
	if err != nil {
		return outcome{}, err
	}
	if s.vw == nil {
		return outcome{}, missing(s.vwWhy)
	}
	options := []string{"-d", file, "--oaa", "20", "--loss_function", "logistic", "-b", "18"}
	got, err := cost.InTurns(ctx, s.runs, append([]string{s.gvw}, options...), append(append([]string(nil), s.vw...), options...))
	if err != nil {
		return outcome{}, err
	}
	o := inTurns(got)
	o.peer = s.vwVersion
	o.note = fmt.Sprintf("average loss %.4f, of vw %.4f", got[0][0].Loss, got[1][0].Loss)
	if got[0][0].Loss > 1.001*got[1][0].Loss {
		o.worse = "a larger loss"
	}
	return o, nil
}

// inTurns returns the outcome of gvw's samples and those of the anchor by their wall times.
func inTurns(got [][]cost.Sample) outcome {
	return outcome{ours: walls(got[0]), anchor: walls(got[1]), oursCPU: cpus(got[0]), anchorCPU: cpus(got[1])}
}

// largeTable compares tables of 2^28 weights with 2^18, with the weights that the data have, and with vw's memory.
func largeTable(ctx context.Context, s *session) ([]outcome, error) {
	line := func(program []string, bits string) []string {
		return append(append([]string(nil), program...), "-d", s.sparse, "--loss_function", "logistic", "-b", bits, "--quiet")
	}
	gvw := []string{s.gvw}
	got, err := cost.InTurns(ctx, s.runs, line(gvw, "28"), line(gvw, "18"))
	if err != nil {
		return nil, err
	}
	large, small := got[0], got[1]
	used, err := touched(s.sparse, 28)
	if err != nil {
		return nil, err
	}
	const cell = 16 // bytes of a weight with its state in the default update rule
	weights := float64(used) * cell / 1e6
	speed, memory := inTurns(got), outcome{peer: fmt.Sprintf("%d touched weights of %d bytes", used, cell)}
	for i := range large {
		// A table of 2^18 weights is touched as a whole, and the rest of the process is the same.
		memory.ours = append(memory.ours, large[i].Memory-small[i].Memory+cell*(1<<18)/1e6)
		memory.anchor = append(memory.anchor, weights)
	}
	against := outcome{ours: memories(large), missing: s.vwWhy}
	if s.vw != nil {
		theirs, err := cost.InTurns(ctx, min(s.runs, 3), line(s.vw, "28"))
		if err != nil {
			return nil, err
		}
		against.anchor, against.peer = memories(theirs[0]), s.vwVersion+" -b 28"
		against.note = fmt.Sprintf("wall time: vw %.3g s", quartilesOf(walls(theirs[0])).median)
	}
	return []outcome{speed, memory, against}, nil
}

// lbfgsPass measures nanoseconds a feature of a data pass.
func lbfgsPass(ctx context.Context, s *session) (outcome, error) {
	file, err := s.text("imdb")
	note := "imdb"
	if err != nil {
		file, note = s.sparse, "made data, sparse"
	}
	if s.vw == nil {
		return outcome{}, missing(s.vwWhy)
	}
	lines, _, err := s.benchmark(ctx, "batch", "-vw", strings.Join(s.vw, " "), "-gvw", s.gvw, "-runs", strconv.Itoa(s.runs), "-passes", file)
	if err != nil {
		return outcome{}, err
	}
	perFeature := func(l cost.Line) float64 { return l.Wall / l.Count * 1e9 }
	var o outcome
	o.ours, o.oursCPU = program(lines, "gvw", perFeature)
	o.anchor, o.anchorCPU = program(lines, "bare loop", perFeature)
	o.peer = "bare loop, one thread"
	vw, _ := program(lines, "vw", perFeature)
	o.note = fmt.Sprintf("%s; a feature takes vw %.3g ns", note, quartilesOf(vw).median)
	return o, nil
}

// problem is a data set with its λ and what bench/solvers has found for it, so that it need not be searched in each run: the least
// objective, and the settings of scikit-learn and liblinear. Each timed run of these is checked against the objective.
type problem struct{ set, lambda, least, iterations, tolerance string }

var versions = regexp.MustCompile(`scikit-learn \S+ liblinear-official [^\s;]+`)

// measure measures the time from a text file to within 0.1 % of the least objective, in one process, which is what gvw is
// without gvw run.
func (p problem) measure(ctx context.Context, s *session) (outcome, error) {
	if s.python == "" {
		return outcome{}, missing("it needs -python with scikit-learn and liblinear-official")
	}
	if _, err := s.text(strings.TrimSuffix(p.set, "-bin")); err != nil {
		return outcome{}, err
	}
	lines, talk, err := s.benchmark(ctx, "solvers", "-python", s.python, "-data", s.data, "-sets", p.set+":"+p.lambda,
		"-known", strings.Join([]string{p.set, p.least, p.iterations, p.tolerance}, ":"), "-solvers", "auto",
		"-rounds", strconv.Itoa(s.runs), "-timed", "1")
	if err != nil {
		return outcome{}, err
	}
	best := "liblinear"
	learn, _ := program(lines, "scikit-learn", wallOf)
	linear, _ := program(lines, "liblinear", wallOf)
	if quartilesOf(learn).median < quartilesOf(linear).median {
		best = "scikit-learn"
	}
	o := pair(lines, "gvw auto", best, best)
	if len(o.ours) == 0 {
		return outcome{}, missing("gvw does not reach the objective")
	}
	o.note = fmt.Sprintf("scikit-learn %.3g s, liblinear %.3g s (%s)", quartilesOf(learn).median, quartilesOf(linear).median, versions.FindString(talk))
	return o, nil
}
