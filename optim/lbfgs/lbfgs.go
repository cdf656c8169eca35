// SPDX-License-Identifier: Apache-2.0

package lbfgs

import (
	"fmt"
	"math"

	"github.com/gvw-project/gvw/optim"
)

// wolfe1Bound is the least share of the promised decrease with which a step
// is accepted; stepBack the factor on a step that is not.
const (
	wolfe1Bound = 0.01
	stepBack    = 0.5
)

// Solver is L-BFGS as a machine of passes. It is not for use by several
// goroutines at once.
type Solver struct {
	cfg   Config
	st    State
	grad  []float32 // gradient of f, as summed last; nothing between passes
	alpha []float64 // scratch of the two-loop recursion
	row   optim.Row // trace of the last pass
}

var _ optim.Solver = (*Solver)(nil)

// New returns a solver that starts at x and takes x over as its weights.
func New(cfg Config, x []float32) (*Solver, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return newSolver(cfg, newState(cfg.Mem, x)), nil
}

// Restore returns a solver that goes on from st, and takes its vectors over.
func Restore(cfg Config, st State) (*Solver, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := st.check(cfg); err != nil {
		return nil, err
	}
	return newSolver(cfg, st), nil
}

func newSolver(cfg Config, st State) *Solver {
	return &Solver{cfg: cfg, st: st, grad: make([]float32, len(st.X)), alpha: make([]float64, cfg.Mem)}
}

// State returns the state itself: its vectors are the solver's, and what they
// hold is right until the next Accept.
func (s *Solver) State() State { return s.st }

// Weights returns the solver's weights.
func (s *Solver) Weights() []float32 { return s.st.X }

// Status says why the solver stopped, or optim.Running.
func (s *Solver) Status() optim.Status { return s.st.Status }

// Row returns the trace of the pass accepted last.
func (s *Solver) Row() optim.Row { return s.row }

// InPlace returns sums whose vectors are the solver's own.
func (s *Solver) InPlace() *optim.Sums {
	return &optim.Sums{Gradient: s.grad, Diagonal: s.st.Precond}
}

// Request returns what to evaluate next; false when the solver has stopped.
func (s *Solver) Request() (optim.Request, bool) {
	if s.st.Status != optim.Running {
		return optim.Request{}, false
	}
	return s.request(), true
}

func (s *Solver) request() optim.Request {
	req := optim.Request{Kind: s.st.Next, X: s.st.X}
	if req.Kind == optim.Curvature {
		req.Dir = s.st.Dir
	}
	return req
}

// Accept takes the sums that answer the request: one pass.
func (s *Solver) Accept(sums *optim.Sums) error {
	st := &s.st
	if st.Status != optim.Running {
		return fmt.Errorf("lbfgs: no sums are wanted after the end (%v)", st.Status)
	}
	if err := s.check(sums); err != nil {
		return fmt.Errorf("lbfgs: pass %d: %w", st.Pass+1, err)
	}
	row := optim.Row{Pass: st.Pass + 1, Kind: st.Next}
	switch st.Next {
	case optim.First:
		s.begin(sums, &row)
	case optim.Curvature:
		s.firstStep(sums, &row)
	case optim.Gradient:
		s.judge(sums, &row)
	default:
		panic(fmt.Sprintf("BUG: lbfgs: next is %v", st.Next))
	}
	s.row = row
	st.Pass++
	if st.Status == optim.Running && st.Pass >= s.cfg.MaxPasses {
		st.Status = optim.PassLimit
	}
	return nil
}

// check refuses sums that no step can be made of.
func (s *Solver) check(sums *optim.Sums) error {
	if err := sums.Check(s.request()); err != nil {
		return err
	}
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	switch s.st.Next {
	case optim.First:
		if !(sums.Weight > 0) || !finite(sums.Weight) {
			return fmt.Errorf("the importance weights sum to %v: there is nothing to learn from", sums.Weight)
		}
		if !finite(sums.Loss) {
			return fmt.Errorf("the loss at the start is %v: the data or the initial weights hold values out of range", sums.Loss)
		}
	case optim.Curvature:
		if !finite(sums.Curvature) {
			return fmt.Errorf("the curvature is %v: the data hold values out of range", sums.Curvature)
		}
	}
	return nil
}

// begin takes the sums of the first pass: f, g and the preconditioner, and
// sets the direction −Cg.
func (s *Solver) begin(sums *optim.Sums, row *optim.Row) {
	st := &s.st
	st.Weight = sums.Weight
	precondition(st.Precond, sums.Diagonal, s.cfg.L2)
	st.Loss = sums.Loss + regularise(s.grad, sums.Gradient, st.X, s.cfg.L2)
	s.describe(row, st.Loss)
	for i, c := range st.Precond {
		st.Dir[i] = -c * s.grad[i]
	}
	s.markStart()
	st.Next = optim.Curvature
}

// markStart keeps gradient and weights as the point from which the next pair
// is measured.
func (s *Solver) markStart() {
	copy(s.st.Y[s.st.Origin], s.grad)
	copy(s.st.S[s.st.Origin], s.st.X)
}

// describe fills in the columns that all gradient passes share.
func (s *Solver) describe(row *optim.Row, loss float64) {
	st := &s.st
	row.Loss = loss / st.Weight
	row.Slope = dot(s.grad, s.grad) / (st.Weight * st.Weight)
	row.Conditioned = dotC(s.grad, st.Precond, s.grad) / st.Weight
}

// firstStep takes the curvature along the first direction and goes to the
// minimum of the parabola.
func (s *Solver) firstStep(sums *optim.Sums, row *optim.Row) {
	st := &s.st
	length := dot(st.Dir, st.Dir)
	curvature := sums.Curvature + float64(s.cfg.L2*length)
	slope := float32(dot(st.Y[st.Origin], st.Dir))
	switch {
	case slope == 0:
		st.Step, st.Status = 0, optim.ZeroDerivative
	case !(curvature > 0):
		st.Step, st.Status = 0, optim.NoCurvature
	default:
		st.Step = float64(-slope / float32(curvature))
		s.advance()
	}
	row.Move = optim.Advance
	row.Curvature = curvature / st.Weight
	row.Length = float64(float32(length))
	row.Step = st.Step
	st.Next = optim.Gradient
}

// advance moves the weights by the step along the direction, from where the
// line search began: a revised step leaves no rounding behind.
func (s *Solver) advance() {
	st := &s.st
	addScaled(st.X, st.S[st.Origin], float32(st.Step), st.Dir)
}

// judge takes f and g after a step and decides: stop, step back, or go on in
// a new direction.
func (s *Solver) judge(sums *optim.Sums, row *optim.Row) {
	st := &s.st
	loss := sums.Loss + regularise(s.grad, sums.Gradient, st.X, s.cfg.L2)
	s.describe(row, loss)
	before := dot(st.Y[st.Origin], st.Dir)
	row.Wolfe1 = (loss - st.Loss) / (st.Step * before)
	row.Wolfe2 = dot(s.grad, st.Dir) / before

	switch {
	case before == 0 || st.Step == 0:
		st.Status = optim.ZeroDerivative
		return
	// A loss that is not a number lies beyond where the loss can be computed:
	// the step was too long as well.
	case !(row.Wolfe1 >= wolfe1Bound) || !(loss <= st.Loss):
		st.Step = float64(float32(stepBack * st.Step))
		s.advance()
		row.Move, row.Factor, row.Step = optim.Revise, stepBack, st.Step
		return
	}

	if decrease := (st.Loss - loss) / st.Loss; math.Abs(decrease) < s.cfg.Termination {
		st.Status = optim.Converged
	}
	st.Loss = loss
	st.Step = 1
	if !s.direct() {
		st.Step, st.Status = 0, optim.NoCurvature
	}
	row.Move = optim.Advance
	row.Length = float64(float32(dot(st.Dir, st.Dir)))
	row.Step = st.Step
	if st.Step != 0 {
		s.advance()
	}
}
