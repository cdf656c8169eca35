// SPDX-License-Identifier: Apache-2.0

// Package svrg is vw's --svrg: stochastic gradient descent with reduced variance.
//
// Training goes in stages. The first pass of a stage computes the gradient of the mean loss at the
// weights with which the stage begins, the stable ones. Each further pass steps by the gradient of
// one example at the current weights, less that at the stable ones, plus the mean gradient:
//
//	w -= η·((g(w) - g(stable))·x + G/n)
//
// where g is the weighted derivative of the loss, and G the sum of gradients of n examples
// (vw's svrg.cc; Johnson and Zhang, 2013). Near the optimum these steps vanish, so that the
// learning rate η need not decrease.
//
// A row of the table has the current weight, the stable one, its part of G, and in the first two
// rows the number n. Ranks average whole rows at the end of each pass: the quotient of the mean G
// and the mean n is that of the sums over all ranks.
package svrg

import (
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/reduction"
)

// The floats of a row.
const (
	inner  = 0 // the current weight
	stable = 1 // the weight at the beginning of the stage
	sum    = 2 // of gradients at the stable weights
	count  = 3 // of examples in the sums: units in row 0, chunks in row 1
	width  = 4
)

// chunk is the number of examples that row 1 counts by. A float32 would not count beyond 2^24.
const chunk = 1 << 20

const maxStage = 1 << 30

// Spec is the row of the learner.
var Spec = reduction.Spec{
	Name: "svrg",
	Options: []reduction.Option{
		{Name: "svrg", Kind: reduction.Flag, Help: "SGD with reduced variance, in stages of several passes", Kept: true},
		{Name: "stage_size", Kind: reduction.Count, Arg: "N", Help: "passes of a stage after the one that sums gradients", Default: "1"},
	},
	Bottom:        true,
	Staged:        true,
	PredictsFirst: true,
	Excludes: func(s reduction.Setting) string {
		if s.Adaptive || s.Normalized {
			return "its steps are plain: leave learn.Config.SGD.Adaptive and learn.Config.SGD.Normalized out"
		}
		return ""
	},
	New: func(v reduction.Values) (reduction.Plan, error) {
		n, err := v.Count("stage_size", 1, maxStage)
		return reduction.Plan{Slots: width, Learners: 1, Kept: 1, Make: func(e *reduction.Env) (reduction.Learner, error) {
			// As in vw the rate does not decay.
			return &learner{env: e, rate: e.Base.Whole.Scalars().LearningRate, period: n + 1}, nil
		}}, err
	},
}

type learner struct {
	env    *reduction.Env
	rate   float32
	period int // passes of a stage
	pass   int // passes that have ended

	placed []feature.Feature
}

var _ reduction.Stages = (*learner)(nil)

// sums reports whether the pass after this number of passes sums gradients.
func (l *learner) sums(done int) bool { return done%l.period == 0 }

// Start begins the first stage.
func (l *learner) Start() { begin(l.env.Base.Whole.Weights()) }

// BeginPass begins a pass.
func (l *learner) BeginPass(done int) { l.pass = done }

// Combined begins a stage at the weights of all ranks.
func (l *learner) Combined(w []float32, done int) {
	if l.sums(done) {
		begin(w)
	}
}

// begin makes the current weights of a table the stable ones.
func begin(w []float32) {
	for ; len(w) >= width; w = w[width:] {
		w[stable], w[sum], w[count] = w[inner], 0, 0
	}
}

// dot returns the raw prediction by the weights in a slot.
func (l *learner) dot(slot uint32, initial float32) float32 {
	w, p := l.env.Base.Whole.Weights(), initial
	for _, f := range l.placed {
		p += float32(f.Value * w[f.Index+slot])
	}
	return p
}

// Predict predicts by the current weights.
func (l *learner) Predict(b *feature.Batch, ex *feature.Example) reduction.Result {
	l.placed = l.env.Base.Append(l.placed[:0], b.FeaturesOf(ex))
	raw := l.dot(inner, ex.Initial)
	score := l.env.Base.Whole.Range.Clip(raw)
	return reduction.Result{Raw: raw, Score: score, Loss: l.env.LossOf(score, ex)}
}

// slope returns the weighted derivative of the loss at a prediction.
func (l *learner) slope(score float32, ex *feature.Example) float32 {
	return l.env.Loss.First(l.env.Base.Whole.Range, score, ex.Label) * ex.Weight
}

// Learn sums the gradient of an example, or steps.
func (l *learner) Learn(b *feature.Batch, ex *feature.Example) reduction.Result {
	r := l.Predict(b, ex)
	whole := l.env.Base.Whole
	w := whole.Weights()
	before := l.slope(whole.Range.Clip(l.dot(stable, ex.Initial)), ex)
	if l.sums(l.pass) {
		for _, f := range l.placed {
			w[f.Index+sum] += float32(before * f.Value)
		}
		if w[count]++; w[count] == chunk {
			w[count] = 0
			w[width+count]++
		}
		return r
	}
	gap := l.slope(r.Score, ex) - before
	n := w[count] + w[width+count]*chunk
	for _, f := range l.placed {
		row := w[f.Index:][:width]
		row[inner] -= l.rate * (float32(gap*f.Value) + row[sum]/n)
	}
	return r
}
