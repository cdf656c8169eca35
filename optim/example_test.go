// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/lbfgs"
)

// An objective is one pass over data. Here it is the parabola (x−3)² without data,
// and the recorder prints the kind of each pass.
func Example() {
	parabola := func(_ context.Context, req optim.Request, dst *optim.Sums) error {
		e := req.X[0] - 3
		switch req.Kind {
		case optim.First:
			dst.Weight, dst.Diagonal[0] = 1, 2
			fallthrough
		case optim.Gradient:
			dst.Loss, dst.Gradient[0] = float64(e*e), 2*e
		case optim.Curvature:
			dst.Curvature = 2 * float64(req.Dir[0]) * float64(req.Dir[0])
		}
		return nil
	}
	s, err := lbfgs.New(lbfgs.Config{Mem: 3, Termination: 1e-6, MaxPasses: 10}, make([]float32, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	record := func(r optim.Row) {
		fmt.Printf("pass %d: %v\n", r.Pass, r.Kind)
	}
	res, err := optim.Minimize(context.Background(), optim.ObjectiveFunc(parabola), s, optim.RecorderFunc(record))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v after %d passes: x = %.3f\n", res.Status, res.Passes, s.Weights()[0])
	// Output:
	// pass 1: first gradient
	// pass 2: curvature
	// pass 3: gradient
	// pass 4: gradient
	// derivative zero after 4 passes: x = 3.000
}
