// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The radius is the largest modulus of the eigenvalues that a library computes, also of matrices with complex ones.
func TestRadiusIsTheLargestEigenvalue(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 1))
	for range 200 {
		n := 1 + rng.IntN(12)
		m, flat := newMatrix(n), make([]float64, 0, n*n)
		for i := range m {
			for j := range m[i] {
				if rng.IntN(3) > 0 {
					m[i][j] = rng.NormFloat64()
				}
			}
			flat = append(flat, m[i]...)
		}
		var eigen mat.Eigen
		if !eigen.Factorize(mat.NewDense(n, n, flat), mat.EigenNone) {
			t.Fatal("the eigenvalues did not converge")
		}
		want := 0.0
		for _, v := range eigen.Values(nil) {
			want = max(want, cmplx.Abs(v))
		}
		if got := m.radius(); math.Abs(got-want) > 1e-6*max(1, want) && want > 1e-4 {
			t.Errorf("%v: got the radius %v, want %v", flat, got, want)
		}
	}
}

// Of a stochastic matrix the differences have all eigenvalues but the 1.
func TestDifferencesLeaveOneEigenvalueOut(t *testing.T) {
	m := matrix{{0.5, 0.5, 0}, {0.25, 0.5, 0.25}, {0, 0.5, 0.5}} // 1, 1/2, 0
	if got := m.differences().radius(); math.Abs(got-0.5) > 1e-7 {
		t.Errorf("got the radius %v, want 0.5", got)
	}
	if got := (matrix{{0.5, 0.5}, {0.5, 0.5}}).differences().radius(); got != 0 {
		t.Errorf("an average: got the radius %v, want 0", got)
	}
}
