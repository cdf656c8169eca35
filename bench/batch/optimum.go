// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed peer.py
var peer []byte

const (
	near      = 1.001 // times the least objective is near enough
	modelBits = 18
	maxSteps  = 400
)

// optima measures the way to the optimum for each FILE:LAMBDA.
func (b *bench) optima(sets []string) error {
	script := filepath.Join(b.dir, "peer.py")
	if err := os.WriteFile(script, peer, 0o600); err != nil {
		return err
	}
	for _, s := range sets {
		file, lambda, ok := strings.Cut(s, ":")
		if v, err := strconv.ParseFloat(lambda, 64); !ok || err != nil || v <= 0 {
			return fmt.Errorf("%q is not FILE:LAMBDA", s)
		}
		if err := b.optimum(file, lambda, append(append([]string(nil), b.python...), script)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) optimum(file, lambda string, script []string) error {
	data, err := readSet(file, modelBits)
	if err != nil {
		return err
	}
	svm := filepath.Join(b.dir, "peer.svm")
	if err := data.writeLibSVM(svm); err != nil {
		return err
	}
	peerLine := func(n int, tol string) []string {
		return append(append([]string(nil), script...), svm, lambda, strconv.Itoa(n), tol)
	}
	modelFile := filepath.Join(b.dir, "model")
	gvwLine := func(n int) []string {
		return []string{
			b.gvw, "run", "-n", "2", "--log_dir", filepath.Join(b.dir, "logs"), "--", "-d", file, "-b", strconv.Itoa(modelBits),
			"--hybrid", fmt.Sprintf("1:%d", n), "--l2", lambda, "--no_bias_regularization", "--loss_function", "logistic",
			"--termination", "0", "-k", "--cache_file", filepath.Join(b.dir, "cache.{rank}"), "-f", modelFile, "--predict_only_model",
		}
	}
	peerAt := func(n int, tol string) (float64, error) {
		_, out, err := measure(peerLine(n, tol)...)
		if err != nil {
			return 0, err
		}
		first, _, _ := strings.Cut(out, " ")
		return strconv.ParseFloat(first, 64)
	}
	l, _ := strconv.ParseFloat(lambda, 64)
	gvwAt := func(n int) (float64, error) {
		if _, _, err := measure(gvwLine(n)...); err != nil {
			return 0, err
		}
		return data.objective(modelFile, l)
	}
	least, err := peerAt(5000, "1e-9")
	if err != nil {
		return err
	}
	iterations, err := fewest(1, func(n int) (float64, error) { return peerAt(n, "1e-9") }, near*least)
	if err != nil {
		return fmt.Errorf("scikit-learn: %w", err)
	}
	passes, err := fewest(2, gvwAt, near*least)
	if err != nil {
		return fmt.Errorf("gvw: %w", err)
	}
	c, err := b.inTurns(append(append([]string(nil), script...), "start"), peerLine(iterations, "1e-9"), gvwLine(passes))
	if err != nil {
		return err
	}
	start, sk, gvw := c[0], c[1], c[2]
	fmt.Printf("%s, λ %s, to %.4g: scikit-learn %.2f s wall, %.2f CPU in %d iterations (import, left out: %.2f, %.2f); gvw --hybrid 1:%d %.2f, %.2f; ratio %.2f wall, %.2f CPU\n",
		filepath.Base(file), lambda, near*least, sk.wall-start.wall, sk.cpu-start.cpu, iterations, start.wall, start.cpu,
		passes, gvw.wall, gvw.cpu, gvw.wall/(sk.wall-start.wall), gvw.cpu/(sk.cpu-start.cpu))
	return nil
}

// fewest returns the least n from lo on whose objective is at most goal: it
// doubles until one is, and halves the gap then.
func fewest(lo int, at func(n int) (float64, error), goal float64) (int, error) {
	below, n := lo-1, max(lo, 8)
	for {
		v, err := at(n)
		if err != nil {
			return 0, err
		}
		if v <= goal {
			break
		}
		if below, n = n, 2*n; n > maxSteps {
			return 0, fmt.Errorf("%d steps come to %g only, not to %g", below, v, goal)
		}
	}
	for n-below > 1 {
		middle := (below + n) / 2
		v, err := at(middle)
		if err != nil {
			return 0, err
		}
		if v <= goal {
			n = middle
		} else {
			below = middle
		}
	}
	return n, nil
}
