// SPDX-License-Identifier: Apache-2.0

package cg

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/optimtest"
	"github.com/gvw-project/gvw/optim/vector"
)

func sumsFor(n int) *optim.Sums {
	return &optim.Sums{Gradient: make([]float32, n), Diagonal: make([]float32, n)}
}

// TestStateContinues stops after every pass, carries a copy of the state to a
// new solver, and gets the same bits as the undisturbed run.
func TestStateContinues(t *testing.T) {
	const n = 40
	obj := optimtest.Objective(optimtest.RandomPoints(5, 300, n, optimtest.Sign), optimtest.Logistic, -50, 50)
	for _, semantics := range []optim.Semantics{optim.VW7, optim.VW9} {
		cfg := Config{Penalty: descent.Penalty{L2: 0.1}, MaxPasses: 13, Semantics: semantics}
		run := func(carry bool) (State, []byte) {
			s, err := New(cfg, make([]float32, n))
			if err != nil {
				t.Fatal(err)
			}
			var trace []byte
			for req, ok := s.Request(); ok; req, ok = s.Request() {
				sums := sumsFor(n)
				if err := obj(context.Background(), req, sums); err != nil {
					t.Fatal(err)
				}
				s.Prepare(sums)
				if err := s.Accept(sums); err != nil {
					t.Fatal(err)
				}
				trace = optim.AppendRow(trace, s.Row())
				if !carry {
					continue
				}
				old := s.State()
				st := State{Head: old.Head}
				for i, to := range []*[]float32{&st.X, &st.Dir, &st.Precond, &st.X0, &st.G0} {
					v := old.Vectors()[i]
					*to = slices.Clone(v)
					for j := range v {
						v[j] = float32(math.NaN()) // makes a later read of the old vector fail
					}
				}
				if s, err = Restore(cfg, st); err != nil {
					t.Fatal(err)
				}
			}
			return s.State(), trace
		}
		a, traceA := run(false)
		b, traceB := run(true)
		if !bytes.Equal(traceA, traceB) {
			t.Errorf("%v: traces differ:\n%s\n%s", semantics, traceA, traceB)
		}
		if d := cmp.Diff(a, b); d != "" {
			t.Errorf("%v: states differ (-undisturbed +carried):\n%s", semantics, d)
		}
		if a.Status != optim.PassLimit {
			t.Errorf("%v: status %v: the run does not reach the tested case", semantics, a.Status)
		}
	}
}

// TestDirectionsAreConjugate minimises a parabola of n weights: exact line
// searches make the directions conjugate, so n of them suffice.
func TestDirectionsAreConjugate(t *testing.T) {
	const n = 6
	points := optimtest.RandomPoints(9, 50, n, optimtest.Noisy)
	obj := optimtest.Objective(points, optimtest.Squared, math.Inf(-1), math.Inf(1))
	s, err := New(Config{Penalty: descent.Penalty{L2: 1}, MaxPasses: 2*n + 1}, make([]float32, n))
	if err != nil {
		t.Fatal(err)
	}
	var rows []optim.Row
	if _, err := optim.Minimize(context.Background(), obj, s, optim.RecorderFunc(func(r optim.Row) { rows = append(rows, r) })); err != nil {
		t.Fatal(err)
	}
	first, last := rows[0], rows[len(rows)-1]
	if !(last.Slope < 1e-9*first.Slope) || last.Kind != optim.Gradient {
		t.Errorf("after %d directions the gradient² is %v of %v", n, last.Slope, first.Slope)
	}
	for i, r := range rows {
		want := optim.Gradient
		if i%2 == 1 {
			want = optim.Curvature
		}
		if i > 0 && (r.Kind != want || r.Kind == optim.Gradient && !r.Mixes) {
			t.Errorf("pass %d is %v: gradients and curvatures alternate, and gradients say how they mix", i+1, r.Kind)
		}
	}
}

// TestEndsAtTheLimitOfAccuracy minimises without a termination threshold. Once no step lowers the
// loss any more, the run ends after as many halved steps as the loss can distinguish.
func TestEndsAtTheLimitOfAccuracy(t *testing.T) {
	const n = 10
	obj := optimtest.Objective(optimtest.RandomPoints(7, 100, n, optimtest.Sign), optimtest.Logistic, -50, 50)
	s, err := New(Config{Penalty: descent.Penalty{L2: 1}, MaxPasses: 2000}, make([]float32, n))
	if err != nil {
		t.Fatal(err)
	}
	revised := 0
	least := math.Inf(1)
	res, err := optim.Minimize(context.Background(), obj, s, optim.RecorderFunc(func(r optim.Row) {
		if r.Kind > optim.Gradient {
			return
		}
		if math.IsNaN(r.Wolfe1) || math.IsNaN(r.Wolfe2) {
			t.Errorf("pass %d: slopes of %v and %v", r.Pass, r.Wolfe1, r.Wolfe2)
		}
		least = min(least, r.Loss)
		if r.Move == optim.Revise {
			revised++
		} else {
			revised = 0
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != optim.NoCurvature || revised == 0 || revised > 52 {
		t.Errorf("%v after %d passes, the last %d of which halve the step: want no curvature after at most 52", res.Status, res.Passes, revised)
	}
	sums := sumsFor(n)
	if err := obj(context.Background(), optim.Request{Kind: optim.First, X: s.Weights()}, sums); err != nil {
		t.Fatal(err)
	}
	w := s.Weights()
	if got := (sums.Loss + 0.5*vector.Dot(w, w)) / sums.Weight; !(got <= least*(1+1e-12)) {
		t.Errorf("the last weights have the mean loss %v, the best pass %v", got, least)
	}
}

// TestDivergence: a sum that is not finite is refused with the number of its weight, and the
// state does not change.
func TestDivergence(t *testing.T) {
	s, err := New(Config{MaxPasses: 4}, make([]float32, 2))
	if err != nil {
		t.Fatal(err)
	}
	sound := func() *optim.Sums {
		return &optim.Sums{Loss: 1, Weight: 1, Curvature: 1, Gradient: []float32{1, 1}, Diagonal: []float32{1, 1}}
	}
	inf, nan := math.Inf(1), math.NaN()
	for want, spoil := range map[string]func(*optim.Sums){
		"the loss is NaN": func(s *optim.Sums) { s.Loss = nan },
		"the diagonal of the Hessian at weight 1 is +Inf": func(s *optim.Sums) { s.Diagonal[1] = float32(inf) },
		"the gradient at weight 0 is NaN":                 func(s *optim.Sums) { s.Gradient[0] = float32(nan) },
		"the sum of importance weights is +Inf":           func(s *optim.Sums) { s.Weight = inf },
	} {
		sums := sound()
		spoil(sums)
		err := s.Accept(sums)
		if e, ok := errors.AsType[*optim.DivergeError](err); !ok || e.Pass != 1 || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one of pass 1 with %q", err, want)
		}
	}
	if s.State().Pass != 0 {
		t.Error("a refused pass was counted")
	}
	for pass := 1; pass <= 2; pass++ {
		if err := s.Accept(sound()); err != nil {
			t.Fatalf("pass %d: %v", pass, err)
		}
	}
	bad := sound()
	bad.Loss = inf
	if err := s.Accept(bad); err == nil || !strings.Contains(err.Error(), "cg: pass 3: the loss is +Inf") {
		t.Errorf("got error %v", err)
	}
}

func TestFaults(t *testing.T) {
	err := (&Config{Penalty: descent.Penalty{L2: math.NaN()}, Termination: -1, MaxPasses: 1, Semantics: 7}).Validate(2)
	for _, want := range []string{"cg: ", "l2 regularisation is NaN", "threshold is -1", "at least 2", "Semantics(7)"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	_, err = Restore(Config{MaxPasses: 2}, State{X: make([]float32, 3), Dir: make([]float32, 2)})
	if err == nil || !strings.Contains(err.Error(), "vector 1 has 2 elements") {
		t.Errorf("got %v", err)
	}
}

// TestAcceptAllocatesNothing: a pass costs no memory beyond the state.
func TestAcceptAllocatesNothing(t *testing.T) {
	const n = 100
	obj := optimtest.Objective(optimtest.RandomPoints(2, 50, n, optimtest.Sign), optimtest.Logistic, -50, 50)
	s, err := New(Config{Penalty: descent.Penalty{L2: 1}, MaxPasses: 1000}, make([]float32, n))
	if err != nil {
		t.Fatal(err)
	}
	sums := sumsFor(n)
	for range 4 {
		req, _ := s.Request()
		_ = obj(context.Background(), req, sums)
		if err := s.Accept(sums); err != nil {
			t.Fatal(err)
		}
	}
	if allocs := testing.AllocsPerRun(1, func() {
		if err := s.Accept(sums); err != nil {
			t.Fatal(err)
		}
	}); allocs != 0 {
		t.Errorf("Accept allocates %v times", allocs)
	}
}
