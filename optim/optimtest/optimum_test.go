// SPDX-License-Identifier: Apache-2.0

package optimtest_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/optimize"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/cg"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/lbfgs"
	"github.com/gvw-project/gvw/optim/newton"
	. "github.com/gvw-project/gvw/optim/optimtest"
	"github.com/gvw-project/gvw/optim/vector"
)

// solver has the methods that the tests need beyond optim.Solver.
type solver interface {
	optim.Solver
	Weights() []float32
}

// solvers returns each kind of solver for a penalty.
var solvers = []struct {
	name string
	make func(p descent.Penalty, n int) (solver, error)
}{
	{"lbfgs", func(p descent.Penalty, n int) (solver, error) {
		return lbfgs.New(lbfgs.Config{Mem: 10, Penalty: p, MaxPasses: 300}, make([]float32, n))
	}},
	{"lbfgs with curvature", func(p descent.Penalty, n int) (solver, error) {
		return lbfgs.New(lbfgs.Config{Mem: 5, HessianOn: true, Penalty: p, MaxPasses: 300}, make([]float32, n))
	}},
	{"cg", func(p descent.Penalty, n int) (solver, error) {
		return cg.New(cg.Config{Penalty: p, MaxPasses: 600}, make([]float32, n))
	}},
	{"newton", func(p descent.Penalty, n int) (solver, error) {
		return newton.New(newton.Config{Penalty: p, MaxPasses: 300}, make([]float32, n))
	}},
	{"lbfgs as vw 9", func(p descent.Penalty, n int) (solver, error) {
		return lbfgs.New(lbfgs.Config{Mem: 10, Semantics: optim.VW9, Penalty: p, MaxPasses: 300}, make([]float32, n))
	}},
	{"cg as vw 9", func(p descent.Penalty, n int) (solver, error) {
		return cg.New(cg.Config{Semantics: optim.VW9, Penalty: p, MaxPasses: 600}, make([]float32, n))
	}},
}

const optimumWeights = 30

// optimumCases are convex problems of 30 weights, the last one the constant.
var optimumCases = []struct {
	name    string
	loss    LossFunc
	label   func(float64, *rand.Rand) float32
	penalty descent.Penalty
}{
	{"logistic", Logistic, Sign, descent.Penalty{L2: 0.5}},
	{"squared", Squared, Noisy, descent.Penalty{L2: 2}},
	{"squared, no regulariser", Squared, Noisy, descent.Penalty{}},
	{"poisson", Poisson, Count, descent.Penalty{L2: 1}},
	{"logistic, the constant free", Logistic, Sign, descent.Penalty{L2: 5, Free: []uint32{optimumWeights - 1}}},
	{"logistic, a regulariser for each weight", Logistic, Sign, prior(nil)},
	{"squared, the same and the constant free", Squared, Noisy, prior([]uint32{optimumWeights - 1})},
}

func prior(free []uint32) descent.Penalty {
	p := descent.Penalty{Free: free}
	for i := range optimumWeights {
		p.Precision = append(p.Precision, 0.25+float32(i%5))
		p.Mean = append(p.Mean, 0.5-float32(i%3)/2)
	}
	return p
}

// problem returns the sum over points with the penalty.
func problem(points []Point, loss LossFunc, p descent.Penalty) *Problem {
	q := &Problem{Points: points, Loss: loss, Lambda: make([]float64, optimumWeights), Mean: make([]float64, optimumWeights)}
	for i := range q.Lambda {
		q.Lambda[i] = p.L2
		if p.Precision != nil {
			q.Lambda[i], q.Mean[i] = float64(p.Precision[i]), float64(p.Mean[i])
		}
	}
	for _, i := range p.Free {
		q.Lambda[i] = 0
	}
	return q
}

// TestSolversFindTheOptimum compares every solver with Newton's method on the
// whole Hessian, and that with gonum's BFGS, on problems of known optimum.
func TestSolversFindTheOptimum(t *testing.T) {
	size := 400
	if testing.Short() { // emulated processors take a minute for all of them
		size = 100
		t.Logf("sampled: %d points", size)
	}
	for _, tc := range optimumCases {
		t.Run(tc.name, func(t *testing.T) {
			points := RandomPoints(7, size, optimumWeights, tc.label)
			q := problem(points, tc.loss, tc.penalty)
			want, err := q.Newton()
			if err != nil {
				t.Fatal(err)
			}
			other, err := optimize.Minimize(optimize.Problem{
				Func: func(x []float64) float64 { f, _ := q.Value(x, nil); return f },
				Grad: func(dst, x []float64) { _, g := q.Value(x, nil); copy(dst, g) },
			}, make([]float64, optimumWeights), &optimize.Settings{GradientThreshold: 1e-4}, &optimize.BFGS{})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "gonum", other.X, want)
			obj := Objective(points, tc.loss, math.Inf(-1), math.Inf(1))
			for _, sv := range solvers {
				s, err := sv.make(tc.penalty, optimumWeights)
				if err != nil {
					t.Fatal(err)
				}
				res, err := optim.Minimize(context.Background(), obj, s, nil)
				if err != nil {
					t.Fatalf("%s: %v", sv.name, err)
				}
				if tc.penalty.L2 == 0 && tc.penalty.Precision == nil && slices.Contains([]string{"lbfgs as vw 9", "cg as vw 9"}, sv.name) {
					if res.Status != optim.NoCurvature && res.Status != optim.ZeroDerivative {
						t.Errorf("%s ended %v: without a regulariser vw 9 finds no direction", sv.name, res.Status)
					}
					continue
				}
				got := make([]float64, optimumWeights)
				for i, w := range s.Weights() {
					got[i] = float64(w)
				}
				t.Logf("%s: %v after %d passes", sv.name, res.Status, res.Passes)
				compare(t, sv.name, got, want)
			}
		})
	}
}

// compare allows for the accuracy of sums of float32 vectors.
func compare(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= 1e-4*max(1, math.Abs(w))) {
			t.Errorf("%s: weight %d: got %v, want %v", name, i, got[i], w)
		}
	}
}

// TestObjectiveByDifferences compares the objectives with finite differences, because the other
// tests rely on them.
func TestObjectiveByDifferences(t *testing.T) {
	const n = 12
	r := rand.New(rand.NewPCG(3, 3))
	for name, loss := range map[string]LossFunc{"logistic": Logistic, "squared": Squared, "poisson": Poisson} {
		obj := Objective(RandomPoints(11, 60, n, Sign), loss, math.Inf(-1), math.Inf(1))
		x, d := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i], d[i] = float32(r.NormFloat64())/4, float32(r.NormFloat64())/4
		}
		ask := func(kind optim.Kind, x []float32) *optim.Sums {
			s := &optim.Sums{Gradient: make([]float32, n), Diagonal: make([]float32, n)}
			if err := obj(context.Background(), optim.Request{Kind: kind, X: x, Dir: d}, s); err != nil {
				t.Fatal(err)
			}
			return s
		}
		const h = 1.0 / 256
		at := func(h float32) []float32 {
			v := slices.Clone(x)
			vector.AddScaled(v, x, h, d)
			return v
		}
		up, down, mid := ask(optim.Gradient, at(h)), ask(optim.Gradient, at(-h)), ask(optim.First, x)
		near := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= 2e-3*max(1, math.Abs(want))) {
				t.Errorf("%s: %s is %v, differences say %v", name, what, got, want)
			}
		}
		near("g'd", vector.Dot(mid.Gradient, d), (up.Loss-down.Loss)/(2*h))
		near("d'Hd", ask(optim.Curvature, x).Curvature, (vector.Dot(up.Gradient, d)-vector.Dot(down.Gradient, d))/(2*h))
	}
}
