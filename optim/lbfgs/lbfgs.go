// SPDX-License-Identifier: Apache-2.0

package lbfgs

import (
	"fmt"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
)

// Solver is L-BFGS as a state machine over passes. It is not safe for concurrent
// use.
type Solver struct {
	search *descent.Search
	ring   ring
}

var _ optim.Solver = (*Solver)(nil)

// New returns a solver that starts at x and owns x, which becomes its weights.
func New(cfg Config, x []float32) (*Solver, error) {
	if err := cfg.Validate(len(x)); err != nil {
		return nil, err
	}
	return newSolver(&cfg, newState(cfg.Mem, x)), nil
}

// Restore returns a solver that continues from st and owns its vectors.
func Restore(cfg Config, st State) (*Solver, error) {
	if err := cfg.Validate(len(st.X)); err != nil {
		return nil, err
	}
	if err := st.check(&cfg); err != nil {
		return nil, err
	}
	return newSolver(&cfg, st), nil
}

func newSolver(cfg *Config, st State) *Solver {
	s := &Solver{ring: ring{
		y: st.Y, s: st.S, rho: st.Rho, older: st.Older, origin: st.Origin,
		alpha: make([]float64, cfg.Mem),
	}}
	s.search = descent.Restore(cfg.descent(), st.Head, st.X, st.Dir, st.Precond, &s.ring)
	return s
}

// State returns the state itself. Its vectors are the solver's, and are valid until the
// next Accept.
func (s *Solver) State() State {
	p, r := &s.search.Point, &s.ring
	return State{
		Head: s.search.Head, Older: r.older, Origin: r.origin, Rho: r.rho,
		X: p.X, Dir: p.Dir, Precond: p.Precond, Y: r.y, S: r.s,
	}
}

// Weights returns the solver's weights.
func (s *Solver) Weights() []float32 { return s.search.Weights() }

// Status returns the reason why the solver stopped, or optim.Running.
func (s *Solver) Status() optim.Status { return s.search.Status() }

// Row returns the trace of the last accepted pass.
func (s *Solver) Row() optim.Row { return s.search.Row() }

// InPlace returns sums whose vectors are the solver's own.
func (s *Solver) InPlace() *optim.Sums { return s.search.InPlace() }

// Request returns what to evaluate next; false when the solver has stopped.
func (s *Solver) Request() (optim.Request, bool) { return s.search.Request() }

// Prepare converts one rank's sums to the terms that the ranks add.
func (s *Solver) Prepare(sums *optim.Sums) { s.search.Prepare(sums) }

// Accept advances the state with the sums for the request: one pass.
func (s *Solver) Accept(sums *optim.Sums) error {
	if err := s.search.Accept(sums); err != nil {
		return fmt.Errorf("lbfgs: %w", err)
	}
	return nil
}
