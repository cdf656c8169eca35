// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/bench/collective"
	"github.com/gvw-project/gvw/bench/internal/cost"
)

// twoRanks compares a job of two ranks with one process, which makes the same passes over the same data.
func twoRanks(passes int) func(ctx context.Context, s *session) (outcome, error) {
	return func(ctx context.Context, s *session) (outcome, error) {
		train, test, err := s.split(s.sparse)
		if err != nil {
			return outcome{}, err
		}
		model := func(name string) string { return filepath.Join(s.dir, name+".model") }
		options := func(name, cache string) []string {
			o := []string{"-d", train, "--loss_function", "logistic", "-b", "22", "--quiet", "-f", model(name)}
			if passes > 1 {
				o = append(o, "--passes", strconv.Itoa(passes), "-k", "--cache_file", filepath.Join(s.dir, cache), "--holdout_off")
			}
			return o
		}
		two := append([]string{s.gvw, "run", "-n", "2", "--log_dir", filepath.Join(s.dir, "logs"), "--"}, options("two", "cache.{rank}")...)
		got, err := cost.InTurns(ctx, s.runs, two, append([]string{s.gvw}, options("one", "cache")...))
		if err != nil {
			return outcome{}, err
		}
		o := inTurns(got)
		var losses [2]float64
		for i, name := range []string{"two", "one"} {
			tested, _, err := cost.Measure(ctx, s.gvw, "-t", "-i", model(name), "-d", test)
			if err != nil {
				return outcome{}, err
			}
			losses[i] = tested.Loss
		}
		o.note = fmt.Sprintf("loss of the test data %.4f, of one process %.4f", losses[0], losses[1])
		if losses[0] > 1.001*losses[1] {
			o.worse = "a larger loss"
		}
		return o, nil
	}
}

// reductions compares all-reduces over TCP with those of Open MPI.
func reductions(ranks int, sizes ...int) func(ctx context.Context, s *session) ([]outcome, error) {
	return func(ctx context.Context, s *session) ([]outcome, error) {
		words := make([]string, len(sizes))
		for i, n := range sizes {
			words[i] = strconv.Itoa(n)
		}
		outcomes := make([]outcome, len(sizes))
		for range 2*s.runs - 1 {
			out, talk, err := run(ctx, []string{
				s.gvw, "bench", "allreduce", "-n", strconv.Itoa(ranks), "--sizes", strings.Join(words, ","),
				"--rounds", "1", "--peers", "--json", "--quiet",
			})
			if err != nil {
				return nil, err
			}
			figures, err := readFigures(out)
			if err != nil {
				return nil, err
			}
			for i, n := range sizes {
				ours, theirs := figures[system{"gvw", n}], figures[system{"openmpi", n}]
				o := &outcomes[i]
				if theirs.Calls == 0 {
					if o.missing = why(talk, "openmpi"); o.missing == "" {
						o.missing = "Open MPI has not measured this size"
					}
					continue
				}
				o.ours, o.anchor = append(o.ours, ours.MedianUS), append(o.anchor, theirs.MedianUS)
				o.oursCPU, o.anchorCPU = append(o.oursCPU, ours.CPUUS), append(o.anchorCPU, theirs.CPUUS)
				o.peer = s.mpiVersion(ctx)
			}
		}
		for i := range outcomes {
			if len(outcomes[i].ours) > 0 {
				outcomes[i].missing = ""
			}
		}
		return outcomes, nil
	}
}

// system is a system and a size of its messages.
type system struct {
	name  string
	bytes int
}

// readFigures reads the output of gvw bench allreduce --json.
func readFigures(out []byte) (map[system]collective.Figure, error) {
	figures := map[system]collective.Figure{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var f collective.Figure
		err := d.Decode(&f)
		if errors.Is(err, io.EOF) {
			return figures, nil
		}
		if err != nil {
			return nil, fmt.Errorf("gvw bench printed %q: %w", out, err)
		}
		figures[system{f.System, f.Bytes}] = f
	}
}

// why returns the reason why gvw bench has not measured a peer.
func why(talk, peer string) string {
	for line := range strings.Lines(talk) {
		if _, reason, ok := strings.Cut(line, "not measured: "+peer+": "); ok {
			return "Open MPI: " + strings.TrimSpace(reason)
		}
	}
	return ""
}

// mpiVersion returns the name and the version of Open MPI.
func (s *session) mpiVersion(ctx context.Context) string {
	if s.mpi == "" {
		s.mpi = "Open MPI"
		if out, _, err := run(ctx, []string{"mpirun", "--version"}); err == nil {
			first, _, _ := strings.Cut(string(out), "\n")
			if _, version, ok := strings.Cut(first, ") "); ok {
				s.mpi += " " + version
			}
		}
	}
	return s.mpi
}

// mostJoin bounds the time of the start of a large job with all its rounds.
const mostJoin = 2 * time.Minute

// mostInProcess is the number of ranks in a process where one has not enough descriptors for all.
const mostInProcess = 500

// joined runs bench/join with at most a number of ranks in a process.
func (s *session) joined(ctx context.Context, ranks, most, rounds int) ([]cost.Line, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, mostJoin, missing(fmt.Sprintf("%d rounds with %d ranks have not ended in %v", rounds, ranks, mostJoin)))
	defer cancel()
	lines, _, err := s.benchmark(ctx, "join", "-ranks", strconv.Itoa(ranks), "-most", strconv.Itoa(most), "-waiting", "0", "-rounds", strconv.Itoa(rounds))
	if err != nil && strings.Contains(err.Error(), "too many open files") {
		return nil, missing(fmt.Sprintf("the connections of %d ranks in one process exceed the limit of open files", ranks))
	}
	return lines, err
}

// largeJob measures the seconds until the first all-reduce of a job has ended.
func largeJob(ranks int) func(ctx context.Context, s *session) (outcome, error) {
	return func(ctx context.Context, s *session) (outcome, error) {
		lines, err := s.joined(ctx, ranks, ranks, s.runs)
		if err != nil {
			return outcome{}, err
		}
		var o outcome
		o.ours, _ = program(lines, "gvw", wallOf)
		server, _ := program(lines, "gvw", serverMillis)
		o.note = fmt.Sprintf("up to the end of the first all-reduce, ranks in one process; the server has %.2f ms of CPU a rank", quartilesOf(server).median)
		return o, nil
	}
}

func serverMillis(l cost.Line) float64 { return l.CPU / l.Count * 1000 }

// hugeJob measures the start of 4,000 ranks, and the server's CPU time for each.
func hugeJob(ctx context.Context, s *session) ([]outcome, error) {
	lines, err := s.joined(ctx, 4000, mostInProcess, 1)
	if err != nil {
		return nil, err
	}
	var o, server outcome
	o.ours, _ = program(lines, "gvw", wallOf)
	server.ours, _ = program(lines, "gvw", serverMillis)
	o.note = fmt.Sprintf("%d ranks in a process", mostInProcess)
	return []outcome{o, server}, nil
}

// starts measures the start of a process, and of a rank beyond two.
func starts(ctx context.Context, s *session) ([]outcome, error) {
	lines, _, err := s.benchmark(ctx, "start", "-rounds", strconv.Itoa(10*s.runs))
	if err != nil {
		return nil, err
	}
	millis := func(l cost.Line) float64 { return l.Wall * 1000 }
	var process, rank outcome
	process.ours, process.oursCPU = program(lines, "gvw, one example", millis)
	process.anchor, process.anchorCPU = program(lines, "hello", millis)
	rank.anchor, rank.anchorCPU = process.anchor, process.anchorCPU
	two, twoCPU := program(lines, "gvw run -n 2, one example", millis)
	four, fourCPU := program(lines, "gvw run -n 4, one example", millis)
	for i := range two {
		rank.ours, rank.oursCPU = append(rank.ours, (four[i]-two[i])/2), append(rank.oursCPU, (fourCPU[i]-twoCPU[i])/2)
	}
	rank.note = fmt.Sprintf("half of the difference between 4 ranks and 2; 2 ranks take %.3g ms in all", quartilesOf(two).median)
	return []outcome{process, rank}, nil
}

// recovery compares the memory of a rank of a job that recovers with one that aborts.
func recovery(ctx context.Context, s *session) (outcome, error) {
	line := func(loss string) []string {
		return []string{
			s.gvw, "run", "-n", "2", "--log_dir", filepath.Join(s.dir, "logs"), "--", "-d", s.sparse, "--loss_function", "logistic",
			"-b", "24", "--hybrid", "1:3", "--l2", "1", "--quiet", "-k", "--cache_file", filepath.Join(s.dir, "hybrid.{rank}"),
			"-f", filepath.Join(s.dir, "hybrid.model"), "--on_loss", loss,
		}
	}
	got, err := cost.InTurns(ctx, min(s.runs, 3), line("wait"), line("abort"))
	if err != nil {
		return outcome{}, err
	}
	o := outcome{ours: memories(got[0]), anchor: memories(got[1]), oursCPU: cpus(got[0]), anchorCPU: cpus(got[1])}
	o.note = "peak memory of the largest of two ranks, -b 24, three passes of L-BFGS after one of SGD"
	return o, nil
}
