// SPDX-License-Identifier: Apache-2.0

package masgd

import (
	"fmt"
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
)

// minScale is the scale below which it is multiplied into the weights, as in Bottou's svmsgd.
const minScale = 1e-9

// Learner makes the local steps of one replica. It is for one goroutine at a time.
type Learner struct {
	// Range limits predictions. The caller sets it before each example.
	Range loss.Range

	cfg     Config
	v       []float32 // the weights are scale·v + along·control
	control []float32 // nil: none
	scale   float64
	along   float64

	due  float64   // truncation of every v by all steps of this round
	done []float64 // the part of due that each v has had; nil without L1

	t      float64 // steps so far
	rate   float64 // with ConstantRate: that of this round
	weight float64 // of the examples of this round
	steps  float64 // of this round

	batch batch
}

// batch has the gradient of the examples for the next step, if a step has several.
type batch struct {
	sum     []float32 // nil: each example makes a step
	touched []uint32  // weights whose sum may differ from 0
	weight  float64
	n       int
}

// New returns a learner for weights of the length of w. Begin sets them.
func New(c Config, w []float32) (*Learner, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	r, _ := loss.DefaultRange(c.Loss)
	l := &Learner{cfg: c, v: w, scale: 1, Range: r}
	if c.L1 > 0 {
		l.done = make([]float64, len(w))
	}
	if c.Batch > 1 {
		l.batch.sum = make([]float32, len(w))
	}
	return l, nil
}

// Begin starts a round from the weights w, which the learner changes in place until End. control is the control
// variate of this replica, nil for none; t is the number of steps that the replica has made before.
func (l *Learner) Begin(w, control []float32, t float64) {
	if len(w) != len(l.v) || control != nil && len(control) != len(w) {
		panic(fmt.Sprintf("BUG: masgd: Begin: got %d weights and %d of the control variate, want %d", len(w), len(control), len(l.v)))
	}
	if control != nil && (l.done != nil || l.cfg.Invariant || !l.cfg.ConstantRate) {
		panic("BUG: masgd: Begin: a control variate needs plain steps at a constant rate, without L1")
	}
	l.v, l.control, l.t = w, control, t
	l.scale, l.along, l.weight, l.steps = 1, 0, 0, 0
	l.rate = l.cfg.RateAt(t)
}

// Weight returns the sum of the weights of the examples of this round.
func (l *Learner) Weight() float64 { return l.weight }

// Steps returns the number of steps of this round.
func (l *Learner) Steps() float64 { return l.steps }

// Rate returns the rate of the next step.
func (l *Learner) Rate() float64 {
	if l.cfg.ConstantRate {
		return l.rate
	}
	return l.cfg.RateAt(l.t)
}

// Weights returns the table of the learner. Between Begin and End it has v.
func (l *Learner) Weights() []float32 { return l.v }

// Stride returns the number of floats of a weight.
func (l *Learner) Stride() int { return 1 }

// At returns weight i.
func (l *Learner) At(i uint32) float32 { return float32(l.at(i)) }

func (l *Learner) at(i uint32) float64 {
	v := float64(l.v[i])
	if l.done != nil {
		v = truncate(v, l.due-l.done[i])
	}
	w := float64(l.scale * v)
	if l.control != nil {
		w += float64(l.along * float64(l.control[i]))
	}
	return w
}

// Predict returns the score of the features, raw and limited to the range.
func (l *Learner) Predict(fs []feature.Feature, initial float32) (raw, clipped float32) {
	var p float64
	if l.done == nil {
		p, _ = l.dot(fs)
	} else {
		for _, f := range fs {
			p += float64(l.at(f.Index) * float64(f.Value))
		}
	}
	raw = initial + float32(p)
	return raw, l.Range.Clip(raw)
}

// dot returns the score of the features and the sum of their squares. Weights have had the truncation that is due.
func (l *Learner) dot(fs []feature.Feature) (score, squares float64) {
	v := l.v
	for _, f := range fs {
		x := float64(f.Value)
		score += float64(v[f.Index]) * x // exact product: nothing to fuse
		squares += x * x
	}
	score *= l.scale
	if l.control != nil {
		c, sum := l.control, 0.0
		for _, f := range fs {
			sum += float64(c[f.Index]) * float64(f.Value)
		}
		score += float64(l.along * sum)
	}
	return score, squares
}

// catchUp truncates the weights of the features by the steps that they have missed.
func (l *Learner) catchUp(fs []feature.Feature) {
	for _, f := range fs {
		if missed := l.due - l.done[f.Index]; missed != 0 {
			l.v[f.Index] = float32(truncate(float64(l.v[f.Index]), missed))
			l.done[f.Index] = l.due
		}
	}
}

// Learn predicts the example, then learns from it if it has a label and a weight above 0. It returns the prediction
// before the step and its loss, without the weight.
func (l *Learner) Learn(fs []feature.Feature, ex *feature.Example) (raw, clipped, loss float32) {
	if !ex.Labeled() || !(ex.Weight > 0) {
		raw, clipped = l.Predict(fs, ex.Initial)
		if ex.Labeled() {
			loss = l.cfg.Loss.Loss(l.Range, clipped, ex.Label)
		}
		return raw, clipped, loss
	}
	if l.done != nil {
		l.catchUp(fs)
	}
	score, squares := l.dot(fs)
	raw = ex.Initial + float32(score)
	clipped = l.Range.Clip(raw)
	loss = l.cfg.Loss.Loss(l.Range, clipped, ex.Label)
	l.weight += float64(ex.Weight)
	if l.batch.sum != nil {
		l.collect(fs, clipped, ex)
		return raw, clipped, loss
	}
	length := l.Rate() * float64(ex.Weight)
	var u float32
	if l.cfg.Invariant {
		u = l.cfg.Loss.Update(clipped, ex.Label, float32(length), float32(squares))
	} else {
		u = l.cfg.Loss.UnsafeUpdate(clipped, ex.Label, float32(length))
	}
	l.shrink(length)
	if u != 0 && finite(u) {
		factor := float64(u) / l.scale
		for _, f := range fs {
			l.v[f.Index] += float32(factor * float64(f.Value))
		}
	}
	l.end(length)
	return raw, clipped, loss
}

// shrink takes the part of a step that does not depend on the example, except the truncation.
func (l *Learner) shrink(length float64) {
	if l.cfg.L2 > 0 {
		f := max(1-float64(length*l.cfg.L2), 0)
		if l.scale *= f; l.scale < minScale {
			l.fold()
		}
		l.along *= f
	}
	if l.control != nil {
		l.along += length
	}
}

// end ends a step.
func (l *Learner) end(length float64) {
	if l.done != nil {
		l.due += float64(length*l.cfg.L1) / l.scale
	}
	l.t++
	l.steps++
}

// fold multiplies the scale into v, with the truncation that is due.
func (l *Learner) fold() {
	if l.scale == 1 && l.due == 0 {
		return
	}
	for i, v := range l.v {
		x := float64(v)
		if l.done != nil {
			x = truncate(x, l.due-l.done[i])
		}
		l.v[i] = float32(l.scale * x)
	}
	clear(l.done)
	l.scale, l.due = 1, 0
}

// End ends the round. The table then has the weights.
func (l *Learner) End() {
	l.step()
	l.fold()
	if l.control != nil && l.along != 0 {
		for i, c := range l.control {
			l.v[i] += float32(l.along * float64(c))
		}
		l.along = 0
	}
}

// collect adds the gradient of an example to that of its batch, and makes the step of a batch that is complete.
func (l *Learner) collect(fs []feature.Feature, p float32, ex *feature.Example) {
	b := &l.batch
	if u := l.cfg.Loss.UnsafeUpdate(p, ex.Label, ex.Weight); u != 0 && finite(u) {
		for _, f := range fs {
			if b.sum[f.Index] == 0 {
				b.touched = append(b.touched, f.Index)
			}
			b.sum[f.Index] += float32(u * f.Value)
		}
	}
	b.weight += float64(ex.Weight)
	if b.n++; b.n == l.cfg.Batch {
		l.step()
	}
}

// step makes the step of the examples collected so far.
func (l *Learner) step() {
	b := &l.batch
	if b.n == 0 {
		return
	}
	length := l.Rate()
	l.shrink(length)
	factor := length / b.weight / l.scale
	for _, i := range b.touched {
		l.v[i] += float32(factor * float64(b.sum[i]))
		b.sum[i] = 0
	}
	l.end(length)
	b.touched, b.weight, b.n = b.touched[:0], 0, 0
}

// finite reports whether x is neither infinite nor NaN.
func finite(x float32) bool { return math.Float32bits(x)&0x7f800000 != 0x7f800000 }

// Vary makes the next control variate of a replica in dst, from the current one, the weights w at the end of its
// round, and their mean over all replicas. factor is p/γ. dst may be control.
func Vary(dst, control, w, mean []float32, factor float64) {
	for i := range dst {
		dst[i] = float32(float64(control[i]) + float64(factor*(float64(mean[i])-float64(w[i]))))
	}
}
