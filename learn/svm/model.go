// SPDX-License-Identifier: Apache-2.0

package svm

import "github.com/gvw-project/gvw/feature"

// leastScale is the scale below which values are multiplied out, before float32 loses digits.
const leastScale = 1e-4

// Model is a linear model, w = scale × v.
type Model struct {
	cfg   Config
	v     []float32
	scale float64
	steps int // examples so far
	mean  mean
}

// New returns a model that has learned nothing, or that continues from Config.Weights.
func New(c Config) (*Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	m := &Model{cfg: c, v: c.Weights, scale: 1, steps: c.Steps}
	if m.v == nil {
		m.v = make([]float32, c.Size)
		m.cfg.Weights = m.v
	}
	if c.Average {
		m.mean.u = make([]float64, c.Size)
	}
	return m, nil
}

// Config returns the configuration with its defaults. With the weights of Finish, New continues from it.
func (m *Model) Config() Config {
	c := m.cfg
	c.Steps = m.steps
	return c
}

// Steps returns the number of examples from which the model has learned.
func (m *Model) Steps() int { return m.steps }

// Scale returns the factor of the weights: w = Scale() × Config.Weights.
func (m *Model) Scale() float64 { return m.scale }

// Update learns from an example and returns its margin before.
func (m *Model) Update(ex Example) (margin float64) {
	margin = m.scale * dot(m.v, ex.Features)
	if !(ex.Weight > 0) {
		return margin
	}
	// rate·λ is 1/(t+t0), which is below 1 because T0 is above 1.
	decay := 1 / (float64(m.steps) + m.cfg.T0)
	m.steps++
	if m.scale *= 1 - decay; m.scale < leastScale {
		m.Rescale()
	}
	if y := ex.sign(); y*margin < 1 {
		m.add(ex.Features, y*float64(ex.Weight)*decay/m.cfg.Lambda/m.scale)
	}
	if m.cfg.Average && m.steps > m.cfg.AverageFrom {
		m.mean.step(m)
	}
	return margin
}

// add adds factor·x to the values.
func (m *Model) add(x []feature.Feature, factor float64) {
	a := &m.mean
	for _, f := range x {
		old := m.v[f.Index]
		m.v[f.Index] = old + float32(factor*float64(f.Value))
		if a.n > 0 { // the mean stays as it is
			a.u[f.Index] -= float64(a.beta * (float64(m.v[f.Index]) - float64(old)))
		}
	}
}

// Rescale makes the scale 1, and so Config.Weights the weights. It changes no prediction.
func (m *Model) Rescale() {
	m.mean.detach(m.v)
	s := float32(m.scale)
	for i := range m.v {
		m.v[i] *= s
	}
	m.scale = 1
}

// Detach makes the mean of the weights independent of their present values. A program calls it before it changes
// Config.Weights itself; without Average it does nothing.
func (m *Model) Detach() { m.mean.detach(m.v) }

// Predict returns the margin of an example: above 0 is the positive class.
func (m *Model) Predict(x []feature.Feature) float64 {
	if m.mean.n > 0 {
		return m.mean.dot(m.v, x)
	}
	return m.scale * dot(m.v, x)
}

// Finish makes the weights those with which the model predicts, with the scale 1. Another mean begins
// with the next example.
func (m *Model) Finish() {
	if m.mean.n > 0 {
		m.mean.detach(m.v)
		for i, a := range m.mean.u {
			m.v[i] = float32(a)
		}
		m.mean.n, m.scale = 0, 1
		clear(m.mean.u)
		return
	}
	m.Rescale()
}

// dot returns v'x, in the order of the features.
func dot(v []float32, x []feature.Feature) (sum float64) {
	for _, f := range x {
		sum += float64(v[f.Index]) * float64(f.Value) // exact in float64, so that fusing changes nothing
	}
	return sum
}
