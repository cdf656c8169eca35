// SPDX-License-Identifier: Apache-2.0

package descent

import (
	"errors"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/vector"
)

// wolfe1Bound is the least share of the expected decrease for which a step is accepted;
// stepBack is the factor for a refused step.
const (
	wolfe1Bound = 0.01
	stepBack    = 0.5

	// unseen is the least decrease, relative to the loss, that a sum of float64 can show.
	unseen = 0x1p-52
)

// Head holds the numbers of a search's state.
type Head struct {
	Next   optim.Kind   // kind of the next sums
	Status optim.Status // Running, or the reason of the end
	Pass   int          // passes accepted
	Weight float64      // sum of importance weights, from pass 1
	Loss   float64      // f where the line search began
	Step   float64      // step taken last
	Last   optim.Row    // trace of the pass accepted last
}

// Check returns an error for values that no search produces.
func (h *Head) Check() error {
	var errs []error
	if h.Next > optim.Curvature || h.Status > optim.PassLimit || h.Pass < 0 {
		errs = append(errs, fmt.Errorf("next %v, status %v, pass %d", h.Next, h.Status, h.Pass))
	}
	if (h.Pass == 0) != (h.Next == optim.First) {
		errs = append(errs, fmt.Errorf("pass %d and %v next do not go together", h.Pass, h.Next))
	}
	return errors.Join(errs...)
}

// Point is the position of a search.
type Point struct {
	X        []float32 // weights at which the next sums are taken
	Dir      []float32 // direction
	Precond  []float32 // C
	Gradient []float32 // gradient of f at X of the last sums; undefined between passes
	// X0 and G0 are weights and gradient where the line search began: the
	// vectors of Method.Origin.
	X0, G0 []float32
}

// Method finds directions.
type Method interface {
	// Origin returns the vectors in which the search keeps the weights and the
	// gradient from which the next line search begins. It may return others
	// after Direct.
	Origin() (x, g []float32)
	// Direct sets p.Dir to the next direction. It may change X0 and G0. ok is false if there is
	// no direction. mix is the share of the previous direction.
	Direct(p *Point) (mix float64, ok bool)
}

// Search is a descent as a state machine over passes. It is not safe for concurrent
// use.
type Search struct {
	Head
	Point
	cfg    Config
	method Method
}

// New returns a search that starts at x and owns x as its weights. The configuration must be
// valid for x.
func New(cfg Config, x []float32, m Method) *Search {
	n := len(x)
	return Restore(cfg, Head{Next: optim.First}, x, make([]float32, n), make([]float32, n), m)
}

// Restore returns a search that continues from a state and owns its vectors.
func Restore(cfg Config, h Head, x, dir, precond []float32, m Method) *Search {
	s := &Search{Head: h, cfg: cfg, method: m}
	s.X, s.Dir, s.Precond, s.Gradient = x, dir, precond, make([]float32, len(x))
	s.X0, s.G0 = m.Origin()
	return s
}

// Weights returns the search's weights.
func (s *Search) Weights() []float32 { return s.X }

// Status returns the reason why the search stopped, or optim.Running.
func (s *Search) Status() optim.Status { return s.Head.Status }

// Row returns the trace of the last accepted pass.
func (s *Search) Row() optim.Row { return s.Last }

// InPlace returns sums whose vectors are the search's own.
func (s *Search) InPlace() *optim.Sums {
	return &optim.Sums{Gradient: s.Gradient, Diagonal: s.Precond}
}

// Request returns what to evaluate next; false when the search has stopped.
func (s *Search) Request() (optim.Request, bool) {
	if s.Head.Status != optim.Running {
		return optim.Request{}, false
	}
	return s.request(), true
}

func (s *Search) request() optim.Request {
	req := optim.Request{Kind: s.Next, X: s.X}
	if req.Kind == optim.Curvature {
		req.Dir = s.Dir
	}
	return req
}

// Prepare converts one rank's sums to the terms that the ranks add.
func (s *Search) Prepare(sums *optim.Sums) {
	if s.cfg.Semantics == optim.VW9 && s.Next == optim.First {
		for i, lambda := range s.cfg.Penalty.Precision {
			sums.Diagonal[i] += lambda // vw 9 counts a weight's own λ twice here
		}
		s.cfg.Penalty.Precondition(sums.Diagonal, sums.Diagonal, false)
	}
}

// Accept advances the state with the sums for the request: one pass.
func (s *Search) Accept(sums *optim.Sums) error {
	if s.Head.Status != optim.Running {
		return fmt.Errorf("no sums are wanted after the end (%v)", s.Head.Status)
	}
	if err := sums.Usable(s.request(), s.Pass+1); err != nil {
		return err
	}
	row := optim.Row{Pass: s.Pass + 1, Kind: s.Next}
	switch s.Next {
	case optim.First:
		s.begin(sums, &row)
	case optim.Curvature:
		s.measure(sums, &row)
	case optim.Gradient:
		s.judge(sums, &row)
	default:
		panic(fmt.Sprintf("BUG: descent: next is %v", s.Next))
	}
	s.Last = row
	s.Pass++
	if s.Head.Status == optim.Running && s.Pass >= s.cfg.MaxPasses {
		s.Head.Status = optim.PassLimit
	}
	return nil
}

// begin handles the sums of the first pass: f, g and the preconditioner. It
// sets the direction −Cg.
func (s *Search) begin(sums *optim.Sums, row *optim.Row) {
	s.Weight = sums.Weight
	if s.cfg.Semantics == optim.VW9 {
		copy(s.Precond, sums.Diagonal) // Prepare has inverted it
	} else {
		s.cfg.Penalty.Precondition(s.Precond, sums.Diagonal, true)
	}
	s.Loss = sums.Loss + s.cfg.Penalty.Gradient(s.Gradient, sums.Gradient, s.X)
	s.describe(row, s.Loss)
	for i, c := range s.Precond {
		s.Dir[i] = -c * s.Gradient[i]
	}
	s.markStart()
	s.Next = optim.Curvature
}

// markStart keeps gradient and weights as the point where a line search begins.
func (s *Search) markStart() {
	s.X0, s.G0 = s.method.Origin()
	copy(s.X0, s.X)
	copy(s.G0, s.Gradient)
}

// describe fills in the columns that all gradient passes share.
func (s *Search) describe(row *optim.Row, loss float64) {
	row.Loss = loss / s.Weight
	row.Slope = vector.Dot(s.Gradient, s.Gradient) / (s.Weight * s.Weight)
	row.Conditioned = vector.DotDiag(s.Gradient, s.Precond, s.Gradient) / s.Weight
}

// measure handles the curvature along the direction and moves to the minimum of
// the parabola.
func (s *Search) measure(sums *optim.Sums, row *optim.Row) {
	curvature := sums.Curvature + s.cfg.Penalty.quadratic(s.Dir, false, s.cfg.Semantics != optim.VW9)
	slope := float32(vector.Dot(s.G0, s.Dir))
	switch {
	case slope == 0:
		s.Step, s.Head.Status = 0, optim.ZeroDerivative
	case !(curvature > 0):
		s.Step, s.Head.Status = 0, optim.NoCurvature
	default:
		s.Step = float64(-slope / float32(curvature))
		s.advance()
	}
	row.Move = optim.Advance
	row.Curvature = curvature / s.Weight
	row.Length = float64(float32(vector.Dot(s.Dir, s.Dir)))
	row.Step = s.Step
	s.Next = optim.Gradient
	if s.cfg.Semantics == optim.VW9 {
		s.cfg.Penalty.Precondition(s.Precond, nil, false)
	}
}

// advance moves the weights by the step along the direction, from where the
// line search began: a revised step leaves no rounding behind.
func (s *Search) advance() {
	vector.AddScaled(s.X, s.X0, float32(s.Step), s.Dir)
}

// judge handles f and g after a step and decides: stop, step back, or continue in
// a new direction.
func (s *Search) judge(sums *optim.Sums, row *optim.Row) {
	loss := sums.Loss + s.cfg.Penalty.Gradient(s.Gradient, sums.Gradient, s.X)
	s.describe(row, loss)
	before := vector.Dot(s.G0, s.Dir)
	row.Wolfe1 = (loss - s.Loss) / (s.Step * before)
	row.Wolfe2 = vector.Dot(s.Gradient, s.Dir) / before
	row.Mixes = s.cfg.Mixes

	switch {
	case before == 0 || s.Step == 0:
		s.Head.Status = optim.ZeroDerivative
		return
	case !(row.Wolfe1 >= wolfe1Bound) || !(loss <= s.Loss):
		s.Step = float64(float32(stepBack * s.Step))
		s.advance()
		row.Move, row.Factor, row.Step = optim.Revise, stepBack, s.Step
		if math.Abs(s.Step*before) <= unseen*math.Abs(s.Loss) { // no shorter step can be seen to do better
			copy(s.X, s.X0)
			s.Step, s.Head.Status = 0, optim.NoCurvature
		}
		return
	}

	if decrease := (s.Loss - loss) / s.Loss; math.Abs(decrease) < s.cfg.Termination {
		s.Head.Status = optim.Converged
	}
	s.Loss = loss
	s.Step = 1
	mix, ok := s.method.Direct(&s.Point)
	row.Mix = mix
	if !ok {
		s.Step, s.Head.Status = 0, optim.NoCurvature
	} else {
		s.markStart()
	}
	if s.cfg.Curvature {
		s.Next = optim.Curvature
		return
	}
	row.Move = optim.Advance
	row.Length = float64(float32(vector.Dot(s.Dir, s.Dir)))
	row.Step = s.Step
	if ok {
		s.advance()
	}
}
