// SPDX-License-Identifier: Apache-2.0

package newton_test

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/newton"
)

// A line through three points: y = 2x − 1, by least squares.
func Example() {
	xs, ys := []float32{0, 1, 2}, []float32{-1, 1, 3}

	// The objective is one pass over the data. It returns sums over all examples.
	pass := func(_ context.Context, req optim.Request, dst *optim.Sums) error {
		*dst = optim.Sums{Gradient: dst.Gradient, Diagonal: dst.Diagonal, Trials: make([]float64, len(req.Steps))}
		clear(dst.Gradient)
		if req.Kind == optim.First {
			clear(dst.Diagonal)
		}
		along := func(w, features []float32) float32 { return w[0]*features[0] + w[1]*features[1] }
		for i := range xs {
			features := []float32{xs[i], 1}
			e := along(req.X, features) - ys[i]
			first := 2 * e
			switch req.Kind {
			case optim.Product:
				first = 2 * along(req.Dir, features)
			case optim.Trial:
				for k, step := range req.Steps {
					e := e + float32(step)*along(req.Dir, features)
					dst.Trials[k] += float64(e * e)
				}
			}
			dst.Loss += float64(e * e)
			dst.Weight++
			for j, f := range features {
				dst.Gradient[j] += first * f
				if req.Kind == optim.First {
					dst.Diagonal[j] += 2 * f * f
				}
			}
		}
		return nil
	}

	s, err := newton.New(newton.Config{Termination: 1e-6, MaxPasses: 20}, make([]float32, 2))
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
