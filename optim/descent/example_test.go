// SPDX-License-Identifier: Apache-2.0

package descent_test

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
)

// steepest is a method of the simplest kind: each direction is the negative gradient,
// scaled by the preconditioner.
type steepest struct{ x, g []float32 }

func (m *steepest) Origin() (x, g []float32) { return m.x, m.g }

func (m *steepest) Direct(p *descent.Point) (mix float64, ok bool) {
	copy(p.X0, p.X)
	copy(p.G0, p.Gradient)
	for i, g := range p.Gradient {
		p.Dir[i] = -p.Precond[i] * g
	}
	return 0, true
}

// A batch solver needs only a method that finds directions. The search does the rest:
// passes, line search and regulariser.
func Example() {
	objective := func(_ context.Context, req optim.Request, dst *optim.Sums) error {
		e := req.X[0] - 3
		dst.Weight, dst.Diagonal[0] = 1, 2
		dst.Loss, dst.Gradient[0] = float64(e*e), 2*e
		if req.Kind == optim.Curvature {
			dst.Curvature = 2 * float64(req.Dir[0]) * float64(req.Dir[0])
		}
		return nil
	}
	cfg := descent.Config{Penalty: descent.Penalty{L2: 1}, Termination: 1e-6, MaxPasses: 20}
	x := make([]float32, 1)
	if err := cfg.Validate(len(x)); err != nil {
		fmt.Println(err)
		return
	}
	s := descent.New(cfg, x, &steepest{x: make([]float32, 1), g: make([]float32, 1)})
	res, err := optim.Minimize(context.Background(), optim.ObjectiveFunc(objective), s, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	// (x−3)² + x²/2 is least at x = 2.
	fmt.Printf("%v, x = %.3f\n", res.Status, x[0])
	// Output:
	// derivative zero, x = 2.000
}
