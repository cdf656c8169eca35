// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"

	"github.com/gvw-project/gvw/internal/fmath"
)

// Update learns from an example of pass number pass, from 0, and returns its loss before.
func (m *Model) Update(ex Example, pass int) float64 {
	scores := m.Scores(ex.Features)
	top := m.layers[len(m.layers)-1]
	loss := m.loss(scores, ex.Class, top.slope)
	if !(ex.Weight > 0) {
		return loss
	}
	if ex.Weight != 1 {
		for i := range top.slope {
			top.slope[i] *= ex.Weight
		}
	}
	if m.isRow == nil {
		m.prepare()
	}
	for i := len(m.layers) - 1; i > 0; i-- {
		m.layers[i].backward(m.layers[i-1])
	}
	first := m.layers[0]
	for _, f := range m.input {
		axpy(first.row(first.g, int(f.Index)), f.Value, first.slope)
		if !m.isRow[f.Index] {
			m.isRow[f.Index] = true
			m.touched = append(m.touched, f.Index)
		}
	}
	axpy(first.row(first.g, first.in), 1, first.slope)
	if m.pending++; m.pending >= m.cfg.Batch {
		m.Flush(pass)
	}
	return loss
}

// prepare allocates what only learning needs.
func (m *Model) prepare() {
	m.isRow = make([]bool, m.cfg.Inputs)
	for _, l := range m.layers {
		l.g, l.state = make([]float32, len(l.w)), make([]float32, len(l.w))
	}
}

// loss returns the loss of an example, and writes its derivatives by the scores to slope.
func (m *Model) loss(scores []float32, class int, slope []float32) float64 {
	switch m.cfg.Loss {
	case Ranking:
		return ranking(scores, class, slope)
	case Softmax:
		return softmax(scores, class, slope)
	}
	p := Probability(scores, 1)
	slope[0] = float32(p - float64(class))
	s := float64(scores[0]) // log(1 + e^−s) for class 1, in a form that does not overflow
	if class == 1 {
		s = -s
	}
	return math.Max(s, 0) + fmath.Log(1+fmath.Exp(-math.Abs(s)))
}

// softmax is the negative log-likelihood of a class.
func softmax(scores []float32, class int, slope []float32) float64 {
	top, sum := float64(scores[Choose(scores)]), 0.0
	for i, s := range scores {
		e := fmath.Exp(float64(s) - top)
		sum += e
		slope[i] = float32(e)
	}
	for i := range slope {
		slope[i] = float32(float64(slope[i]) / sum)
	}
	slope[class]--
	return fmath.Log(sum) + top - float64(scores[class])
}

// ranking is the margin ranking loss.
func ranking(scores []float32, class int, slope []float32) (loss float64) {
	clear(slope)
	share := 1 / float32(len(scores)-1)
	for i, s := range scores {
		if miss := 1 - scores[class] + s; i != class && miss > 0 {
			loss += float64(miss) * float64(share)
			slope[i] += share
			slope[class] -= share
		}
	}
	return loss
}

// Flush takes a step with the examples since the last one, if there are any.
func (m *Model) Flush(pass int) {
	if m.pending == 0 {
		return
	}
	s := stepper{
		rule: m.cfg.Rule, rate: float32(m.cfg.Rate / (1 + m.cfg.Decay*float64(pass))), mean: 1 / float32(m.pending),
		momentum: float32(m.cfg.Momentum),
	}
	m.pending = 0
	for i, l := range m.layers {
		lambda := float32(m.cfg.Lambda)
		if i > 0 {
			s.step(l.w[:l.in*l.out], l.g, l.state, lambda)
		} else {
			for _, row := range m.touched {
				r := int(row)
				s.step(l.row(l.w, r), l.row(l.g, r), l.row(l.state, r), lambda)
				m.isRow[row] = false
			}
		}
		s.step(l.row(l.w, l.in), l.row(l.g, l.in), l.row(l.state, l.in), 0)
	}
	if m.cfg.Stepped != nil {
		m.cfg.Stepped(m.touched)
	}
	m.touched = m.touched[:0]
}

// stepper takes steps by a rule.
type stepper struct {
	rule                 string
	rate, mean, momentum float32
}

// leastSquare keeps AdaGrad from division by zero.
const leastSquare = 1e-12

// step changes weights by the sums of gradients, and sets these to 0.
func (s *stepper) step(w, g, state []float32, lambda float32) {
	g, state = g[:len(w)], state[:len(w)]
	if s.rule == Momentum {
		for i, sum := range g {
			x := float32(sum*s.mean) + float32(lambda*w[i])
			state[i] = float32(s.momentum*state[i]) + x
			w[i] -= float32(s.rate * state[i])
			g[i] = 0
		}
		return
	}
	for i, sum := range g {
		x := float32(sum*s.mean) + float32(lambda*w[i])
		g[i] = 0
		if x == 0 {
			continue
		}
		state[i] += float32(x * x)
		w[i] -= float32(s.rate * x / float32(math.Sqrt(float64(state[i]+leastSquare))))
	}
}
