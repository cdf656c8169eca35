// SPDX-License-Identifier: Apache-2.0

package cg

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/vector"
)

// Config has the parameters of the solver.
type Config struct {
	// Penalty is the regulariser. Zero: none.
	Penalty descent.Penalty
	// Termination ends the run when an iteration lowers the loss by less than
	// this fraction of it. 0: never, vw's --conjugate_gradient; its --mem 0 has
	// 0.001.
	Termination float64
	// MaxPasses is the number of passes over the data, curvature passes
	// included. At least 2.
	MaxPasses int
	// Semantics is the version of vw to agree with. Zero: 7.10.
	Semantics optim.Semantics
}

func (c *Config) descent() descent.Config {
	return descent.Config{
		Penalty: c.Penalty, Termination: c.Termination, MaxPasses: c.MaxPasses,
		Curvature: true, Mixes: true, Semantics: c.Semantics,
	}
}

// Validate reports all faults of the configuration for n weights.
func (c *Config) Validate(n int) error {
	d := c.descent()
	if err := d.Validate(n); err != nil {
		return fmt.Errorf("cg: %w", err)
	}
	return nil
}

// State is the complete state of a solver between two passes.
type State struct {
	descent.Head
	X       []float32 // weights at which the next sums are taken
	Dir     []float32 // direction
	Precond []float32 // C
	X0, G0  []float32 // weights and gradient where the line search began
}

// Vectors returns the vectors of the state in a fixed order, for sending or storing
// them.
func (st *State) Vectors() [][]float32 {
	return [][]float32{st.X, st.Dir, st.Precond, st.X0, st.G0}
}

func (st *State) check() error {
	errs := []error{st.Head.Check()}
	for i, v := range st.Vectors() {
		if len(v) != len(st.X) {
			errs = append(errs, fmt.Errorf("vector %d has %d elements, the weights have %d", i, len(v), len(st.X)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("cg: state: %w", err)
	}
	return nil
}

// Solver is conjugate gradients as a state machine over passes. It is not safe for
// concurrent use.
type Solver struct {
	search *descent.Search
	method mixture
}

var _ optim.Solver = (*Solver)(nil)

// New returns a solver that starts at x and owns x, which becomes its weights.
func New(cfg Config, x []float32) (*Solver, error) {
	st := State{Head: descent.Head{Next: optim.First}, X: x}
	for _, v := range []*[]float32{&st.Dir, &st.Precond, &st.X0, &st.G0} {
		*v = make([]float32, len(x))
	}
	return Restore(cfg, st)
}

// Restore returns a solver that continues from st and owns its vectors.
func Restore(cfg Config, st State) (*Solver, error) {
	if err := cfg.Validate(len(st.X)); err != nil {
		return nil, err
	}
	if err := st.check(); err != nil {
		return nil, err
	}
	s := &Solver{method: mixture{x: st.X0, g: st.G0}}
	s.search = descent.Restore(cfg.descent(), st.Head, st.X, st.Dir, st.Precond, &s.method)
	return s, nil
}

// State returns the state itself. Its vectors are the solver's, and are valid until the
// next Accept.
func (s *Solver) State() State {
	p := &s.search.Point
	return State{Head: s.search.Head, X: p.X, Dir: p.Dir, Precond: p.Precond, X0: p.X0, G0: p.G0}
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
		return fmt.Errorf("cg: %w", err)
	}
	return nil
}

// mixture is the method; its vectors are State's X0 and G0.
type mixture struct{ x, g []float32 }

var _ descent.Method = (*mixture)(nil)

// Origin returns where the search keeps the start of a line search.
func (m *mixture) Origin() (x, g []float32) { return m.x, m.g }

// Direct sets Dir to βDir − Cg.
func (m *mixture) Direct(p *descent.Point) (mix float64, ok bool) {
	g, c, dir := p.Gradient, p.Precond, p.Dir
	gCg := vector.DotDiag(g, c, g)
	gCg0 := vector.DotDiag(g, c, m.g)
	beta := float32((gCg - gCg0) / vector.DotDiag(m.g, c, m.g))
	if !(beta > 0) { // not a number either
		beta = 0
	}
	vector.Each(len(dir), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dir[i] = float32(beta*dir[i]) - float32(c[i]*g[i])
		}
	})
	return float64(beta), true
}
