// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/bits"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/bench/internal/cost"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/optim/newton"
)

// bench is the setting of all measurements.
type bench struct {
	ctx                  context.Context
	dir, gvw             string
	python               []string
	script, seed         string
	ranks, timed, rounds int
	only, known          string
	json                 bool
	table                io.Writer // for people
}

// measure runs a command and returns its times and its output.
func (b *bench) measure(line []string) (cost.Sample, string, error) {
	cmd := exec.CommandContext(b.ctx, line[0], line[1:]...)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		return cost.Sample{}, "", fmt.Errorf("%s: %w\n%s", strings.Join(line, " "), err, diag.String())
	}
	p := cmd.ProcessState
	s := cost.Sample{Wall: time.Since(begun).Seconds(), CPU: (p.UserTime() + p.SystemTime()).Seconds()}
	if out.Len() == 0 {
		return s, diag.String(), nil
	}
	return s, strings.TrimSpace(out.String()), nil
}

// line returns the command line of the peer.
func (b *bench) line(args ...string) []string {
	return append(append(append([]string(nil), b.python...), b.script), args...)
}

// ask runs the peer and returns what it prints.
func (b *bench) ask(args ...string) (string, error) {
	_, out, err := b.measure(b.line(args...))
	return out, err
}

func (b *bench) number(args ...string) (float64, error) {
	out, err := b.ask(args...)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(out, 64)
}

// race is one data set.
type race struct {
	*bench
	file, lambda       string
	goal               float64
	examples, features int
}

// tableBits returns the least -b with which no two features share a weight: a feature of LibSVM text
// has the weight of its number, from 1.
func tableBits(features int) int {
	b := bits.Len(uint(features))
	for feature.ConstantIndex&(1<<b-1) <= uint32(features) {
		b++
	}
	return b
}

// job returns the command line of gvw, with the number of requests of its solver. One rank is a process without gvw run.
func (r *race) job(s solver, ranks, requests int) []string {
	line, cache := []string{r.gvw}, "cache.0"
	if ranks > 1 {
		line = append(line, "run", "-n", strconv.Itoa(ranks), "--log_dir", filepath.Join(r.dir, "logs"), "--")
		cache = "cache.{rank}"
	}
	line = append(line, "-d", r.file, "--libsvm", "-b", strconv.Itoa(tableBits(r.features)),
		"--hybrid", fmt.Sprintf("1:%d", requests), "--l2", r.lambda, "--loss_function", "logistic", "--holdout_off", "--random_seed", r.seed,
		"--termination", "0", "-k", "--cache_file", filepath.Join(r.dir, cache), "-f", filepath.Join(r.dir, "model"))
	line = append(line, "--solver", s.name)
	if r.features > newton.MaxFeatures {
		line = append(line, s.many...)
	}
	return line
}

// effort is what a solver needs to reach the goal after one pass of SGD, the pass and the
// vectors of that not counted. No requests: it does not reach the goal.
type effort struct {
	requests, ranks int
	passes          float64
	vectors         int
	matrices        int
	chosen          string // by auto, with the times that it has measured
}

func (e effort) String() string {
	if e.requests == 0 {
		return fmt.Sprintf("%d ranks: the goal is not reached in %d requests", e.ranks, most)
	}
	matrices := ""
	if e.matrices > 0 {
		matrices = fmt.Sprintf(", %d matrices", e.matrices)
	}
	return fmt.Sprintf("%d ranks: %.1f passes, %d vectors%s%s", e.ranks, e.passes, e.vectors, matrices, e.chosen)
}

var (
	row    = regexp.MustCompile(`(?m)^ ?(\d+) (\d+\.\d+) +\t`)
	counts = regexp.MustCompile(`msg="the solver has ended" solver=\S+ passes=(\S+) products=\d+ vectors=(\d+) matrices=(\d+)`)
	choice = regexp.MustCompile(`solver=(\S+) pass_seconds=(\S+) allreduce_seconds=(\S+)`)
)

const most = 250 // requests that a solver may need

// effort finds the number of requests by the trace of a long run, and counts in one that ends
// there.
func (r *race) effort(s solver, ranks int) (effort, error) {
	e := effort{ranks: ranks}
	_, trace, err := r.measure(r.job(s, ranks, most))
	if err != nil {
		return e, err
	}
	for _, m := range row.FindAllStringSubmatch(trace, -1) {
		pass, _ := strconv.Atoi(m[1]) // the expression matches numbers only
		loss, _ := strconv.ParseFloat(m[2], 64)
		if loss*float64(r.examples) <= r.goal {
			e.requests = max(2, pass-1) // its weights are those that the request before has made
			break
		}
	}
	if e.requests == 0 {
		return e, nil
	}
	_, trace, err = r.measure(r.job(s, ranks, e.requests))
	if err != nil {
		return e, err
	}
	if m := choice.FindStringSubmatch(trace); m != nil {
		pass, _ := strconv.ParseFloat(m[2], 64)
		reduce, _ := strconv.ParseFloat(m[3], 64)
		e.chosen = fmt.Sprintf(" (chose %s: pass %.4f s, all-reduce %.4f s)", m[1], pass, reduce)
	}
	if m := counts.FindStringSubmatch(trace); m != nil {
		e.passes, _ = strconv.ParseFloat(m[1], 64)
		e.vectors, _ = strconv.Atoi(m[2])
		e.matrices, _ = strconv.Atoi(m[3])
		return e, nil
	}
	// L-BFGS: each request is a pass. The first one has two vectors, the curvature has none.
	e.passes, e.vectors = float64(e.requests), e.requests
	return e, nil
}
