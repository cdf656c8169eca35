// SPDX-License-Identifier: Apache-2.0

package newton

import (
	"fmt"
	"math"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/vector"
)

// Solver is Newton's method as a state machine over passes. It is not safe for concurrent use.
type Solver struct {
	st    State
	cfg   Config
	cg    CG        // over the vectors of st
	g     []float32 // sums of the current pass
	steps [maxTrials]float64
	sums  [maxTrials]float64
	// values has f at the steps of a trial.
	values [maxTrials]float64

	features []uint32  // of the matrix; nil: there is none
	matrix   []float64 // their Hessian in the current pass
	solution []float64 // direction of the features
}

var _ optim.Solver = (*Solver)(nil)

// New returns a solver that starts at x and owns x, which becomes its weights.
func New(cfg Config, x []float32) (*Solver, error) {
	if err := cfg.Validate(len(x)); err != nil {
		return nil, err
	}
	return &Solver{st: newState(x), cfg: cfg, g: make([]float32, len(x))}, nil
}

// Restore returns a solver that continues from st and owns its vectors.
func Restore(cfg Config, st State) (*Solver, error) {
	if err := cfg.Validate(len(st.X)); err != nil {
		return nil, err
	}
	if err := st.check(&cfg); err != nil {
		return nil, err
	}
	s := &Solver{st: st, cfg: cfg, g: make([]float32, len(st.X))}
	if st.Features > 0 {
		if s.choose(st.D); len(s.features) != st.Features {
			return nil, fmt.Errorf("newton: state: a Hessian of %d features, want %d", st.Features, len(s.features))
		}
	}
	return s, nil
}

// choose chooses the features of the matrix, none if too many have curvature, and provides its memory.
func (s *Solver) choose(diagonal []float32) {
	s.features = features(diagonal, MaxFeatures)
	s.matrix = make([]float64, optim.Triangle(len(s.features)))
	s.solution = make([]float64, len(s.features))
}

// State returns the state itself. Its vectors are the solver's, and are valid until the next
// Accept.
func (s *Solver) State() State { return s.st }

// Weights returns the solver's weights.
func (s *Solver) Weights() []float32 { return s.st.X }

// Status returns the reason why the solver stopped, or optim.Running.
func (s *Solver) Status() optim.Status { return s.st.Status }

// Row returns the trace of the last accepted pass.
func (s *Solver) Row() optim.Row { return s.st.Last }

// InPlace returns sums whose vectors are the solver's own.
func (s *Solver) InPlace() *optim.Sums {
	return &optim.Sums{Gradient: s.g, Diagonal: s.st.Precond, Trials: s.sums[:0]}
}

// Prepare changes nothing: the ranks add what they have summed.
func (s *Solver) Prepare(*optim.Sums) {}

// Request returns what to evaluate next; false when the solver has stopped.
func (s *Solver) Request() (optim.Request, bool) {
	if s.st.Status != optim.Running {
		return optim.Request{}, false
	}
	return s.request(), true
}

func (s *Solver) request() optim.Request {
	st := &s.st
	req := optim.Request{Kind: st.Next, X: st.X, Round: st.Round}
	switch st.Next {
	case optim.First:
		req.Round++
	case optim.Gradient:
		req.Round++
		req.Features = s.features
	case optim.Matrix:
		req.Features = s.features
	case optim.Product:
		req.Dir = st.D
	case optim.Local:
		req.Dir, req.Weight, req.Precond, req.Start = st.R, st.Weight, st.Precond, st.D
	case optim.Trial:
		req.X, req.Dir, req.Steps = st.X0, st.S, s.trial()
	}
	return req
}

// trial returns the steps of the current trial.
func (s *Solver) trial() []float64 {
	from, least := shorter[:], shorter[len(shorter)-1]
	if s.cfg.Average {
		from, least = around[:], around[len(around)-1]/around[0]/2
	}
	scale := math.Pow(least, float64(s.st.Tried)) // a power of two: exact
	for i, v := range from {
		s.steps[i] = v * scale
	}
	return s.steps[:len(from)]
}

// Accept advances the state with the sums for the request: one pass.
func (s *Solver) Accept(sums *optim.Sums) error {
	st := &s.st
	if st.Status != optim.Running {
		return fmt.Errorf("newton: no sums are wanted after the end (%v)", st.Status)
	}
	if err := sums.Usable(s.request(), st.Pass+1); err != nil {
		return fmt.Errorf("newton: %w", err)
	}
	row := optim.Row{Pass: st.Pass + 1, Kind: st.Next}
	switch st.Next {
	case optim.First:
		st.Weight = sums.Weight
		if s.cfg.Matrix { // before Precond, which the diagonal may be, changes
			s.choose(sums.Diagonal)
			st.Features = len(s.features)
			copy(st.D, sums.Diagonal)
		}
		copy(st.Precond, sums.Diagonal)
		s.precondition()
		if s.cfg.Average {
			copy(st.D, st.X)
		}
		st.Loss = sums.Loss + s.gradient(sums, &row)
		s.begin(nil, &row)
	case optim.Gradient:
		s.judge(sums, &row)
	case optim.Product:
		s.product(sums, &row)
	case optim.Local:
		copy(st.S, sums.Gradient)
		st.Slope, st.Tried, st.Next = vector.Dot(st.R, st.S), 0, optim.Trial
		if !(st.Slope < 0) {
			s.stop(optim.NoCurvature, &row)
		}
	case optim.Trial:
		s.pick(sums, &row)
	case optim.Matrix:
		s.follow(sums.Matrix, &row)
	}
	st.Pass++
	if st.Status == optim.Running && st.Pass >= s.cfg.MaxPasses {
		if st.Next == optim.Product && st.Iter > 0 { // what there is of the direction is one
			s.measure(&row)
			s.advance(1, &row)
		}
		s.stop(optim.PassLimit, &row)
	}
	st.Last = row
	return nil
}

// widest bounds each element of the preconditioner, relative to the least one.
const widest = 1e8

// precondition makes the preconditioner of the diagonal of the Hessian: 1/(h+λ), and 0 where that is
// 0. Its bound is far above that of L-BFGS, because no step is as long as it.
func (s *Solver) precondition() {
	c, p := s.st.Precond, &s.cfg.Penalty
	var most float64
	for i, h := range c {
		most = max(most, float64(h)+p.Lambda(uint32(i)))
	}
	for i, h := range c {
		if v := float64(h) + p.Lambda(uint32(i)); v > 0 {
			c[i] = float32(min(1/v, widest/most))
		}
	}
}

// stop ends the run, and the line of the trace if it is open.
func (s *Solver) stop(status optim.Status, row *optim.Row) {
	s.st.Status = status
	row.Move = optim.Advance
}

// gradient sets g to the gradient of f, fills in the columns of the row that gradient passes
// share, and returns the penalty.
func (s *Solver) gradient(sums *optim.Sums, row *optim.Row) float64 {
	st := &s.st
	penalty := s.cfg.Penalty.Gradient(s.g, sums.Gradient, st.X)
	row.Loss = (sums.Loss + penalty) / st.Weight
	row.Slope = vector.Dot(s.g, s.g) / (st.Weight * st.Weight)
	row.Conditioned = vector.DotDiag(s.g, st.Precond, s.g) / st.Weight
	return penalty
}

// begin starts the search for a direction at X, where f is Loss and the gradient is g. matrix is the
// Hessian there; nil: it is not known yet.
func (s *Solver) begin(matrix []float64, row *optim.Row) {
	st := &s.st
	st.Round++
	copy(st.X0, st.X)
	st.Step, st.Tried = 0, 0
	if s.cfg.Average || st.Features > 0 {
		copy(st.R, s.g)
		switch {
		case row.Conditioned == 0:
			s.stop(optim.ZeroDerivative, row)
		case s.cfg.Average:
			st.Next = optim.Local
		case matrix == nil:
			st.Next = optim.Matrix
		default:
			s.follow(matrix, row)
		}
		return
	}
	c := s.system()
	if !c.Begin(s.g, st.Precond) {
		s.stop(optim.ZeroDerivative, row)
	}
	s.keep(c)
	st.Next = optim.Product
}

// follow moves the weights along the direction of a Hessian.
func (s *Solver) follow(matrix []float64, row *optim.Row) {
	st := &s.st
	copy(s.matrix, matrix) // the caller keeps its sums
	s.direct(s.matrix)
	st.Slope = vector.Dot(st.R, st.S)
	if !(st.Slope < 0) {
		s.stop(optim.NoCurvature, row)
		return
	}
	st.Q = st.Slope / 2
	row.Curvature = -st.Slope / st.Weight
	s.whole(row)
}

// whole moves the weights by a whole step, and ends the run if the quadratic model promises little.
func (s *Solver) whole(row *optim.Row) {
	st := &s.st
	s.advance(1, row)
	st.Next = optim.Gradient
	if -st.Q < float64(s.cfg.Termination*st.Loss) {
		s.stop(optim.Converged, row)
	}
}

// system returns the system of conjugate gradients, whose vectors are those of the state.
func (s *Solver) system() *CG {
	st := &s.st
	s.cg = CG{S: st.S, R: st.R, D: st.D, Rho: st.Rho, Q: st.Q, Iter: st.Iter}
	return &s.cg
}

// keep keeps the numbers of the system.
func (s *Solver) keep(c *CG) { s.st.Rho, s.st.Q, s.st.Iter = c.Rho, c.Q, c.Iter }

// product continues conjugate gradients, and follows the direction when it is found.
func (s *Solver) product(sums *optim.Sums, row *optim.Row) {
	st := &s.st
	copy(s.g, sums.Gradient) // the caller keeps its sums
	s.cfg.Penalty.AddProduct(s.g, st.D)
	c := s.system()
	done := c.Next(s.g, st.Precond, Tolerance, MaxProducts)
	s.keep(c)
	switch {
	case !done:
		return
	case !(st.Q < 0):
		s.stop(optim.NoCurvature, row)
		return
	}
	s.measure(row)
	s.whole(row)
}

// measure sets the slope and the curvature along the direction of conjugate gradients.
func (s *Solver) measure(row *optim.Row) {
	st := &s.st
	// As r = −g−Hs, −s'r is g's + s'Hs, and 2Q is 2g's + s'Hs.
	st.Slope = 2*st.Q + vector.Dot(st.S, st.R)
	row.Curvature = 2 * (st.Q - st.Slope) / st.Weight
}

// advance moves the weights from X0 by a step along the direction.
func (s *Solver) advance(step float64, row *optim.Row) {
	st := &s.st
	st.Step = step
	vector.AddScaled(st.X, st.X0, float32(step), st.S)
	row.Move, row.Step = optim.Advance, step
	row.Length = vector.Dot(st.S, st.S)
}

// judge handles f and g after a step: it starts the search for the next direction, or goes back
// to try shorter steps.
func (s *Solver) judge(sums *optim.Sums, row *optim.Row) {
	st := &s.st
	loss := sums.Loss + s.gradient(sums, row)
	row.Wolfe1 = (loss - st.Loss) / (st.Step * st.Slope)
	row.Wolfe2 = vector.Dot(s.g, st.S) / st.Slope
	if st.Tried == 0 && !(row.Wolfe1 >= sufficient) {
		copy(st.X, st.X0)
		st.Next = optim.Trial
		return
	}
	if !(loss <= st.Loss) { // the step that a trial has chosen is no better
		copy(st.X, st.X0)
		s.stop(optim.NoCurvature, row)
		return
	}
	decrease := st.Loss - loss
	st.Loss = loss
	s.begin(sums.Matrix, row)
	// A small decrease is no sign of the end if the step was the fault.
	if st.Status == optim.Running && row.Wolfe1 >= faithful && decrease < float64(s.cfg.Termination*st.Loss) {
		s.stop(optim.Converged, row)
	}
}

// pick takes the step with the smallest f that a trial has found, or tries shorter ones.
func (s *Solver) pick(sums *optim.Sums, row *optim.Row) {
	st := &s.st
	best, least, at := 0.0, math.Inf(1), 0
	steps := s.trial()
	for k, step := range steps {
		vector.AddScaled(st.X, st.X0, float32(step), st.S)
		s.values[k] = sums.Trials[k] + s.cfg.Penalty.Value(st.X)
		if f := s.values[k]; f-st.Loss <= float64(sufficient*step)*st.Slope && f < least {
			best, least, at = step, f, k
		}
	}
	st.Tried++
	if best == 0 {
		copy(st.X, st.X0)
		if st.Tried == searches {
			s.stop(optim.NoCurvature, row)
		}
		return
	}
	if at > 0 {
		below, value := 0.0, st.Loss
		if at+1 < len(steps) {
			below, value = steps[at+1], s.values[at+1]
		}
		best = lowest(below, value, best, least, steps[at-1], s.values[at-1])
	}
	s.advance(best, row)
	st.Next = optim.Gradient
	if st.Loss-least < float64(s.cfg.Termination*st.Loss) {
		s.stop(optim.Converged, row)
	}
}

// lowest returns the lowest point of the parabola through three points with a < b < c, of which that
// of b is the lowest; b where they do not determine it.
func lowest(a, fa, b, fb, c, fc float64) float64 {
	left, right := (fb-fa)/(b-a), (fc-fb)/(c-b) // slopes, the first of which is not positive
	curvature := (right - left) / (c - a)
	x := (a+b)/2 - left/(2*curvature)
	if !(curvature > 0) || math.IsInf(curvature, 0) || !(x > a && x < c) {
		return b
	}
	return x
}
