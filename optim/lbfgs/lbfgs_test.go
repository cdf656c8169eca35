// SPDX-License-Identifier: Apache-2.0

package lbfgs

import (
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
)

// A run that stops after every pass, and continues elsewhere from a copy of the state, has the
// same bits as an undisturbed one.
func TestStateContinues(t *testing.T) {
	const n = 40
	obj := optimtest.Objective(optimtest.RandomPoints(5, 300, n, optimtest.Sign), optimtest.Logistic, -50, 50)
	cfg := Config{Mem: 3, Penalty: descent.Penalty{L2: 0.1}, MaxPasses: 14}
	run := func(carry func(*Solver) (*Solver, error)) (*Solver, string) {
		s, err := New(cfg, make([]float32, n))
		if err != nil {
			t.Fatal(err)
		}
		s, trace, err := optimtest.Run(obj, n, s, carry)
		if err != nil {
			t.Fatal(err)
		}
		return s, trace
	}
	a, traceA := run(nil)
	b, traceB := run(func(s *Solver) (*Solver, error) {
		st, old := newState(cfg.Mem, make([]float32, n)), s.State()
		st.Head, st.Older, st.Origin = old.Head, old.Older, old.Origin
		st.Rho = slices.Clone(old.Rho)
		optimtest.Move(st.Vectors(), old.Vectors())
		return Restore(cfg, st)
	})
	if d := cmp.Diff(traceA, traceB); d != "" {
		t.Errorf("traces differ: %s", d)
	}
	if d := cmp.Diff(a.State(), b.State()); d != "" {
		t.Errorf("states differ (-undisturbed +carried):\n%s", d)
	}
	if a.Status() != optim.PassLimit || a.State().Older != cfg.Mem-1 {
		t.Errorf("status %v with %d older pairs: the run does not reach the tested case", a.Status(), a.State().Older)
	}
}

// TestInPlaceEqualsApart accepts sums in the solver's own vectors and in
// others: same bits.
func TestInPlaceEqualsApart(t *testing.T) {
	const n = 25
	obj := optimtest.Objective(optimtest.RandomPoints(6, 200, n, optimtest.Sign), optimtest.Logistic, -50, 50)
	run := func(sums *optim.Sums) []float32 {
		s, err := New(Config{Mem: 4, Penalty: descent.Penalty{L2: 1}, MaxPasses: 9}, make([]float32, n))
		if err != nil {
			t.Fatal(err)
		}
		if sums == nil {
			sums = s.InPlace()
		}
		for req, ok := s.Request(); ok; req, ok = s.Request() {
			_ = obj(context.Background(), req, sums)
			if err := s.Accept(sums); err != nil {
				t.Fatal(err)
			}
		}
		return s.Weights()
	}
	apart := run(&optim.Sums{Gradient: make([]float32, n), Diagonal: make([]float32, n)})
	if d := cmp.Diff(apart, run(nil)); d != "" {
		t.Error(d)
	}
}

// TestStepBack starts where the parabola of the first pass promises too much:
// the step is halved until the loss falls, and the weights land exactly on
// start + step·direction.
func TestStepBack(t *testing.T) {
	// f(x) = √(1+x²) from x = 2: the curvature there is small, so the first step goes far
	// beyond the minimum.
	obj := optim.ObjectiveFunc(func(_ context.Context, req optim.Request, dst *optim.Sums) error {
		x := float64(req.X[0])
		q := math.Sqrt(1 + x*x)
		h := 1 / (q * q * q)
		dst.Loss, dst.Weight = q, 1
		if req.Kind == optim.Curvature {
			d := float64(req.Dir[0])
			dst.Curvature = h * d * d
			return nil
		}
		dst.Gradient[0] = float32(x / q)
		if req.Kind == optim.First {
			dst.Diagonal[0] = float32(h)
		}
		return nil
	})
	s, err := New(Config{Mem: 2, MaxPasses: 30, Termination: 1e-6}, []float32{2})
	if err != nil {
		t.Fatal(err)
	}
	var rows []optim.Row
	res, err := optim.Minimize(context.Background(), obj, s, optim.RecorderFunc(func(r optim.Row) { rows = append(rows, r) }))
	if err != nil {
		t.Fatal(err)
	}
	revised := 0
	for i, r := range rows {
		if r.Move != optim.Revise {
			continue
		}
		revised++
		if r.Step != rows[i-1].Step/2 {
			t.Errorf("pass %d: step %v after %v, want half of it", r.Pass, r.Step, rows[i-1].Step)
		}
		if line := string(optim.AppendRow(nil, r)); !strings.HasSuffix(line, "\t          \t          \t(revise x 0.5)\t"+strings.Split(line, "\t")[8]) {
			t.Errorf("pass %d prints %q", r.Pass, line)
		}
	}
	if revised == 0 {
		t.Error("no step was revised")
	}
	if x := s.Weights()[0]; math.Abs(float64(x)) > 1e-2 || res.Status != optim.Converged {
		t.Errorf("ended %v at %v after %d passes, want converged near 0", res.Status, x, res.Passes)
	}
}

// TestEnds reaches every way to stop.
func TestEnds(t *testing.T) {
	parabola := func(scale float64) optim.ObjectiveFunc {
		return func(_ context.Context, req optim.Request, dst *optim.Sums) error {
			dst.Loss, dst.Weight, dst.Curvature = 0, 2, 0
			for i, x := range req.X {
				e := float64(x) - 3
				dst.Loss += scale / 2 * e * e
				if req.Kind == optim.Curvature {
					dst.Curvature += scale * float64(req.Dir[i]) * float64(req.Dir[i])
					continue
				}
				dst.Gradient[i] = float32(scale * e)
				if req.Kind == optim.First {
					dst.Diagonal[i] = float32(scale)
				}
			}
			return nil
		}
	}
	// |x − 3| without smoothing: linear, without curvature.
	linear := optim.ObjectiveFunc(func(_ context.Context, req optim.Request, dst *optim.Sums) error {
		dst.Loss, dst.Weight, dst.Curvature = 3-float64(req.X[0]), 1, 0
		dst.Gradient[0], dst.Diagonal[0] = -1, 1
		return nil
	})
	for _, tc := range []struct {
		name   string
		obj    optim.Objective
		x      []float32
		passes int
		want   optim.Status
		at     int
		last   float32
	}{
		{"the start is the minimum", parabola(1), []float32{3}, 10, optim.ZeroDerivative, 2, 3},
		{"no curvature along the first direction", linear, []float32{0}, 10, optim.NoCurvature, 2, 0},
		{"out of passes in the curvature pass", parabola(2), []float32{0}, 2, optim.PassLimit, 2, 3},
		{"the first step is exact", parabola(2), []float32{1}, 10, optim.ZeroDerivative, 4, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := New(Config{Mem: 5, MaxPasses: tc.passes}, tc.x)
			if err != nil {
				t.Fatal(err)
			}
			res, err := optim.Minimize(context.Background(), tc.obj, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			if res.Status != tc.want || res.Passes != tc.at || s.Weights()[0] != tc.last {
				t.Errorf("%v after %d passes at %v, want %v after %d at %v",
					res.Status, res.Passes, s.Weights()[0], tc.want, tc.at, tc.last)
			}
			if err := s.Accept(s.InPlace()); err == nil {
				t.Error("sums were accepted after the end")
			}
		})
	}
}

// TestRefusals: sums that give no step do not change the state.
func TestRefusals(t *testing.T) {
	s, err := New(Config{Mem: 1, MaxPasses: 2}, make([]float32, 2))
	if err != nil {
		t.Fatal(err)
	}
	ok := func() *optim.Sums {
		return &optim.Sums{Loss: 1, Weight: 1, Gradient: make([]float32, 2), Diagonal: make([]float32, 2)}
	}
	for want, spoil := range map[string]func(*optim.Sums){
		"the gradient has 1 elements, the weights have 2": func(s *optim.Sums) { s.Gradient = s.Gradient[:1] },
		"the diagonal has 0 elements":                     func(s *optim.Sums) { s.Diagonal = nil },
		"there is nothing to learn from":                  func(s *optim.Sums) { s.Weight = 0 },
		"the loss is NaN":                                 func(s *optim.Sums) { s.Loss = math.NaN() },
	} {
		sums := ok()
		spoil(sums)
		if err := s.Accept(sums); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
	if s.State().Pass != 0 {
		t.Errorf("a refused pass was counted")
	}
	if err := s.Accept(ok()); err != nil {
		t.Errorf("sound sums after refused ones: %v", err)
	}
	if err := s.Accept(&optim.Sums{Curvature: math.Inf(1)}); err == nil || !strings.Contains(err.Error(), "curvature") {
		t.Errorf("infinite curvature: got error %v", err)
	}
}

func TestMinimizeStops(t *testing.T) {
	boom := errors.New("boom")
	s, _ := New(Config{Mem: 1, MaxPasses: 5}, make([]float32, 1))
	_, err := optim.Minimize(context.Background(), optim.ObjectiveFunc(func(context.Context, optim.Request, *optim.Sums) error { return boom }), s, nil)
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "pass 1 (first gradient)") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := optim.Minimize(ctx, nil, s, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want a cancellation", err)
	}
}

func TestConfigFaults(t *testing.T) {
	err := (&Config{Mem: 0, Penalty: descent.Penalty{L2: -1}, Termination: math.NaN(), MaxPasses: 1}).Validate(3)
	if err == nil {
		t.Fatal("a faulty configuration was accepted")
	}
	for _, want := range []string{"conjugate gradients", "l2 regularisation is -1", "threshold is NaN", "at least 2"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if err := (&Config{Mem: DefaultMem, Termination: DefaultTermination, MaxPasses: 2}).Validate(0); err != nil {
		t.Error(err)
	}
	if _, err := New(Config{Mem: -1, MaxPasses: 2}, nil); err == nil {
		t.Error("a memory of -1 pairs was accepted")
	}
}

func TestRestoreChecks(t *testing.T) {
	cfg := Config{Mem: 2, MaxPasses: 5}
	for want, spoil := range map[string]func(*State){
		"memory slots, want 2":      func(st *State) { st.Y = st.Y[:1] },
		"vector 1 has 3 elements":   func(st *State) { st.Dir = st.Dir[:3] },
		"2 pairs, want 0 to 1":      func(st *State) { st.Older = 2 },
		"origin 2, want 0 to 1":     func(st *State) { st.Origin = 2 },
		"pass 1 and first gradient": func(st *State) { st.Pass = 1 },
		"next Kind(9)":              func(st *State) { st.Next = 9 },
		"want 2\norigin 7":          func(st *State) { st.Rho = nil; st.Origin = 7 },
	} {
		st := newState(cfg.Mem, make([]float32, 4))
		spoil(&st)
		if _, err := Restore(cfg, st); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
}
