// SPDX-License-Identifier: Apache-2.0

package cg_test

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/cg"
	"github.com/gvw-project/gvw/optim/descent"
)

// The minimum of Σ cᵢ(xᵢ−i)² plus a small regulariser. Each direction takes two passes,
// one for the gradient and one for the curvature.
func Example() {
	scale := []float32{1, 10, 100}
	objective := func(_ context.Context, req optim.Request, dst *optim.Sums) error {
		dst.Loss, dst.Curvature = 0, 0
		for i, c := range scale {
			e := req.X[i] - float32(i)
			switch req.Kind {
			case optim.First:
				dst.Weight, dst.Diagonal[i] = 1, 2*c
				fallthrough
			case optim.Gradient:
				dst.Loss += float64(c * e * e)
				dst.Gradient[i] = 2 * c * e
			case optim.Curvature:
				dst.Curvature += 2 * float64(c) * float64(req.Dir[i]) * float64(req.Dir[i])
			}
		}
		return nil
	}
	s, err := cg.New(cg.Config{
		Penalty:     descent.Penalty{L2: 1e-3},
		Termination: 1e-6,
		MaxPasses:   20,
	}, make([]float32, len(scale)))
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := optim.Minimize(context.Background(), optim.ObjectiveFunc(objective), s, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v, x = %.2f\n", res.Status, s.Weights())
	// Output:
	// converged, x = [0.00 1.00 2.00]
}
