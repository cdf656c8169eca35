// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"errors"
	"fmt"
)

// Kind is the set of sums that a pass over the data must compute.
type Kind uint8

const (
	// First requests Loss, Weight, Gradient and Diagonal: the first pass.
	First Kind = iota
	// Gradient requests Loss and Gradient.
	Gradient
	// Curvature requests Curvature along Request.Dir.
	Curvature
	// Product requests Gradient, which here is the product of the Hessian at X with Dir.
	Product
	// Local requests Gradient, which here is a descent direction: the mean of those that the
	// ranks have found, each by its own examples. Dir is the gradient, the regulariser included.
	Local
	// Trial requests Trials: the loss at X + Steps[k]·Dir for each k.
	Trial
	// Matrix requests Matrix. A Gradient request with Features requests it, too.
	Matrix
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
	case Product:
		return "product"
	case Local:
		return "local direction"
	case Trial:
		return "trial of steps"
	case Matrix:
		return "Hessian"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Request describes the sums that a solver needs. The vectors are the solver's own:
// do not write or keep them.
type Request struct {
	Kind Kind
	// X holds the weights at which to evaluate. A Curvature request has the X of the previous
	// gradient pass, so predictions from that pass can be reused.
	X []float32
	// Dir is the direction d of a Curvature, Product or Trial request and the gradient of a
	// Local one; nil otherwise.
	Dir []float32
	// Steps holds the steps of a Trial request.
	Steps []float64
	// Round is the number of the gradient pass at X whose second derivatives a Product or Local
	// request needs; for a First or Gradient request, the number that this pass has.
	Round int
	// Features are the weights between which Matrix has second derivatives, in ascending order; nil
	// where it is not requested.
	Features []uint32
	// Weight is the sum of the importance weights of all ranks, and Precond the inverse of the
	// diagonal of the Hessian, for a Local request.
	Weight  float64
	Precond []float32
	// Start holds the weights of the first pass, for a Local request.
	Start []float32
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
	Trials    []float64 // Σ w·l(p, y) for each step
	// Matrix is H between Request.Features, its lower triangle row by row: [Triangle] numbers.
	Matrix []float64
}

// Triangle returns the number of elements in the lower triangle of a symmetric n × n matrix.
func Triangle(n int) int { return n * (n + 1) / 2 }

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

// Solver is an optimiser that holds its whole state but not the loop: it returns a request and
// accepts the sums for it. It performs no input or output and starts no goroutine.
type Solver interface {
	// Request returns what to evaluate next; false when Status is no longer
	// Running.
	Request() (Request, bool)
	// Prepare converts one rank's sums to the terms that the ranks add. The caller calls it
	// before adding sums, and also if there is only one rank.
	Prepare(*Sums)
	// Accept advances the state with the sums for the request. After an
	// error the state is unchanged. The vectors of the sums
	// may be those of InPlace, but must not overlap others of the solver.
	Accept(*Sums) error
	// InPlace returns sums whose vectors are the solver's own. An objective that writes
	// there saves two vectors, but a failed exchange cannot be repeated.
	InPlace() *Sums
	// Row returns the trace of the last accepted pass.
	Row() Row
	// Status returns the reason why the solver stopped, or Running.
	Status() Status
}

// Result summarises a run.
type Result struct {
	Status Status
	Passes int // passes over the data, curvature passes included
	// Loss is the mean loss over the examples, the regulariser included, of the last gradient
	// pass: before the last step.
	Loss float64
}

// Recorder gets the trace of every pass, in order. Record must return before the next
// pass begins.
type Recorder interface{ Record(Row) }

// RecorderFunc is a function that is a Recorder.
type RecorderFunc func(Row)

// Record calls f.
func (f RecorderFunc) Record(r Row) { f(r) }

// Minimize runs the solver to its end: the loop for one process. rec may be
// nil. It returns the result so far also with an error; the solver then
// is in the state after the last complete pass.
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
		if row.Kind <= Gradient {
			res.Loss = row.Loss
		}
		if rec != nil {
			rec.Record(row)
		}
	}
}

// Check returns an error unless the sums fit the request: vectors of the right
// length where the kind needs them. A solver calls it first.
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
	case Gradient, Product, Local:
		want("gradient", s.Gradient)
	case Trial:
		if len(s.Trials) != len(req.Steps) {
			errs = append(errs, fmt.Errorf("there are losses for %d steps, want %d", len(s.Trials), len(req.Steps)))
		}
	}
	if n := Triangle(len(req.Features)); req.Features != nil && len(s.Matrix) != n {
		errs = append(errs, fmt.Errorf("the Hessian has %d elements, want %d", len(s.Matrix), n))
	}
	return errors.Join(errs...)
}
