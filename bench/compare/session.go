// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gvw-project/gvw/bench/internal/cost"
)

// session is one run of this program.
type session struct {
	dir    string // for all files that are made
	gvw    string
	vw     []string // nil: there is none
	python string   // "": none has scikit-learn and liblinear
	data   string
	runs   int

	vwVersion  string
	vwWhy      string // why vw is nil
	mpi        string // name and version of Open MPI, once it has been asked
	sparse     string // sparse.vw
	benchmarks map[string]string
}

// missing is the reason why a row is not measured.
type missing string

func (m missing) Error() string { return string(m) }

// findVW looks for the real vw.
func (s *session) findVW(ctx context.Context, command string) {
	_, out, err := cost.Measure(ctx, append(strings.Fields(command), "--version")...)
	if err != nil {
		s.vwWhy = "vw is not there: " + err.Error()
		return
	}
	s.vw = strings.Fields(command)
	version, _, _ := strings.Cut(strings.TrimSpace(out), " ")
	s.vwVersion = "vw " + version
}

// benchmark runs another benchmark of this tree and returns its lines, and what it printed to stderr.
func (s *session) benchmark(ctx context.Context, name string, args ...string) ([]cost.Line, string, error) {
	bin, ok := s.benchmarks[name]
	if !ok {
		bin = filepath.Join(s.dir, "bench-"+name)
		out, err := exec.CommandContext(ctx, "go", "build", "-o", bin, "github.com/gvw-project/gvw/bench/"+name).CombinedOutput()
		if err != nil {
			return nil, "", fmt.Errorf("cannot build bench/%s: %w\n%s", name, err, out)
		}
		s.benchmarks[name] = bin
	}
	out, talk, err := run(ctx, append([]string{bin, "-json"}, args...))
	if err != nil {
		return nil, "", err
	}
	lines, err := cost.ReadLines(bytes.NewReader(out))
	if err != nil {
		return nil, "", fmt.Errorf("bench/%s: %w", name, err)
	}
	return lines, talk, nil
}

// run returns stdout and stderr of a command.
func run(ctx context.Context, line []string) (out []byte, talk string, err error) {
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, "", errors.Join(context.Cause(ctx), fmt.Errorf("%s: %w: %s", filepath.Base(line[0]), err, strings.TrimSpace(stderr.String())))
	}
	return stdout.Bytes(), stderr.String(), nil
}

// program returns the values and the CPU seconds of a program's lines, in the order of its runs.
func program(lines []cost.Line, name string, value func(cost.Line) float64) (values, cpu []float64) {
	for _, l := range lines {
		if l.Program == name {
			values, cpu = append(values, value(l)), append(cpu, l.CPU)
		}
	}
	return values, cpu
}

func wallOf(l cost.Line) float64 { return l.Wall }

// walls, cpus and memories return one cost of samples.
func walls(s []cost.Sample) []float64 { return each(s, func(s cost.Sample) float64 { return s.Wall }) }

func cpus(s []cost.Sample) []float64 { return each(s, func(s cost.Sample) float64 { return s.CPU }) }

func memories(s []cost.Sample) []float64 {
	return each(s, func(s cost.Sample) float64 { return s.Memory })
}

func each(s []cost.Sample, value func(cost.Sample) float64) []float64 {
	out := make([]float64, len(s))
	for i := range s {
		out[i] = value(s[i])
	}
	return out
}
