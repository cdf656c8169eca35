// SPDX-License-Identifier: Apache-2.0

package lbfgs

import (
	"testing"

	"gonum.org/v1/gonum/optimize"
)

// TestAgreesWithGonum finds the same optimum as gonum's L-BFGS, which shares
// neither the preconditioner nor the line search. It hides behind a build tag
// because gonum/optimize pulls golang.org/x/tools into the module.
func TestAgreesWithGonum(t *testing.T) {
	forEachOptimum(t, func(t *testing.T, points []point, loss lossFunc, l2 float64, n int) []float64 {
		want, err := optimize.Minimize(optimize.Problem{
			Func: func(x []float64) float64 { f, _ := value(points, loss, l2, x, nil); return f },
			Grad: func(dst, x []float64) { _, g := value(points, loss, l2, x, nil); copy(dst, g) },
		}, make([]float64, n), &optimize.Settings{GradientThreshold: 1e-5}, &optimize.LBFGS{})
		if err != nil {
			t.Fatal(err)
		}
		return want.X
	})
}
