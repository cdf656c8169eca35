// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"errors"
	"fmt"
)

// Kind says which sums a pass over the data has to produce.
type Kind uint8

const (
	// First asks for Loss, Weight, Gradient and Diagonal: the first pass.
	First Kind = iota
	// Gradient asks for Loss and Gradient.
	Gradient
	// Curvature asks for Curvature along Request.Dir.
	Curvature
)

// String returns the name that messages use.
func (k Kind) String() string {
	switch k {
	case First:
		return "first gradient"
	case Gradient:
		return "gradient"
	case Curvature:
		return "curvature"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Request is what a solver wants to know. The vectors are the solver's own:
// read them, do not keep them, do not write them.
type Request struct {
	Kind Kind
	// X holds the weights at which to evaluate. A Curvature request has the X
	// of the gradient pass before it, so predictions kept from there serve.
	X []float32
	// Dir is the direction d of a Curvature request; nil otherwise.
	Dir []float32
}

// Sums are sums over all examples of all ranks, each example counted with its
// importance weight, without the regulariser. Only the fields that the
// request's Kind names are read.
type Sums struct {
	Loss      float64   // Σ w·l(p, y)
	Weight    float64   // Σ w
	Curvature float64   // Σ w·l''(p, y)·(d·x)², which is d'Hd
	Gradient  []float32 // Σ w·l'(p, y)·x
	Diagonal  []float32 // Σ w·l''(p, y)·x², the diagonal of H
}

// Objective is a function that is evaluated by a pass over data. Evaluate
// overwrites the fields of dst that req.Kind names; the vectors have the length
// of req.X already.
type Objective interface {
	Evaluate(ctx context.Context, req Request, dst *Sums) error
}

// ObjectiveFunc is a function that is an Objective.
type ObjectiveFunc func(ctx context.Context, req Request, dst *Sums) error

// Evaluate calls f.
func (f ObjectiveFunc) Evaluate(ctx context.Context, req Request, dst *Sums) error {
	return f(ctx, req, dst)
}

// Solver is an optimiser whose whole state is in it and whose loop is not: it
// says what it wants to know and accepts the answer. It performs no input or
// output and starts no goroutine.
type Solver interface {
	// Request returns what to evaluate next; false when Status is no longer
	// Running.
	Request() (Request, bool)
	// Prepare makes of one rank's sums what the ranks add. Whoever adds sums
	// calls it before, and whoever has one rank's alone calls it, too.
	Prepare(*Sums)
	// Accept takes the sums that answer the request, and moves on. After an
	// error the state is what it was before the call. The vectors of the sums
	// may be those of InPlace, but must not overlap others of the solver.
	Accept(*Sums) error
	// InPlace returns sums whose vectors are the solver's own. Whoever lets
	// the objective write there saves two vectors, and cannot repeat a failed
	// exchange.
	InPlace() *Sums
	// Row returns the trace of the pass accepted last.
	Row() Row
	// Status says why the solver stopped, or Running.
	Status() Status
}

// Result sums up a run.
type Result struct {
	Status Status
	Passes int // passes over the data, curvature passes included
	// Loss is the mean loss over the examples, the regulariser included, as
	// the last gradient pass saw it: before the last step.
	Loss float64
}

// Recorder is told about every pass, in order. Record returns before the next
// pass begins.
type Recorder interface{ Record(Row) }

// RecorderFunc is a function that is a Recorder.
type RecorderFunc func(Row)

// Record calls f.
func (f RecorderFunc) Record(r Row) { f(r) }

// Minimize runs the solver to its end: the loop for one process. rec may be
// nil. It returns what was reached also beside an error; the solver then
// stands where the last complete pass left it.
func Minimize(ctx context.Context, obj Objective, s Solver, rec Recorder) (Result, error) {
	var res Result
	sums := s.InPlace()
	for {
		res.Status = s.Status()
		req, ok := s.Request()
		if !ok {
			return res, nil
		}
		if err := ctx.Err(); err != nil {
			return res, fmt.Errorf("optim: stopped before pass %d (%v): %w", res.Passes+1, req.Kind, context.Cause(ctx))
		}
		if err := obj.Evaluate(ctx, req, sums); err != nil {
			return res, fmt.Errorf("optim: pass %d (%v): %w", res.Passes+1, req.Kind, err)
		}
		s.Prepare(sums)
		if err := s.Accept(sums); err != nil {
			return res, fmt.Errorf("optim: pass %d (%v): %w", res.Passes+1, req.Kind, err)
		}
		row := s.Row()
		res.Passes = row.Pass
		if row.Kind != Curvature {
			res.Loss = row.Loss
		}
		if rec != nil {
			rec.Record(row)
		}
	}
}

// Check reports whether the sums answer the request: vectors of the right
// length where the kind wants them. A solver calls it first.
func (s *Sums) Check(req Request) error {
	var errs []error
	want := func(name string, v []float32) {
		if len(v) != len(req.X) {
			errs = append(errs, fmt.Errorf("the %s has %d elements, the weights have %d", name, len(v), len(req.X)))
		}
	}
	switch req.Kind {
	case First:
		want("gradient", s.Gradient)
		want("diagonal", s.Diagonal)
	case Gradient:
		want("gradient", s.Gradient)
	}
	return errors.Join(errs...)
}
