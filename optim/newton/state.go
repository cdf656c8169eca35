// SPDX-License-Identifier: Apache-2.0

package newton

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/optim"
)

// Head holds the numbers of a state.
type Head struct {
	Next   optim.Kind   // kind of the next sums
	Status optim.Status // Running, or the reason of the end
	Pass   int          // requests answered
	Round  int          // gradient passes
	Tried  int          // trials of steps along the current direction
	Iter   int          // products of the current system
	// Features is the number of weights whose Hessian is summed as a matrix; 0: products.
	Features int
	Weight   float64   // sum of importance weights, from pass 1
	Loss     float64   // f at X0
	Step     float64   // step from X0 to X
	Slope    float64   // derivative at X0 along the direction
	Rho, Q   float64   // numbers of CG
	Last     optim.Row // trace of the pass accepted last
}

// State is the complete state of a solver between two passes.
type State struct {
	Head
	X       []float32 // weights at which the next sums are taken
	X0      []float32 // weights from which the current direction begins
	S       []float32 // direction, or what conjugate gradients have of it
	R       []float32 // residual of conjugate gradients; the gradient at X0 with Config.Average or a matrix
	Precond []float32 // inverse of the diagonal of the Hessian at the start
	D       []float32 // direction of the next product; the first diagonal of the Hessian with a matrix; the first X with Config.Average
}

// Vectors returns the vectors of the state in a fixed order, for sending or storing them.
func (st *State) Vectors() [][]float32 {
	return [][]float32{st.X, st.X0, st.S, st.R, st.Precond, st.D}
}

// newState returns the initial state of a solver, with x as its weights.
func newState(x []float32) State {
	n := len(x)
	st := State{Head: Head{Next: optim.First}, X: x}
	for _, v := range []*[]float32{&st.X0, &st.S, &st.R, &st.Precond, &st.D} {
		*v = make([]float32, n)
	}
	return st
}

// check returns an error for a state that no solver with c produces.
func (st *State) check(c *Config) error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if st.Next > optim.Matrix || st.Next == optim.Curvature || st.Status > optim.PassLimit || st.Pass < 0 || st.Round < 0 {
		fault("next %v, status %v, pass %d, round %d", st.Next, st.Status, st.Pass, st.Round)
	}
	if (st.Pass == 0) != (st.Next == optim.First) {
		fault("pass %d and %v next do not go together", st.Pass, st.Next)
	}
	if st.Next == optim.Product && c.Average || st.Next == optim.Local && !c.Average {
		fault("%v next is of another method", st.Next)
	}
	if st.Features < 0 || st.Features > MaxFeatures || st.Features > 0 && !c.Matrix ||
		st.Features > 0 && st.Next == optim.Product || st.Features == 0 && st.Next == optim.Matrix {
		fault("%v next and a Hessian of %d features do not go together", st.Next, st.Features)
	}
	if st.Tried < 0 || st.Tried > searches {
		fault("%d trials of steps, want 0 to %d", st.Tried, searches)
	}
	for i, v := range st.Vectors() {
		if len(v) != len(st.X) {
			fault("vector %d has %d elements, the weights have %d", i, len(v), len(st.X))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("newton: state: %w", err)
	}
	return nil
}
