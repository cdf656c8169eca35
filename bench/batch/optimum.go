// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/bench/internal/cost"
)

//go:embed peer.py
var peer []byte

const (
	near      = 1.001 // times the least objective is near enough
	modelBits = 18
	maxPasses = 400
	own       = 100  // passes of gvw that are tried for a smaller objective
	sure      = 1e-6 // largest relative distance from the least objective
)

// optima measures the time to the optimum for each FILE:LAMBDA.
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

// race is one data set and the results of both programs on it.
type race struct {
	*bench
	file, lambda string
	data         *set
	svm, model   string
	script       []string
}

func (b *bench) optimum(file, lambda string, script []string) error {
	r := &race{bench: b, file: file, lambda: lambda, svm: filepath.Join(b.dir, "peer.svm"), model: filepath.Join(b.dir, "model"), script: script}
	var err error
	if r.data, err = readSet(file, modelBits); err != nil {
		return err
	}
	if err := r.data.writeLibSVM(r.svm); err != nil {
		return err
	}
	least, err := r.least()
	if err != nil {
		return err
	}
	found, err := r.peer("to", strconv.FormatFloat(near*least, 'g', -1, 64))
	if err != nil {
		return err
	}
	iterations := int(found[0])
	passes, err := fewest(2, r.after, near*least)
	if err != nil {
		return fmt.Errorf("gvw: %w", err)
	}
	c, err := b.inTurns(slices.Concat(script, []string{"start"}), r.peerLine(strconv.Itoa(iterations)), r.gvwLine(passes))
	if err != nil {
		return err
	}
	start, sk, gvw := c[0], c[1], c[2]
	fmt.Printf("%s, λ %s, to %.6g: scikit-learn %.2f s wall, %.2f CPU in %d iterations (import, left out: %.2f, %.2f); gvw --hybrid 1:%d %.2f, %.2f; ratio %.2f wall, %.2f CPU\n",
		filepath.Base(file), lambda, near*least, sk.Wall-start.Wall, sk.CPU-start.CPU, iterations, start.Wall, start.CPU,
		passes, gvw.Wall, gvw.CPU, gvw.Wall/(sk.Wall-start.Wall), gvw.CPU/(sk.CPU-start.CPU))
	return nil
}

// least returns the least known objective. It is scikit-learn's by Newton's method, whose
// gradient bounds the distance to the minimum, unless gvw's L-BFGS finds a smaller one.
func (r *race) least() (float64, error) {
	newton, err := r.peer("least")
	if err != nil {
		return 0, err
	}
	if !(newton[1] <= sure*newton[0]) {
		return 0, fmt.Errorf("scikit-learn's least objective %g may be %g too high", newton[0], newton[1])
	}
	found, err := r.after(own)
	if err != nil {
		return 0, err
	}
	fmt.Printf("%s, λ %s: least objective %.8g by Newton's method, at most %.2g above the minimum; %.8g by %d passes of gvw\n",
		filepath.Base(r.file), r.lambda, newton[0], newton[1], found, own)
	return min(newton[0], found), nil
}

func (r *race) peerLine(args ...string) []string {
	return slices.Concat(r.script, []string{r.svm, r.lambda}, args)
}

// peer runs the peer and returns the two numbers that it prints.
func (r *race) peer(args ...string) (numbers [2]float64, err error) {
	_, out, err := cost.Measure(r.ctx, r.peerLine(args...)...)
	if err != nil {
		return numbers, err
	}
	if _, err := fmt.Sscan(out, &numbers[0], &numbers[1]); err != nil {
		return numbers, fmt.Errorf("scikit-learn printed %q: %w", out, err)
	}
	return numbers, nil
}

func (r *race) gvwLine(passes int) []string {
	return []string{
		r.gvw, "run", "-n", "2", "--log_dir", filepath.Join(r.dir, "logs"), "--", "-d", r.file, "-b", strconv.Itoa(modelBits),
		"--hybrid", fmt.Sprintf("1:%d", passes), "--l2", r.lambda, "--no_bias_regularization", "--loss_function", "logistic",
		"--termination", "0", "-k", "--cache_file", filepath.Join(r.dir, "cache.{rank}"), "-f", r.model, "--predict_only_model",
	}
}

// after returns gvw's objective after the given number of passes of L-BFGS.
func (r *race) after(passes int) (float64, error) {
	if _, _, err := cost.Measure(r.ctx, r.gvwLine(passes)...); err != nil {
		return 0, err
	}
	l, err := strconv.ParseFloat(r.lambda, 64)
	if err != nil {
		return 0, err
	}
	return r.data.objective(r.model, l)
}

// fewest returns the least n ≥ lo whose objective is at most goal. It doubles n until one is,
// and then bisects.
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
		if below, n = n, 2*n; n > maxPasses {
			return 0, fmt.Errorf("%d passes come to %g only, not to %g", below, v, goal)
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
