// SPDX-License-Identifier: Apache-2.0

// Package loss has vw's loss functions, their derivatives and the
// importance-invariant updates derived from them, the links that turn a raw
// prediction into the one shown, and the best constant of vw's summary.
//
//	l, err := loss.New("logistic")
//	r, fixed := loss.DefaultRange(l)   // -50 to 50, whatever the labels are
//	p := r.Clip(raw)
//	l.Loss(r, p, y)                    // log(1 + e**(-y·p))
//	l.Update(p, y, eta*weight, q)      // how far to step, see below
//	link, err := loss.NewLink("logistic")
//	link.Apply(p)                      // a probability
//
// # Invariant updates
//
// A gradient step of length eta·h for an example of importance h overshoots
// when h is large. Karampatziakis and Langford (Online importance weight aware
// updates, UAI 2011) take the limit of infinitely many infinitely small steps
// instead: along the direction x, with q = Σ rate·x² the change of the
// prediction per unit of step, the step s(h) solves
//
//	s'(h) = -eta · dLoss(p + s·q, y)/dp,   s(0) = 0,
//
// so an update of weight 2 is exactly two updates of weight 1. [Loss].Update
// returns s(h), given scale = eta·h; for the squared loss it is
// (y-p)·(1-e**(-2·scale·q))/q.
//
// # Arithmetic
//
// Where vw computes in float32, so does this package, in vw's order, so that
// predictions agree to the last bits. This has a visible consequence: the
// logistic loss of an example with y·p above 16.6 is exactly 0, and an example
// without loss changes nothing, as in vw. Exponentials and logarithms
// come from internal/fmath and have the same bits on every machine.
package loss
