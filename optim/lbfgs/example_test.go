// SPDX-License-Identifier: Apache-2.0

package lbfgs_test

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/lbfgs"
)

// A line through three points: y = 2x − 1, by least squares.
func Example() {
	xs, ys := []float32{0, 1, 2}, []float32{-1, 1, 3}

	// The objective is one pass over the data. It returns sums over all
	// examples; on a cluster it would reduce them over the ranks first.
	pass := func(_ context.Context, req optim.Request, dst *optim.Sums) error {
		*dst = optim.Sums{Gradient: dst.Gradient, Diagonal: dst.Diagonal}
		clear(dst.Gradient)
		if req.Kind == optim.First {
			clear(dst.Diagonal)
		}
		for i := range xs {
			features := [2]float32{xs[i], 1}
			if req.Kind == optim.Curvature {
				dx := float64(req.Dir[0]*features[0] + req.Dir[1]*features[1])
				dst.Curvature += 2 * dx * dx
				continue
			}
			e := req.X[0]*features[0] + req.X[1]*features[1] - ys[i]
			dst.Loss += float64(e * e)
			dst.Weight++
			for j, f := range features {
				dst.Gradient[j] += 2 * e * f
				if req.Kind == optim.First {
					dst.Diagonal[j] += 2 * f * f
				}
			}
		}
		return nil
	}

	s, err := lbfgs.New(lbfgs.Config{Mem: 5, Termination: 1e-6, MaxPasses: 20}, make([]float32, 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := optim.Minimize(context.Background(), optim.ObjectiveFunc(pass), s, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	w := s.Weights()
	fmt.Printf("y = %.3fx %+.3f, loss %.6f\n", w[0], w[1], res.Loss)
	// Output: y = 2.000x -1.000, loss 0.000000
}
