// SPDX-License-Identifier: Apache-2.0

package ftrl

import (
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/fmath"
)

// The floats of a weight of FreeGrad, where they differ from Coin's.
const (
	hint     = 3 // h: the first |G|, or the one at the last restart
	steepest = 4 // H: the largest |G|
	ratios   = 5 // R: the sum of |G|/H
)

// FreeGradConfig has the numbers of FreeGrad.
type FreeGradConfig struct {
	Wealth    float32 // ε, the wealth at the start; above 0
	Lipschitz float32 // bound of |G| that is known before the first example; 0: none
	Restart   bool    // forget the sums of a weight whose gradients have grown much
	Project   bool    // keep the weights of an example within a ball
	Radius    float32 // of that ball; 0: it grows with the gradients
}

// freeGrad is the state of FreeGrad beside the weights. As in vw models do not have it, and only
// an adaptive radius uses it.
type freeGrad struct {
	norms   float32 // sum of the norms of the gradients over the largest one so far, from 1 on
	largest float32

	met []met // the features of the example, as roam has met them
}

// met is a weight that follows from sums.
type met struct {
	v                         float32
	hint, zeta, sum, steepest float32
}

// of reports whether the sums of a weight are still those from which v follows.
func (m *met) of(w []float32) bool {
	return m.zeta == w[zeta] && m.sum == w[sum] && m.steepest == w[steepest] && m.hint == w[hint]
}

// free returns the weight of FreeGrad that follows from its sums.
func (l *Learner) free(w []float32) float32 {
	h := w[hint]
	if h <= 0 {
		return 0
	}
	size := abs(w[zeta])
	reach := w[sum] + float32(w[steepest]*size)
	v := -w[zeta] * l.cfg.FreeGrad.Wealth * (float32(2*w[sum]) + float32(w[steepest]*size)) * float32(h*h)
	return v / (2 * float32(reach*reach) * sqrt(w[sum])) * fmath.Exp32(float32(size*size)/(float32(2*w[sum])+float32(2*w[steepest]*size)))
}

// radius returns the radius of the ball of weights.
func (l *Learner) radius() float32 {
	c := &l.cfg.FreeGrad
	if c.Radius > 0 {
		return c.Radius
	}
	return c.Wealth * sqrt(l.freeGrad.norms)
}

// roam returns FreeGrad's prediction and the norm of the weights before their projection. As in vw
// an initial prediction is left out.
func (l *Learner) roam(fs []feature.Feature, weight float32) (p, norm float32) {
	l.sums.TotalWeight += float64(weight)
	var squares float32
	all := l.freeGrad.met[:0]
	for _, f := range fs {
		w := l.own[int(f.Index)*8:][:8]
		v := l.free(w)
		all = append(all, met{v, w[hint], w[zeta], w[sum], w[steepest]})
		squares += float32(v * v)
		p += float32(v * f.Value)
	}
	l.freeGrad.met = all
	norm = sqrt(squares)
	if l.cfg.FreeGrad.Project {
		if r := l.radius(); norm > r {
			p *= r / norm
		}
	}
	return p, norm
}

// grad adds the gradients of FreeGrad to the features that roam has met. g is the derivative of the loss without the weight of the
// example, and norm that of the weights.
func (l *Learner) grad(fs []feature.Feature, g, weight, norm float32) {
	c := &l.cfg.FreeGrad
	tilted := false
	var along float32 // the inner product of the gradient and the weights
	if c.Project {
		for i, f := range fs {
			along += float32(float32(g*f.Value) * l.freeGrad.met[i].v)
		}
		tilted = norm > l.radius() && along < 0
	}
	var squares float32
	for i, f := range fs {
		w := l.own[int(f.Index)*8:][:8]
		if w[hint] > 0 {
			if m := &l.freeGrad.met[i]; m.of(w) {
				w[0] = m.v
			} else { // the feature occurs twice, and its first gradient has changed the sums
				w[0] = l.free(w)
			}
		}
		grad := g * f.Value
		if tilted {
			grad -= float32(along*w[0]) / float32(norm*norm)
		}
		if grad != 0 {
			clipped := l.add(w, grad, weight)
			squares += float32(clipped * clipped)
		}
	}
	length := sqrt(squares)
	s := &l.freeGrad
	if s.largest = max(s.largest, length); s.largest > 0 {
		s.norms += weight * length / s.largest
	}
}

// add adds a gradient that is not 0 to the sums of a weight, and returns it as it is clipped to the
// largest one before.
func (l *Learner) add(w []float32, grad, weight float32) (clipped float32) {
	c := &l.cfg.FreeGrad
	size, before := abs(grad), w[steepest]
	clipped = grad
	switch {
	case w[hint] == 0:
		w[hint] = size
		if c.Lipschitz != 0 {
			w[hint] = c.Lipschitz
		}
		w[steepest] = w[hint]
		w[sum] += weight * float32(size*size) // as in vw the first gradient counts twice
	case size > before:
		clipped *= before / size
		w[steepest] = size
	}
	again := weight - 1
	g := clipped + float32(again*grad)
	v := float32(clipped*clipped) + float32(again*float32(grad*grad))
	if c.Restart && w[steepest]/w[hint] > w[ratios]+2 {
		w[hint], w[zeta], w[sum] = w[steepest], g, v
	} else {
		w[zeta] += g
		w[sum] += v
	}
	if before > 0 {
		w[ratios] += abs(clipped)/before + float32(again*size)/w[steepest]
	}
	return clipped
}

// check reports every fault of the numbers.
func (c *FreeGradConfig) check(check func(ok bool, format string, args ...any)) {
	check(c.Wealth > 0 && c.Wealth <= math.MaxFloat32, "wealth %v: want a finite number above 0", c.Wealth)
	check(c.Lipschitz >= 0 && c.Lipschitz <= math.MaxFloat32, "lipschitz %v: want a finite number of 0 or more", c.Lipschitz)
	check(c.Radius >= 0 && c.Radius <= math.MaxFloat32, "radius %v: want a finite number of 0 or more", c.Radius)
}
