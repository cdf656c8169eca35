// SPDX-License-Identifier: Apache-2.0

package masgd

import (
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
)

// Gradient adds up the gradients of examples at fixed weights. It is for one goroutine at a time.
type Gradient struct {
	// Range limits predictions. The caller sets it before each example.
	Range loss.Range

	loss   loss.Loss
	w      []float32
	sum    []float64
	weight float64
}

// NewGradient returns the sum for n weights. Begin sets them.
func NewGradient(l loss.Loss, n int) *Gradient {
	r, _ := loss.DefaultRange(l)
	return &Gradient{loss: l, sum: make([]float64, n), Range: r}
}

// Begin starts a sum at the weights w, which the caller must not change before Store.
func (g *Gradient) Begin(w []float32) {
	clear(g.sum)
	g.w, g.weight = w, 0
}

// Weight returns the sum of the weights of the examples.
func (g *Gradient) Weight() float64 { return g.weight }

// Weights returns the weights at which gradients are computed.
func (g *Gradient) Weights() []float32 { return g.w }

// Stride returns the number of floats of a weight.
func (g *Gradient) Stride() int { return 1 }

// At returns weight i.
func (g *Gradient) At(i uint32) float32 { return g.w[i] }

// Predict returns the score of the features, raw and limited to the range.
func (g *Gradient) Predict(fs []feature.Feature, initial float32) (raw, clipped float32) {
	return Score(g.w, fs, initial, g.Range)
}

// Score returns the score of the features by the weights w, raw and limited to the range r.
func Score(w []float32, fs []feature.Feature, initial float32, r loss.Range) (raw, clipped float32) {
	p := 0.0
	for _, f := range fs {
		p += float64(w[f.Index]) * float64(f.Value)
	}
	raw = initial + float32(p)
	return raw, r.Clip(raw)
}

// Learn predicts the example, then adds its gradient if it has a label and a weight above 0. It returns the
// prediction and its loss, without the weight.
func (g *Gradient) Learn(fs []feature.Feature, ex *feature.Example) (raw, clipped, loss float32) {
	raw, clipped = g.Predict(fs, ex.Initial)
	if !ex.Labeled() {
		return raw, clipped, 0
	}
	loss = g.loss.Loss(g.Range, clipped, ex.Label)
	if !(ex.Weight > 0) {
		return raw, clipped, loss
	}
	g.weight += float64(ex.Weight)
	if d := g.loss.First(g.Range, clipped, ex.Label) * ex.Weight; d != 0 && finite(d) {
		for _, f := range fs {
			g.sum[f.Index] += float64(d) * float64(f.Value)
		}
	}
	return raw, clipped, loss
}

// Store copies the sum to dst.
func (g *Gradient) Store(dst []float32) {
	for i, v := range g.sum {
		dst[i] = float32(v)
	}
}

// Descend makes one step of SendGradient: it replaces the sum of the gradients of all ranks by the weights after a
// step from w. weight is the sum of the weights of the examples, and t the number of steps before this one.
func (c *Config) Descend(sum, w []float32, weight, t float64) {
	rate := c.RateAt(t)
	keep := max(1-float64(rate*c.L2), 0)
	for i, g := range sum {
		sum[i] = float32(truncate(float64(keep*float64(w[i]))-float64(rate*(float64(g)/weight)), rate*c.L1))
	}
}
