// SPDX-License-Identifier: Apache-2.0

package svm

import (
	"errors"
	"math"
)

// Objective is the value that a model minimises, and its parts, over some examples.
type Objective struct {
	Weight   float64 // of the examples
	Loss     float64 // mean of max(0, 1 − y·w'x)
	Norm     float64 // λ/2·|w|²
	Accuracy float64 // share of examples with the right sign
}

// Value returns the objective.
func (o Objective) Value() float64 { return o.Loss + o.Norm }

// Evaluate returns the objective over examples, with the weights by which the model predicts. Each example counts by
// its weight.
func (m *Model) Evaluate(examples []Example) Objective {
	var o Objective
	for _, ex := range examples {
		if !(ex.Weight > 0) {
			continue
		}
		p, w := ex.sign()*m.Predict(ex.Features), float64(ex.Weight)
		o.Weight += w
		o.Loss += float64(w * max(0, 1-p))
		if p > 0 {
			o.Accuracy += w
		}
	}
	if o.Weight > 0 {
		o.Loss /= o.Weight
		o.Accuracy /= o.Weight
	}
	o.Norm = m.cfg.Lambda / 2 * m.squares()
	return o
}

// squares returns |w|² of the weights by which the model predicts.
func (m *Model) squares() (sum float64) {
	if a := &m.mean; a.n > 0 {
		for i, u := range a.u {
			w := u + float64(a.beta*float64(m.v[i]))
			sum += float64(w * w)
		}
		return a.alpha * a.alpha * sum
	}
	for _, v := range m.v {
		sum += float64(v) * float64(v)
	}
	return m.scale * m.scale * sum
}

// tuneSteps bounds the first steps that Tune tries in each direction, by factors of 2.
const tuneSteps = 40

// Tune finds T0 on a sample of about a thousand examples: of the first steps …, 1/4, 1/2, 1, 2, 4, … it takes the one
// with the least objective after a pass over the sample. Config.T0 and Config.Average are ignored.
func Tune(c Config, sample []Example) (t0 float64, err error) {
	c.Average, c.AverageFrom, c.T0, c.Weights = false, 0, 0, nil
	if err := c.Validate(); err != nil {
		return 0, err
	}
	if len(sample) == 0 {
		return 0, errors.New("svm: Tune: got no examples, want some")
	}
	c = c.withDefaults()
	m := &Model{v: make([]float32, c.Size)}
	try := func(step float64) float64 {
		c.T0 = offset(c.Lambda, step)
		m.cfg, m.scale, m.steps = c, 1, 0
		clear(m.v)
		for _, ex := range sample {
			m.Update(ex)
		}
		return m.Evaluate(sample).Value()
	}
	best, least := 1.0, try(1)
	for _, factor := range []float64{2, 0.5} {
		step := factor
		for range tuneSteps {
			value := try(step)
			if !(value < least) {
				break
			}
			best, least = step, value
			step *= factor
		}
		if best > 1 {
			break // longer steps were better, so shorter ones are not
		}
	}
	return offset(c.Lambda, best), nil
}

// offset returns the T0 by which the first step has a length.
func offset(lambda, step float64) float64 { return math.Max(1/(lambda*step), 1.001) }
