// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/bench/internal/setup"
)

// ranks is the number of ranks of the jobs of gvw.
const ranks = 4

// jobs runs jobs of gvw whose ranks are processes.
type jobs struct {
	gvw, server string // programs
	dir         string // of caches, models and logs
}

// newJobs builds the programs in a temporary directory, which end removes.
func newJobs(ctx context.Context) (j *jobs, end func() error, err error) {
	dir, err := os.MkdirTemp("", "gvw-figures-")
	if err != nil {
		return nil, nil, err
	}
	end = func() error { return os.RemoveAll(dir) }
	j = &jobs{dir: dir}
	if j.gvw, err = setup.Build(ctx, dir, "gvw"); err == nil {
		j.server, err = setup.Build(ctx, dir, "spanning_tree")
	}
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return j, end, nil
}

func (j *jobs) path(name string) string { return filepath.Join(j.dir, name) }

// outcome is what a job has taken, and what it has printed.
type outcome struct {
	seconds []float64 // since the start of rank 0, by the number of passes completed; 0 at 0
	cpu     float64   // processor seconds of a rank, on average
	text    string    // of rank 0 and of the launcher
}

// passLine is a line of --log_json.
type passLine struct {
	Seconds float64 `json:"seconds"`
}

// run runs a job. Ranks are on the loopback, or behind network links of this rate if it is not "".
func (j *jobs) run(ctx context.Context, rate string, args ...string) (o outcome, err error) {
	log := j.path("passes.json")
	args = append(args, "--log_json", log)
	var cmd *exec.Cmd
	if rate == "" {
		line := []string{"run", "-n", strconv.Itoa(ranks), "--max_restarts", "0", "--log_dir", j.path("logs"), "--"}
		cmd = exec.CommandContext(ctx, j.gvw, append(line, args...)...)
	} else {
		cmd = j.behindLinks(ctx, rate, args)
	}
	text, err := cmd.CombinedOutput()
	if err != nil {
		return o, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, text)
	}
	o.text = string(text)
	o.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds() / ranks
	o.seconds, err = readSeconds(log)
	return o, err
}

// readSeconds reads the times of passes.
func readSeconds(name string) ([]float64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	seconds := []float64{0}
	for s := bufio.NewScanner(f); s.Scan(); {
		var l passLine
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		seconds = append(seconds, l.Seconds)
	}
	return seconds, nil
}

// traceRow is a row of the trace of a batch solver: the number of the request, and the objective.
var traceRow = regexp.MustCompile(`(?m)^ *(\d+) (\d+\.\d+) +\t`)

// trace returns the rows of the trace: requests and objectives.
func (o *outcome) trace() (requests []int, values []float64) {
	for _, m := range traceRow.FindAllStringSubmatch(o.text, -1) {
		n, _ := strconv.Atoi(m[1])
		v, _ := strconv.ParseFloat(m[2], 64)
		requests, values = append(requests, n), append(values, v)
	}
	return requests, values
}
