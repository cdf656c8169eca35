// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/model"
)

// result is the state of a system after some passes.
type result struct {
	passes     int     // of a Gibbs sampler: sweeps
	cpu, wall  float64 // seconds
	perplexity float64
	table      [][]float64 // of words by topics
}

// passes are the numbers of passes that are tried, and sweeps those of a Gibbs sampler.
var (
	passes = []int{1, 2, 3, 4, 6, 8, 10, 15, 20, 30, 40, 60, 80, 100}
	sweeps = []int{5, 10, 15, 20, 30, 40, 60, 80, 100, 150, 200, 300, 400, 600}
)

// train trains k topics by a system until it reaches the goal, and returns its states after each number
// of passes.
func (s *settings) train(system string, c *corpus, k int, p plan, passes []int, goal float64) ([]*result, error) {
	if system == "gvw" || system == "vw" {
		return s.trainVW(system, c, k, p, passes, goal)
	}
	return s.trainPeer(system, c, k, p, passes, goal)
}

// trainVW runs a process for each number of passes.
func (s *settings) trainVW(system string, c *corpus, k int, p plan, passes []int, goal float64) (all []*result, err error) {
	file := filepath.Join(s.dir, "model")
	program := []string{s.gvw}
	if system == "vw" {
		program = append(s.vw[:len(s.vw):len(s.vw)], "--compressed")
	} else if s.size > 0 {
		program = append(program, "run", "-n", strconv.Itoa(s.size), "--")
	}
	if s.every != "" {
		program = append(program, "--aggregate", "model", "--average_every", s.every)
	}
	for _, n := range passes {
		g := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
		args := append(program[1:len(program):len(program)], "-d", c.train, "--cache_file", file+".cache", "-k", "--passes", strconv.Itoa(n), "--holdout_off",
			"--lda", strconv.Itoa(k), "--lda_alpha", g(s.alpha), "--lda_rho", g(s.eta), "--lda_D", strconv.Itoa(c.documents),
			"--minibatch", strconv.Itoa(p.documents(c.documents)), "--lda_epsilon", g(p.epsilon), "-b", strconv.Itoa(c.bits), "-l", "1", "--power_t", g(p.kappa), "--initial_t", g(s.tau),
			"--random_seed", strconv.Itoa(s.seed), "-f", file, "--quiet")
		cmd := exec.Command(program[0], args...)
		begun := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
		}
		r := &result{passes: n, cpu: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), wall: time.Since(begun).Seconds()}
		all = append(all, r)
		if r.table, err = readModel(file, c.words); err != nil {
			return nil, err
		}
		if r.perplexity, err = c.perplexity(r.table, s.alpha); err != nil || r.perplexity <= goal {
			return all, err
		}
	}
	return all, nil
}

// readModel returns λ of the words of a model.
func readModel(name string, words int) ([][]float64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := model.ReadTopics(f, model.Limits{})
	if err != nil {
		return nil, err
	}
	table, k := make([][]float64, words), int(m.LDA)
	for i := range table {
		for _, x := range m.Weights[i*k:][:k] {
			table[i] = append(table[i], float64(x)+m.Eta())
		}
	}
	return table, nil
}

// script returns the path of peer.py beside this package.
func script() (string, error) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/gvw-project/gvw/bench/topics").Output()
	if err != nil {
		return "", fmt.Errorf("cannot find peer.py: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "peer.py"), nil
}

// trainPeer runs peer.py, which waits after each of its checkpoints.
func (s *settings) trainPeer(system string, c *corpus, k int, p plan, passes []int, goal float64) (all []*result, err error) {
	py, err := script()
	if err != nil {
		return nil, err
	}
	out := filepath.Join(s.dir, "table")
	cmd := exec.Command(s.python[0], append(s.python[1:], py, system, c.train, strconv.Itoa(c.words), strconv.Itoa(k),
		fmt.Sprint(s.alpha), fmt.Sprint(s.eta), strconv.Itoa(p.documents(c.documents)), fmt.Sprint(s.tau), fmt.Sprint(p.kappa), strconv.Itoa(s.seed), out,
		strings.Trim(strings.ReplaceAll(fmt.Sprint(passes), " ", ","), "[]"))...)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	lines, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close(), cmd.Wait()) }()
	scan := bufio.NewScanner(lines)
	for scan.Scan() {
		r := &result{}
		if _, err := fmt.Sscan(scan.Text(), &r.passes, &r.cpu, &r.wall); err != nil {
			return nil, fmt.Errorf("%q: %w", scan.Text(), err)
		}
		all = append(all, r)
		if r.table, err = readTable(out); err != nil {
			return nil, err
		}
		if r.perplexity, err = c.perplexity(r.table, s.alpha); err != nil || r.perplexity <= goal {
			break
		}
		if _, err := io.WriteString(in, "\n"); err != nil {
			break // its last checkpoint
		}
	}
	if all == nil {
		return nil, errors.Join(errors.New("peer.py printed no line"), scan.Err())
	}
	return all, err
}

// versions returns the versions of all systems; that of vw only if it is one of them.
func (s *settings) versions(vw bool) (string, error) {
	py, err := script()
	if err != nil {
		return "", err
	}
	commands := [][]string{{s.gvw, "version"}, append(s.python, py, "versions")}
	if vw {
		commands = append(commands, append(s.vw, "--version"))
	}
	var all []string
	for _, args := range commands {
		out, err := exec.Command(args[0], args[1:]...).Output()
		if err != nil {
			return "", fmt.Errorf("%s: %w", strings.Join(args, " "), err)
		}
		first, _, _ := strings.Cut(string(out), "\n")
		all = append(all, first)
	}
	if vw {
		all[2] = "vw " + all[2]
	}
	return strings.Join(all, "; "), nil
}
