// SPDX-License-Identifier: Apache-2.0

package newton

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/lbfgs"
	"github.com/gvw-project/gvw/optim/optimtest"
	"github.com/gvw-project/gvw/optim/vector"
)

// objective returns the sums over points that ranks share. The answer to a Local request is the
// mean over the ranks, each of which has every ranks-th point.
func objective(points []optimtest.Point, loss optimtest.LossFunc, p descent.Penalty, ranks int) optim.ObjectiveFunc {
	whole := optimtest.Objective(points, loss, math.Inf(-1), math.Inf(1))
	return func(ctx context.Context, req optim.Request, dst *optim.Sums) error {
		if req.Kind != optim.Local {
			return whole(ctx, req, dst)
		}
		n := len(req.X)
		part, sum := make([]float32, n), make([]float32, n)
		for r := range ranks {
			var own []optimtest.Point
			var shard Shard
			for i := r; i < len(points); i += ranks {
				own = append(own, points[i])
				shard.Weight += float64(points[i].Weight)
			}
			shares := optimtest.Objective(own, loss, math.Inf(-1), math.Inf(1))
			s := &optim.Sums{Gradient: make([]float32, n), Diagonal: make([]float32, n)}
			_ = shares(ctx, optim.Request{Kind: optim.First, X: req.X}, s)
			shard.Diagonal = slices.Clone(s.Diagonal)
			_ = shares(ctx, optim.Request{Kind: optim.First, X: req.Start}, s)
			shard.Start = s.Diagonal
			shard.Product = func(dst, d []float32) error {
				return shares(ctx, optim.Request{Kind: optim.Product, X: req.X, Dir: d}, &optim.Sums{Gradient: dst})
			}
			if _, err := Local(part, req, &p, shard); err != nil {
				return err
			}
			vector.AddScaled(sum, sum, 1, part)
		}
		copy(dst.Gradient, sum)
		return nil
	}
}

// minimize runs a solver from zero to its end.
func minimize(t interface {
	Helper()
	Fatal(args ...any)
}, cfg Config, n int, obj optim.Objective, rec optim.Recorder,
) (*Solver, optim.Result) {
	t.Helper()
	s, err := New(cfg, make([]float32, n))
	if err != nil {
		t.Fatal(err)
	}
	res, err := optim.Minimize(context.Background(), obj, s, rec)
	if err != nil {
		t.Fatal(err)
	}
	return s, res
}

// Both methods reach the value that L-BFGS reaches, for any penalty and number of ranks.
func TestMinimumIsThatOfLBFGS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 12
		p := descent.Penalty{L2: rapid.Float64Range(0.5, 20).Draw(t, "l2")}
		if rapid.Bool().Draw(t, "free") {
			p.Free = []uint32{n - 1}
		}
		loss, label := optimtest.Logistic, optimtest.Sign
		if rapid.Bool().Draw(t, "squared") {
			loss, label = optimtest.Squared, optimtest.Noisy
		}
		points := optimtest.RandomPoints(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(100, 300).Draw(t, "points"), n, label)
		average := rapid.Bool().Draw(t, "average")
		matrix := !average && rapid.Bool().Draw(t, "matrix")
		ranks := rapid.IntRange(1, 4).Draw(t, "ranks")
		obj := objective(points, loss, p, ranks)
		s, res := minimize(t, Config{Penalty: p, Termination: 1e-5, MaxPasses: 500, Average: average, Matrix: matrix}, n, obj, nil)
		l, err := lbfgs.New(lbfgs.Config{Mem: 10, Penalty: p, Termination: 1e-6, MaxPasses: 200}, make([]float32, n))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := optim.Minimize(context.Background(), obj, l, nil); err != nil {
			t.Fatal(err)
		}
		value := func(x []float32) float64 {
			sums := &optim.Sums{Gradient: make([]float32, n)}
			_ = obj(context.Background(), optim.Request{Kind: optim.Gradient, X: x}, sums)
			return sums.Loss + p.Value(x)
		}
		got, want := value(s.Weights()), value(l.Weights())
		if !(got <= 1.0003*want) {
			t.Fatalf("%v after %d passes at %v, L-BFGS is at %v", res.Status, res.Passes, got, want)
		}
	})
}

// The steps of a quadratic are 1, and conjugate gradients that end early cost a second direction.
func TestStepsOfAQuadraticAreWhole(t *testing.T) {
	const n = 12
	p := descent.Penalty{L2: 1}
	obj := objective(optimtest.RandomPoints(3, 200, n, optimtest.Noisy), optimtest.Squared, p, 1)
	var rows []optim.Row
	_, res := minimize(t, Config{Penalty: p, Termination: 1e-3, MaxPasses: 60}, n, obj,
		optim.RecorderFunc(func(r optim.Row) { rows = append(rows, r) }))
	gradients := 0
	for _, r := range rows {
		if r.Kind == optim.Gradient || r.Kind == optim.First {
			gradients++
		}
		if r.Move == optim.Advance && r.Step != 1 {
			t.Errorf("pass %d: step %v, want 1", r.Pass, r.Step)
		}
	}
	if gradients > 3 || res.Status != optim.Converged {
		t.Errorf("%v after %d gradients in %d passes, want at most 3", res.Status, gradients, res.Passes)
	}
}

// A direction whose whole step is too long is followed by a shorter one: at the curvature at 2 of
// √(1+x²) Newton's step leads from 2 to −8.
func TestTooLongStepIsShortened(t *testing.T) {
	value := func(x float64) float64 { return math.Sqrt(1 + x*x) }
	obj := optim.ObjectiveFunc(func(_ context.Context, req optim.Request, dst *optim.Sums) error {
		x := float64(req.X[0])
		h := 1 / math.Pow(value(x), 3)
		dst.Loss, dst.Weight = value(x), 1
		dst.Trials = dst.Trials[:0]
		switch req.Kind {
		case optim.First:
			dst.Diagonal[0] = float32(h)
			fallthrough
		case optim.Gradient:
			dst.Gradient[0] = float32(x / value(x))
		case optim.Product:
			dst.Gradient[0] = float32(h) * req.Dir[0]
		case optim.Trial:
			for _, step := range req.Steps {
				dst.Trials = append(dst.Trials, value(x+step*float64(req.Dir[0])))
			}
		}
		return nil
	})
	// A run that ends when the step has been refused does not take it.
	s, err := New(Config{MaxPasses: 3}, []float32{2})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := optim.Minimize(context.Background(), obj, s, nil); err != nil || res.Status != optim.PassLimit || s.Weights()[0] != 2 {
		t.Errorf("%v after %d passes at %v, error %v: want the start", res.Status, res.Passes, s.Weights()[0], err)
	}
	s, err = New(Config{MaxPasses: 60, Termination: 1e-9}, []float32{2})
	if err != nil {
		t.Fatal(err)
	}
	tried, last := 0, math.Inf(1)
	res, err := optim.Minimize(context.Background(), obj, s, optim.RecorderFunc(func(r optim.Row) {
		if r.Kind == optim.Trial {
			tried++
			last = r.Step
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if x := s.Weights()[0]; math.Abs(float64(x)) > 1e-3 || tried == 0 || !(last < 1) {
		t.Errorf("ended %v at %v after %d trials, the last with step %v: want 0 after a shorter step", res.Status, x, tried, last)
	}
}

// A run that stops after every pass, and continues elsewhere from a copy of the state, has the
// same bits as an undisturbed one.
func TestStateContinues(t *testing.T) {
	const n = 40
	p := descent.Penalty{L2: 0.1}
	obj := objective(optimtest.RandomPoints(5, 300, n, optimtest.Sign), optimtest.Logistic, p, 2)
	for name, cfg := range map[string]Config{"products": {}, "average": {Average: true}, "matrix": {Matrix: true}} {
		if cfg.Penalty, cfg.MaxPasses = p, 30; cfg.Matrix {
			cfg.MaxPasses = 5
		}
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
			st, old := newState(make([]float32, n)), s.State()
			st.Head = old.Head
			optimtest.Move(st.Vectors(), old.Vectors())
			return Restore(cfg, st)
		})
		if d := cmp.Diff(traceA, traceB); d != "" {
			t.Errorf("%s: traces differ: %s", name, d)
		}
		if d := cmp.Diff(a.State(), b.State()); d != "" {
			t.Errorf("%s: states differ (-undisturbed +carried):\n%s", name, d)
		}
		if a.State().Round < 3 {
			t.Errorf("%s: %d rounds: the run does not reach the tested case", name, a.State().Round)
		}
	}
}

// TestEnds reaches the ways to stop that a convex problem has.
func TestEnds(t *testing.T) {
	const n = 10
	p := descent.Penalty{L2: 1}
	points := optimtest.RandomPoints(2, 100, n, optimtest.Sign)
	obj := objective(points, optimtest.Logistic, p, 2)
	for _, average := range []bool{false, true} {
		for _, tc := range []struct {
			passes      int
			termination float64
			want        optim.Status
		}{
			{2, 0, optim.PassLimit},
			{3, 0, optim.PassLimit},
			{6, 0, optim.PassLimit},
			{200, 1e-3, optim.Converged},
		} {
			s, res := minimize(t, Config{Penalty: p, Termination: tc.termination, MaxPasses: tc.passes, Average: average}, n, obj, nil)
			if res.Status != tc.want || (tc.want == optim.PassLimit) != (res.Passes == tc.passes) {
				t.Errorf("average %t: %v after %d of %d passes, want %v", average, res.Status, res.Passes, tc.passes, tc.want)
			}
			if err := s.Accept(s.InPlace()); err == nil {
				t.Error("sums were accepted after the end")
			}
			if lines := string(optim.AppendRow(nil, s.Row())); lines != "" && !strings.HasSuffix(lines, "\n") {
				t.Errorf("average %t: the last line of the trace is open: %q", average, lines)
			}
		}
		flat := optim.ObjectiveFunc(func(_ context.Context, _ optim.Request, dst *optim.Sums) error {
			dst.Loss, dst.Weight = 1, 1
			return nil
		})
		if _, res := minimize(t, Config{MaxPasses: 9, Average: average}, n, flat, nil); res.Status != optim.ZeroDerivative || res.Passes != 1 {
			t.Errorf("average %t: a constant ends %v after %d passes", average, res.Status, res.Passes)
		}
	}
}

// Sums that give no step do not change the state.
func TestRefusals(t *testing.T) {
	cfg := Config{MaxPasses: 9}
	s, err := New(cfg, make([]float32, 2))
	if err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*optim.Sums){
		"the gradient has 1 elements": func(s *optim.Sums) { s.Gradient = s.Gradient[:1] },
		"nothing to learn from":       func(s *optim.Sums) { s.Weight = 0 },
		"the loss is NaN":             func(s *optim.Sums) { s.Loss = math.NaN() },
		"the gradient at weight 1":    func(s *optim.Sums) { s.Gradient[1] = float32(math.Inf(1)) },
	} {
		sums := &optim.Sums{Loss: 1, Weight: 1, Gradient: make([]float32, 2), Diagonal: make([]float32, 2)}
		spoil(sums)
		if err := s.Accept(sums); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
	if s.State().Pass != 0 {
		t.Error("a refused pass was counted")
	}
	if err := (&Config{Penalty: descent.Penalty{L2: -1}, MaxPasses: 1}).Validate(3); err == nil ||
		!strings.Contains(err.Error(), "l2 regularisation is -1") || !strings.Contains(err.Error(), "at least 2") {
		t.Errorf("faults of a configuration: %v", err)
	}
	for want, spoil := range map[string]func(*State){
		"vector 1 has 3 elements":     func(st *State) { st.X0 = st.X0[:3] },
		"pass 1 and first gradient":   func(st *State) { st.Pass = 1 },
		"next Kind(9)":                func(st *State) { st.Next = 9 },
		"7 trials":                    func(st *State) { st.Tried = 7 },
		"next is of another method":   func(st *State) { st.Pass, st.Next = 1, optim.Local },
		"pass 0 and product next do ": func(st *State) { st.Next = optim.Product },
	} {
		st := newState(make([]float32, 4))
		spoil(&st)
		if _, err := Restore(cfg, st); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
}

// CG solves a system to the residual that the number of iterations allows, and its Q is the
// value of the quadratic model.
func TestCGSolves(t *testing.T) {
	const n = 8
	r := rand.New(rand.NewPCG(4, 4))
	var h [n][n]float64
	for range 3 * n {
		var v [n]float64
		for i := range v {
			v[i] = r.NormFloat64()
		}
		for i := range v {
			for j := range v {
				h[i][j] += v[i] * v[j]
			}
		}
	}
	g, precond, hd := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range g {
		g[i], precond[i] = float32(r.NormFloat64()), float32(1/h[i][i])
	}
	multiply := func(v []float32) {
		for i := range hd {
			var sum float64
			for j, x := range v {
				sum += h[i][j] * float64(x)
			}
			hd[i] = float32(sum)
		}
	}
	c := NewCG(n)
	c.Begin(g, precond)
	for multiply(c.D); !c.Next(hd, precond, 0, 3*n); multiply(c.D) {
	}
	multiply(c.S)
	if q := vector.Dot(g, c.S) + vector.Dot(c.S, hd)/2; math.Abs(q-c.Q) > 1e-4*math.Abs(q) {
		t.Errorf("Q is %v, want %v", c.Q, q)
	}
	for i := range g {
		if math.Abs(float64(hd[i]+g[i])) > 1e-4 {
			t.Errorf("residual %d: %v", i, hd[i]+g[i])
		}
	}
}

// A pass costs no memory beyond the state.
func TestAcceptAllocatesNothing(t *testing.T) {
	const n = 100
	p := descent.Penalty{L2: 1}
	obj := objective(optimtest.RandomPoints(2, 50, n, optimtest.Sign), optimtest.Logistic, p, 1)
	s, err := New(Config{Penalty: p, MaxPasses: 1000}, make([]float32, n))
	if err != nil {
		t.Fatal(err)
	}
	sums := s.InPlace()
	for s.st.Next != optim.Product {
		req, _ := s.Request()
		_ = obj(context.Background(), req, sums)
		if err := s.Accept(sums); err != nil {
			t.Fatal(err)
		}
	}
	gradient := slices.Clone(s.st.D)
	if allocs := testing.AllocsPerRun(1, func() {
		copy(sums.Gradient, gradient)
		if err := s.Accept(sums); err != nil {
			t.Fatal(err)
		}
	}); allocs != 0 {
		t.Errorf("Accept allocates %v times", allocs)
	}
}

// The step of a trial is that of the parabola through the lowest value and its neighbours.
func TestLowestOfAParabola(t *testing.T) {
	f := func(x float64) float64 { return 3*(x-0.9)*(x-0.9) - 7 }
	if got := lowest(0.5, f(0.5), 1, f(1), 2, f(2)); math.Abs(got-0.9) > 1e-12 {
		t.Errorf("got %v, want 0.9", got)
	}
	for name, fc := range map[string]float64{"a line": 1, "an infinite value": math.Inf(1), "no number": math.NaN()} {
		if got := lowest(0, 3, 1, 2, 2, fc); got != 1 {
			t.Errorf("%s: got %v, want 1", name, got)
		}
	}
}
