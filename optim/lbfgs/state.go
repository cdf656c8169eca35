// SPDX-License-Identifier: Apache-2.0

package lbfgs

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
)

// State is the complete state of a solver between two passes.
type State struct {
	descent.Head
	Older  int       // pairs in the memory; the pair in the making is not one of them
	Origin int       // ring slot of the pair in the making
	Rho    []float64 // 1/y's of the pairs, newest first

	X       []float32 // weights at which the next sums are taken
	Dir     []float32 // direction
	Precond []float32 // C

	// Y and S are the ring of slots: Y[Origin], S[Origin] hold the gradient and
	// the weights where the line search began, Y[(Origin+j)%m], S[…] the j-th
	// newest pair.
	Y, S [][]float32
}

// Vectors returns the vectors of the state in a fixed order, for sending or storing
// them.
func (st *State) Vectors() [][]float32 {
	vs := [][]float32{st.X, st.Dir, st.Precond}
	for i := range min(len(st.Y), len(st.S)) {
		vs = append(vs, st.Y[i], st.S[i])
	}
	return vs
}

// newState returns the initial state of a solver, with x as its weights.
func newState(mem int, x []float32) State {
	n := len(x)
	st := State{
		Head:    descent.Head{Next: optim.First},
		Rho:     make([]float64, mem),
		X:       x,
		Dir:     make([]float32, n),
		Precond: make([]float32, n),
		Y:       make([][]float32, mem),
		S:       make([][]float32, mem),
	}
	for i := range mem {
		st.Y[i] = make([]float32, n)
		st.S[i] = make([]float32, n)
	}
	return st
}

// check returns an error for a state that no solver with c produces.
func (st *State) check(c *Config) error {
	errs := []error{st.Head.Check()}
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(st.Y) != c.Mem || len(st.S) != c.Mem || len(st.Rho) != c.Mem {
		fault("%d, %d and %d memory slots, want %d", len(st.Y), len(st.S), len(st.Rho), c.Mem)
	}
	for i, v := range st.Vectors() {
		if len(v) != len(st.X) {
			fault("vector %d has %d elements, the weights have %d", i, len(v), len(st.X))
		}
	}
	if st.Older < 0 || st.Older >= max(1, c.Mem) {
		fault("%d pairs, want 0 to %d", st.Older, c.Mem-1)
	}
	if st.Origin < 0 || st.Origin >= c.Mem {
		fault("origin %d, want 0 to %d", st.Origin, c.Mem-1)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("lbfgs: state: %w", err)
	}
	return nil
}
