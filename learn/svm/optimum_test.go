// SPDX-License-Identifier: Apache-2.0

package svm

import (
	"bufio"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/datasets"
)

// optimum returns bounds of the least objective by dual coordinate descent (Hsieh et al., 2008): the objective of its
// weights, and the value of the dual problem, which no weights are below.
func optimum(c Config, examples []Example, passes int) (upper, lower float64) {
	n := float64(len(examples))
	w, alpha := make([]float64, c.Size), make([]float64, len(examples))
	r := rand.New(rand.NewPCG(1, 2))
	for range passes {
		for _, i := range r.Perm(len(examples)) {
			ex, y := examples[i], examples[i].sign()
			margin, squares := 0.0, 0.0
			for _, f := range ex.Features {
				margin += w[f.Index] * float64(f.Value)
				squares += float64(f.Value) * float64(f.Value)
			}
			if squares == 0 {
				continue
			}
			// w = Σ alpha·y·x/(λn), with alpha between 0 and 1.
			to := min(max(alpha[i]+(1-y*margin)*c.Lambda*n/squares, 0), 1)
			step := (to - alpha[i]) * y / (c.Lambda * n)
			alpha[i] = to
			for _, f := range ex.Features {
				w[f.Index] += step * float64(f.Value)
			}
		}
	}
	norm, loss, dual := 0.0, 0.0, 0.0
	for _, x := range w {
		norm += x * x
	}
	for i, ex := range examples {
		margin := 0.0
		for _, f := range ex.Features {
			margin += w[f.Index] * float64(f.Value)
		}
		loss += max(0, 1-ex.sign()*margin)
		dual += alpha[i]
	}
	return c.Lambda/2*norm + loss/n, dual/n - c.Lambda/2*norm
}

// shared reads the training set of a data set beside the repository, or skips the test.
func shared(t *testing.T, set string, bits uint) []Example {
	t.Helper()
	f, err := os.Open(datasets.File(t, os.Getenv, set, "train.vw.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	p, err := feature.NewParser(feature.Config{Bits: bits})
	if err != nil {
		t.Fatal(err)
	}
	var b feature.Batch
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := p.AppendLine(&b, lines.Bytes(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	out := make([]Example, len(b.Examples))
	for i := range out {
		ex := &b.Examples[i]
		out[i] = Example{Label: ex.Label, Weight: ex.Weight, Features: b.FeaturesOf(ex)}
	}
	return out
}

// TestTheObjectiveIsThatOfASolver compares with dual coordinate descent, whose gap to its dual bounds its own error.
func TestTheObjectiveIsThatOfASolver(t *testing.T) {
	for _, set := range []struct {
		name     string
		lambda   float64
		passes   int
		within   float64 // of the optimum, relative
		examples func(t *testing.T) []Example
		size     int
	}{
		{"drawn", 1e-3, 100, 0.01, func(*testing.T) []Example { return drawn(11, 1000, 20) }, 20},
		{"rcv1-mini", 1e-3, 100, 0.01, func(t *testing.T) []Example { return shared(t, "rcv1-mini", 18) }, 1 << 18},
		{"cocoa-text", 1e-3, 100, 0.01, func(t *testing.T) []Example { return shared(t, "cocoa-text", 18) }, 1 << 18},
	} {
		t.Run(set.name, func(t *testing.T) {
			examples := set.examples(t)
			c := Config{Size: set.size, Lambda: set.lambda, Average: true}
			upper, lower := optimum(c, examples, 200)
			if upper-lower > 2e-3*upper {
				t.Fatalf("the solver has not converged: between %v and %v", lower, upper)
			}
			r := rand.New(rand.NewPCG(5, 6))
			sample := make([]Example, 1000)
			for i, j := range r.Perm(len(examples))[:len(sample)] {
				sample[i] = examples[j]
			}
			var err error
			if c.T0, err = Tune(c, sample); err != nil {
				t.Fatal(err)
			}
			c.AverageFrom = len(examples) * set.passes / 2
			m, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			for range set.passes {
				for _, i := range r.Perm(len(examples)) {
					m.Update(examples[i])
				}
			}
			got := m.Evaluate(examples)
			t.Logf("objective %.6f, solver %.6f (at least %.6f), accuracy %.4f, t0 %.0f", got.Value(), upper, lower, got.Accuracy, c.T0)
			if got.Value() > upper*(1+set.within) || got.Value() < lower {
				t.Errorf("objective %v after %d passes: want at most %v more than the optimum %v", got.Value(), set.passes, set.within, upper)
			}
		})
	}
}
