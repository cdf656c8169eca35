// SPDX-License-Identifier: Apache-2.0

package sgd

import "math"

// Regularisation is lazy: l1 and l2 act on every weight at every update, but the table is not
// changed. Two numbers hold the pending effect on all weights: the effective weight is trunc(w,
// gravity)·contraction, where trunc moves w towards 0 by gravity.

// regular reports whether there is any regularisation at all.
func (c *Config) regular() bool { return c.L1 != 0 || c.L2 != 0 }

const (
	minContraction = 1e-9 // beyond these limits the pending effect is applied at once,
	maxGravity     = 1e3  // before float32 loses the digits of the weights
)

// regularize adds the regularisation that belongs to an update u to the pending one, and returns
// the update in terms of the stored weights. The step size follows from the update itself,
// which the invariant rule has made shorter than eta·weight.
func (l *Learner) regularize(u, p, y float32) float32 {
	if math.Abs(float64(u)) <= 1e-8 || !finite(u) {
		return u
	}
	if d := float64(l.loss.First(l.Range, p, y)); math.Abs(d) > 1e-8 {
		step := -float64(u) / d
		l.contraction *= 1 - float64(float64(float32(l.cfg.L2))*step)
		l.gravity += float64(step * float64(float32(l.cfg.L1)))
	}
	return u / float32(l.contraction)
}

// settle keeps gravity and contraction within their limits.
func (l *Learner) settle() {
	if l.contraction < minContraction || l.gravity > maxGravity {
		l.Materialize()
	}
}

// Materialize applies gravity and contraction to the weights. Call it before the weights are
// averaged, saved, or passed to another solver.
func (l *Learner) Materialize() {
	if l.gravity == 0 && l.contraction == 1 {
		return
	}
	if l.past != nil {
		l.past.Whole()
	}
	gravity, contraction := float32(l.gravity), float32(l.contraction)
	w := l.Weights()
	for i, stride := 0, l.Stride(); i < len(w); i += stride {
		w[i] = truncate(w[i], gravity) * contraction
	}
	l.gravity, l.contraction = 0, 1
}

// truncate moves w towards 0 by gravity, and not beyond.
func truncate(w, gravity float32) float32 {
	switch {
	case w > 0 && w > gravity:
		return w - gravity
	case w < 0 && -w > gravity:
		return w + gravity
	}
	return 0
}
