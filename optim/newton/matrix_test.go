// SPDX-License-Identifier: Apache-2.0

package newton

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/optimtest"
)

// A solution satisfies the equations, also those of a matrix whose features depend on each other.
func TestSolveSatisfiesTheEquations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "features")
		rank := rapid.IntRange(1, n).Draw(t, "rank")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		h, want, b := make([]float64, optim.Triangle(n)), make([]float64, n), make([]float64, n)
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for range rank {
			v, along := make([]float64, n), 0.0
			for i := range v {
				v[i] = r.NormFloat64()
				along += v[i] * x[i]
			}
			for i := range v {
				for j := range i + 1 {
					h[optim.Triangle(i)+j] += v[i] * v[j]
				}
				want[i] += v[i] * along
			}
		}
		whole := append([]float64(nil), h...)
		copy(b, want)
		factorize(h, n)
		solve(b, h)
		for i := range n {
			var got float64
			for j := range n {
				got += whole[optim.Triangle(max(i, j))+min(i, j)] * b[j]
			}
			if !(math.Abs(got-want[i]) <= 1e-3*(1+math.Abs(want[i]))) {
				t.Fatalf("rank %d of %d: equation %d has %v, want %v", rank, n, i, got, want[i])
			}
		}
	})
}

// With a matrix a quadratic needs one direction, and weights without examples take their regulariser's step.
func TestMatrixSolvesAQuadraticAtOnce(t *testing.T) {
	const n, spare = 12, 3
	obj := objective(optimtest.RandomPoints(3, 200, n, optimtest.Noisy), optimtest.Squared, descent.Penalty{L2: 2}, 1)
	x := make([]float32, n+spare)
	for i := range x {
		x[i] = 5
	}
	s, err := New(Config{Penalty: descent.Penalty{L2: 2}, Termination: 1e-6, MaxPasses: 20, Matrix: true}, x)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []optim.Kind
	res, err := optim.Minimize(t.Context(), obj, s, optim.RecorderFunc(func(r optim.Row) { kinds = append(kinds, r.Kind) }))
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != optim.Converged || len(kinds) != 3 || kinds[1] != optim.Matrix || s.st.Features != n {
		t.Errorf("%v after %v with a Hessian of %d features, want three passes and %d features", res.Status, kinds, s.st.Features, n)
	}
	for i, v := range s.Weights()[n:] {
		if v != 0 {
			t.Errorf("weight %d, which no example has, is %v, want 0", n+i, v)
		}
	}
}

// More features than a matrix may have are left to conjugate gradients.
func TestManyFeaturesTakeProducts(t *testing.T) {
	diagonal := make([]float32, 2*MaxFeatures)
	for i := range MaxFeatures {
		diagonal[2*i] = 1
	}
	if got := features(diagonal, MaxFeatures); len(got) != MaxFeatures || got[1] != 2 {
		t.Errorf("%d features, want %d with number 2", len(got), MaxFeatures)
	}
	diagonal[1] = 1
	if got := features(diagonal, MaxFeatures); got != nil {
		t.Errorf("%d features, want none", len(got))
	}
}
