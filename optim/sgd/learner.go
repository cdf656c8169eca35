// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"fmt"
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/fmath"
	"github.com/gvw-project/gvw/internal/mem"
	"github.com/gvw-project/gvw/loss"
)

// Learner is vw's online learner. It is for one goroutine at a time.
type Learner struct {
	// Range limits predictions. It follows the labels unless Config.FixedRange
	// or the loss function fixes it; the caller may set it at any time.
	Range loss.Range

	cfg   Config
	loss  loss.Loss
	fixed bool // Range does not follow the labels
	t     table
	rule  kernels

	numbers              *numbers // see NewCompact; nil: features have indices
	ahead                ahead    // see Prefetch; without features between calls of Predict and Learn
	past                 *Past    // see Remember; nil: no weights are remembered
	notes                *notes   // of a replica; nil: none
	eta                  float32
	mult                 float32 // of the last update
	unmasked             []feature.Feature
	nsx, totalWeight     float64
	time                 float64 // vw's t
	gravity, contraction float64

	moved  float32 // what the last update has done to the prediction, without regularisation
	hidden float32 // Σx² of the example's features that are hidden from sums
}

// Scalars is all of a learner's state outside the weights. Weights and Scalars
// together are the learner: a copy that is given both continues exactly
// as the original would.
type Scalars struct {
	Nsx         float64 // Σ weight·Σ(x/N)² over the examples learned from (normalised rule)
	TotalWeight float64 // the weight of the examples in Nsx
	T           float64 // InitialT and the weight of all labeled examples since
	Gravity     float64 // pending l1 of every weight; 0: none
	Contraction float64 // pending factor of l2 on every weight; 1: none
	Mult        float32 // the normalised rule's factor on the last update; 1: there was none

	LearningRate float32 // after the decay of the passes so far
	Range        loss.Range
}

// New returns a learner of loss l with weights of zero.
func New(cfg Config, l loss.Loss) (*Learner, error) { return newLearner(cfg, l, 1<<cfg.Bits) }

// newLearner returns a learner whose table has this number of weights.
func newLearner(cfg Config, l loss.Loss, weights int) (*Learner, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	stride := cfg.Stride()
	r, fixed := loss.DefaultRange(l)
	lr := &Learner{
		Range:       r,
		cfg:         cfg,
		loss:        l,
		fixed:       fixed || cfg.FixedRange,
		t:           newTable(&cfg, make([]float32, stride*weights)),
		rule:        kernelsFor(&cfg),
		eta:         cfg.LearningRate,
		nsx:         cfg.fakeWeight(),
		totalWeight: cfg.fakeWeight(),
		time:        float64(cfg.InitialT),
		contraction: 1,
		mult:        1,
	}
	if cfg.Adaptive && cfg.InitialT > 0 {
		for i := range lr.t.cells {
			lr.t.cells[i][adaptive] = cfg.InitialT
		}
	}
	return lr, nil
}

// Weights returns the floats of all weights, Stride of them each, in vw's order:
//
//	neither                  w
//	adaptive                 w G rate -    G: sum of squared gradients
//	normalized               w N rate -    N: greatest |x|
//	adaptive and normalized  w G N rate    rate: scratch of the last update
//
// The caller may change them between examples, to average or to load a model. Those of a compact learner are in the
// order of their numbers, from 0 to the last number in use.
func (l *Learner) Weights() []float32 {
	if l.numbers != nil {
		return l.t.w[:l.Stride()*(l.numbers.count+1)]
	}
	return l.t.w
}

// Use makes w, which must have the same length, the learner's weights. The caller owns the
// previous ones. A compact learner copies w; numbers beyond those of w have weights of 0 then.
func (l *Learner) Use(w []float32) {
	if l.numbers != nil {
		own := l.Weights()
		clear(own[copy(own, w):])
		return
	}
	if len(w) != len(l.t.w) {
		panic(fmt.Sprintf("BUG: sgd: %d floats for a table of %d", len(w), len(l.t.w)))
	}
	l.t.use(w)
}

// Reader returns a learner with the same weights, for predictions in another goroutine. Neither
// may learn as long as a reader predicts.
func (l *Learner) Reader() *Learner {
	r := *l
	return &r
}

// Stride returns the number of floats per weight, 1 or 4.
func (l *Learner) Stride() int { return l.cfg.Stride() }

// Scalars returns the state outside the weights.
func (l *Learner) Scalars() Scalars {
	return Scalars{
		Nsx: l.nsx, TotalWeight: l.totalWeight, T: l.time,
		Gravity: l.gravity, Contraction: l.contraction, Mult: l.mult,
		LearningRate: l.eta, Range: l.Range,
	}
}

// SetScalars restores the value that Scalars returned, or sets it from a model file.
func (l *Learner) SetScalars(s Scalars) {
	l.nsx, l.totalWeight, l.time = s.Nsx, s.TotalWeight, s.T
	l.gravity, l.contraction, l.mult = s.Gravity, s.Contraction, s.Mult
	l.eta, l.Range = s.LearningRate, s.Range
}

// Expect prepares a learner that has learned nothing yet for features like fs. If they are
// spread over its table, it requests huge pages. That saves thousands of page faults, but makes
// memory resident that a few features would never touch.
func (l *Learner) Expect(fs []feature.Feature) {
	if l.numbers != nil {
		return // it has requested them already
	}
	const large = 256 << 20 // so large a table is filled by later examples, not by these
	cell := 4 * l.Stride()
	pages := 4*len(l.t.w)/mem.Page + 1
	seen := make([]bool, pages)
	touched := 0
	for i := range fs {
		if at := &seen[int(fs[i].Index)*cell/mem.Page]; !*at {
			*at = true
			touched++
		}
	}
	if 2*touched > pages || 4*len(l.t.w) >= large && 4*touched > len(fs) {
		mem.Huge(l.t.w)
	}
}

// Predict returns the score of the features, raw and limited to the range.
func (l *Learner) Predict(fs []feature.Feature, initial float32) (raw, clipped float32) {
	raw, clipped = l.predict(fs, initial, perDotOnly)
	l.fetch(len(l.ahead.fs))
	return raw, clipped
}

// predict is Predict. dot serves perDot features of later examples for four of its own.
func (l *Learner) predict(fs []feature.Feature, initial float32, perDot int) (raw, clipped float32) {
	l.ahead.perDot = perDot
	raw = l.rule.dot(&l.t, fs, &l.ahead, initial, float32(l.gravity)) * float32(l.contraction)
	return raw, l.Range.Clip(raw)
}

// Learn predicts the example, then learns from it if it has a label and a
// weight above 0. It returns the prediction before the update and its loss,
// unweighted; 0 for an example without a label.
//
// An example without loss changes nothing, not even the sums of the adaptive
// and normalised rules, as in vw. Neither does one whose update is not a finite
// number, as the infinite feature x:inf makes it.
func (l *Learner) Learn(fs []feature.Feature, ex *feature.Example) (raw, clipped, loss float32) {
	l.hidden = ex.HiddenSquares
	raw, clipped, loss = l.learn(fs, ex)
	l.fetch(len(l.ahead.fs))
	return raw, clipped, loss
}

func (l *Learner) learn(fs []feature.Feature, ex *feature.Example) (raw, clipped, loss float32) {
	if !ex.Labeled() {
		raw, clipped = l.predict(fs, ex.Initial, perDotOnly)
		return raw, clipped, 0
	}
	if !l.fixed {
		l.Range = l.Range.Include(ex.Label)
	}
	raw, clipped = l.predict(fs, ex.Initial, perDotOfUpdate)
	loss = l.loss.Loss(l.Range, clipped, ex.Label)
	if ex.Weight > 0 {
		if loss > 0 || l.cfg.SparseL2 != 0 {
			l.update(fs, clipped, ex.Label, ex.Weight, loss)
		}
	}
	l.time += float64(ex.Weight) // also with a negative weight, as in vw
	return raw, clipped, loss
}

// update moves the weights of fs after the prediction p for the label y.
func (l *Learner) update(fs []feature.Feature, p, y, weight, loss float32) {
	open := fs
	if l.cfg.Masked {
		open = l.unmask(fs)
	}
	if l.past != nil {
		l.past.note(&l.t, open)
	}
	if l.notes != nil {
		l.notes.add(&l.t, open)
	}
	u := float32(0)
	l.moved = 0
	if loss > 0 {
		u = l.step(fs, open, p, y, weight)
	}
	if l.cfg.SparseL2 != 0 { // without a loss, too: along the rates of the last step
		u -= float32(l.cfg.SparseL2 * p)
	}
	u *= l.mult
	if u == 0 || !finite(u) {
		return
	}
	l.rule.apply(&l.t, open, &l.ahead, u)
	l.settle()
}

// step adds the example to the sums of the rule, only for the features in open, and returns the
// length of the step.
func (l *Learner) step(fs, open []feature.Feature, p, y, weight float32) float32 {
	scale := l.eta * weight
	if !l.cfg.Adaptive {
		scale *= fmath.Pow32(float32(l.time+float64(weight)), -l.cfg.PowerT)
	}
	g2 := float32(0)
	if !l.cfg.plain() {
		fs = open
		g2 = weight
		if !l.cfg.Adax {
			g2 *= l.loss.SquareGrad(p, y)
		}
		if g2 == 0 { // a soft label met exactly: vw's update is then a rounding error
			return 0
		}
	}
	sum := l.accumulate(fs, g2)
	perUpdate := sum.perUpdate
	if l.cfg.plain() {
		perUpdate += l.hidden
	}
	if l.cfg.Normalized {
		l.nsx += float64(float64(weight) * float64(sum.norm))
		l.totalWeight += float64(weight)
		l.mult = l.averageScale()
		perUpdate *= l.mult
	}
	var u float32
	if l.cfg.Invariant {
		u = l.loss.Update(p, y, scale, perUpdate)
	} else {
		u = l.loss.UnsafeUpdate(p, y, scale)
	}
	l.moved = float32(perUpdate * u)
	if l.cfg.regular() {
		u = l.regularize(u, p, y)
	}
	return u
}

// unmask returns the features whose weights are not 0.
func (l *Learner) unmask(fs []feature.Feature) []feature.Feature {
	l.unmasked = l.unmasked[:0]
	stride := l.cfg.Stride()
	for _, f := range fs {
		if l.t.w[int(f.Index)*stride] != 0 {
			l.unmasked = append(l.unmasked, f)
		}
	}
	return l.unmasked
}

// accumulate runs the rule's loop over fs. One that does not prefetch by itself gets blocks: before each block it
// prefetches as many of the following weights, about the number of loads that a processor has under way at a time.
func (l *Learner) accumulate(fs []feature.Feature, g2 float32) (sum sums) {
	if l.rule.both {
		return accumulateBoth(&l.t, fs, &l.ahead, g2, sum)
	}
	const block = 8
	for len(fs) > block {
		l.fetch(block)
		sum = l.rule.sense(&l.t, fs[:block], g2, sum)
		fs = fs[block:]
	}
	return l.rule.sense(&l.t, fs, g2, sum)
}

// averageScale returns the normalised rule's factor on all rates, from the mean of Σ(x/N)² over
// the examples so far.
func (l *Learner) averageScale() float32 {
	tw, nsx := float32(l.totalWeight), float32(l.nsx)
	switch {
	case !l.cfg.squareRoot():
		return fmath.Pow32(nsx/tw, l.t.normPower)
	case l.cfg.Adaptive:
		return sqrt(tw / nsx)
	}
	return tw / nsx
}

// EndPass applies the decay of the learning rate.
func (l *Learner) EndPass() { l.eta *= l.cfg.DecayLearningRate }

// sqrt is correctly rounded: the float64 square root has enough digits that rounding it again
// is exact. Compilers emit one instruction for it.
func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
