// SPDX-License-Identifier: Apache-2.0

package ftrl

import (
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/fmath"
)

// The floats of a weight: w is at 0. Proximal has n where the others have s.
const (
	zeta   = 1 // z: the sum of gradients
	sum    = 2 // n: of their squares; s: of their sizes
	top    = 3 // m: the largest |x|
	wealth = 4 // sum of the gains of the bets
	steep  = 5 // L: the largest |g|
)

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

func abs(x float32) float32 { return float32(math.Abs(float64(x))) }

// proximal adds the gradients and computes the weights again.
func (l *Learner) proximal(fs []feature.Feature, g float32) {
	c := &l.cfg
	for _, f := range fs {
		w := l.own[int(f.Index)*4:][:4]
		grad := g * f.Value
		n := w[sum] + float32(grad*grad)
		root := sqrt(n)
		sigma := (root - sqrt(w[sum])) / c.Alpha
		w[zeta] += grad - float32(sigma*w[0])
		w[sum] = n
		size := abs(w[zeta])
		if size <= c.L1 {
			w[0] = 0
			continue
		}
		step := 1 / (c.L2 + (c.Beta+root)/c.Alpha)
		w[0] = step * float32(math.Copysign(1, float64(w[zeta]))) * (c.L1 - size)
	}
}

// lead computes the weights of Pistol from their sums, and returns the prediction. As in vw, an
// initial prediction is left out.
func (l *Learner) lead(fs []feature.Feature) float32 {
	c := &l.cfg
	var p float32
	for _, f := range fs {
		w := l.own[int(f.Index)*4:][:4]
		w[top] = max(w[top], abs(f.Value))
		t := 1 / (c.Alpha * w[top] * (w[sum] + w[top]))
		w[0] = sqrt(w[sum]) * c.Beta * w[zeta] * fmath.Exp32(w[zeta]*w[zeta]/2*t) * t
		p += float32(w[0] * f.Value)
	}
	return p
}

// pistol adds the gradients.
func (l *Learner) pistol(fs []feature.Feature, g float32) {
	for _, f := range fs {
		w := l.own[int(f.Index)*4:][:4]
		grad := g * f.Value
		w[zeta] -= grad
		w[sum] += abs(grad)
	}
}

// bid returns the part of the wealth that Coin bets on a weight.
func (l *Learner) bid(w []float32, m float32) float32 {
	lm := w[steep] * m
	if lm <= 0 {
		return 0
	}
	return (l.cfg.Alpha + w[wealth]) / (lm * (lm + w[sum])) * w[zeta]
}

// bet returns Coin's prediction. It also adds the example to the mean of the squared norms, the
// divisor of the prediction.
func (l *Learner) bet(fs []feature.Feature, weight float32) (p, average float32) {
	var norm float32
	for _, f := range fs {
		w := l.own[int(f.Index)*8:][:8]
		m := max(w[top], abs(f.Value))
		p += float32(l.bid(w, m) * f.Value)
		if m > 0 {
			x := f.Value / m
			norm += float32(x * x)
		}
	}
	l.sums.Norm += float64(float64(weight) * float64(norm))
	l.sums.TotalWeight += float64(weight)
	average = float32((l.sums.Norm + 1e-6) / l.sums.TotalWeight)
	return p / average, average
}

// coin adds the gradients and settles the bets.
func (l *Learner) coin(fs []feature.Feature, g, average float32) {
	for _, f := range fs {
		w := l.own[int(f.Index)*8:][:8]
		grad := g * f.Value
		w[top] = max(w[top], abs(f.Value))
		if size := abs(g); size > w[steep] {
			w[steep] = max(size, l.cfg.Beta)
		}
		w[0] = l.bid(w, w[top])
		w[zeta] -= grad
		w[sum] += abs(grad)
		w[wealth] -= float32(grad * w[0])
		w[0] /= average
	}
}
