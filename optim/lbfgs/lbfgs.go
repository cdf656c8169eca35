// SPDX-License-Identifier: Apache-2.0

package lbfgs

import (
	"fmt"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
)

// Solver is L-BFGS as a machine of passes. It is not for use by several
// goroutines at once.
type Solver struct {
	search *descent.Search
	ring   ring
}

var _ optim.Solver = (*Solver)(nil)

// New returns a solver that starts at x and takes x over as its weights.
func New(cfg Config, x []float32) (*Solver, error) {
	if err := cfg.Validate(len(x)); err != nil {
		return nil, err
	}
	return newSolver(&cfg, newState(cfg.Mem, x)), nil
}

// Restore returns a solver that goes on from st, and takes its vectors over.
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

// State returns the state itself: its vectors are the solver's, and what they
// hold is right until the next Accept.
func (s *Solver) State() State {
	p, r := &s.search.Point, &s.ring
	return State{
		Head: s.search.Head, Older: r.older, Origin: r.origin, Rho: r.rho,
		X: p.X, Dir: p.Dir, Precond: p.Precond, Y: r.y, S: r.s,
	}
}

// Weights returns the solver's weights.
func (s *Solver) Weights() []float32 { return s.search.Weights() }

// Status says why the solver stopped, or optim.Running.
func (s *Solver) Status() optim.Status { return s.search.Status() }

// Row returns the trace of the pass accepted last.
func (s *Solver) Row() optim.Row { return s.search.Row() }

// InPlace returns sums whose vectors are the solver's own.
func (s *Solver) InPlace() *optim.Sums { return s.search.InPlace() }

// Request returns what to evaluate next; false when the solver has stopped.
func (s *Solver) Request() (optim.Request, bool) { return s.search.Request() }

// Prepare makes of one rank's sums what the ranks add.
func (s *Solver) Prepare(sums *optim.Sums) { s.search.Prepare(sums) }

// Accept takes the sums that answer the request: one pass.
func (s *Solver) Accept(sums *optim.Sums) error {
	if err := s.search.Accept(sums); err != nil {
		return fmt.Errorf("lbfgs: %w", err)
	}
	return nil
}
