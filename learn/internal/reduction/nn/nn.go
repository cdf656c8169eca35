// SPDX-License-Identifier: Apache-2.0

// Package nn is vw's --nn: a network with one hidden layer, of linear learners.
//
// Each of the K hidden units is a linear learner of the example's features, whose score, within
// -3 and 3, passes through tanh. A further learner learns the label from these K values. Then each
// hidden unit learns, by the squared loss, the score that a gradient step from the output asks
// for (vw's nn.cc).
package nn

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/merand"
	"github.com/gvw-project/gvw/learn/internal/reduction"
	"github.com/gvw-project/gvw/loss"
)

// maxUnits is the largest number of hidden units.
const maxUnits = 1 << 16

// Spec is the row of the network.
var Spec = reduction.Spec{
	Name: "nn",
	Options: []reduction.Option{
		{Name: "nn", Kind: reduction.Count, Arg: "K", Help: "a network with K hidden units", Kept: true},
		{Name: "inpass", Kind: reduction.Flag, Help: "the output also sees the features themselves", Kept: true},
		{Name: "multitask", Kind: reduction.Flag, Help: "share the hidden units among classes; without classes, no effect", Kept: true},
		{Name: "dropout", Kind: reduction.Flag, Help: "learn from each half of the units, drawn for each example", Kept: true},
		{Name: "meanfield", Kind: reduction.Flag, Help: "use all units, also of a model that was trained with dropout"},
	},
	New: func(v reduction.Values) (reduction.Plan, error) {
		k, err := v.Count("nn", 1, maxUnits)
		drops := v.Has("dropout") && !v.Has("meanfield")
		return reduction.Plan{Slots: k + 1, Make: func(e *reduction.Env) (reduction.Learner, error) {
			return newLearner(e, k, v.Has("inpass"), drops)
		}}, err
	},
}

// The numbers of vw's weights of the output and of the hidden units' bias.
const (
	outputIndex = 533357803
	biasFloat   = uint64(feature.ConstantIndex) // the first float, as no stride is applied
)

var (
	hiddenRange = loss.Range{Min: -3, Max: 3}
	weightRange = loss.Range{Min: -1, Max: 1}
)

type learner struct {
	env     *reduction.Env
	k       int
	inpass  bool
	drops   bool
	seed    merand.State // of dropout
	squared loss.Loss

	bias    []feature.Feature // of the hidden units; empty: none
	hidden  []float32         // scores of the units
	out     []feature.Feature // features of the output: the units, and a constant unless inpass is set
	dropped []bool
	scale   float32            // factor on the values of units that are not dropped
	placed  []feature.Feature  // the example's features
	all     []feature.Feature  // those of the output of an example
	own     feature.Example    // with labels of the units
	one     feature.Example    // with weight 1, for a single weight
	at      [1]feature.Feature // that weight

	first float32 // squares of the units as the output first learns
	raw   float32 // of the last prediction
	twice bool    // both halves of the units have learned
	other float32 // prediction of the second half
}

var (
	_ reduction.Stateful = (*learner)(nil)
	_ reduction.Reporter = (*learner)(nil)
)

func newLearner(e *reduction.Env, k int, inpass, drops bool) (*learner, error) {
	squared, err := loss.New("squared")
	if err != nil {
		return nil, err
	}
	l := &learner{
		env: e, k: k, inpass: inpass, drops: drops, seed: merand.State(e.Seed), squared: squared,
		hidden: make([]float32, k), dropped: make([]bool, k), one: feature.Example{Weight: 1},
	}
	mask := e.Base.Mask()
	_, pitch := e.Base.Floats(0)
	bias := feature.Feature{Index: uint32(biasFloat/pitch) & mask, Value: 1}
	if !e.NoConstant {
		l.bias = append(l.bias, bias)
	}
	if uint64(bias.Index)+uint64(k) > uint64(mask) {
		return nil, fmt.Errorf("%d weights are too few for %d units", uint64(mask)+1, k)
	}
	e.Base.Absolute(k)
	n := k
	if !inpass {
		n++
	}
	for i := range n {
		l.out = append(l.out, feature.Feature{Index: (outputIndex + uint32(i+k)) & mask, Value: 1})
	}
	return l, nil
}

func (l *learner) AppendState(dst []uint64) []uint64 {
	return append(dst, uint64(l.seed), uint64(*l.env.Random))
}

func (l *learner) SetState(words []uint64) {
	l.seed, *l.env.Random = merand.State(words[0]), merand.State(words[1])
}

// units computes the scores of the hidden units. Those at the saddle point at 0 are moved away
// from it, even in tests, as in vw.
func (l *learner) units(b *feature.Batch, ex *feature.Example, drops bool) {
	base := l.env.Base
	trueLoss, labels := base.With(l.squared, hiddenRange)
	base.Scores(l.hidden, l.bias, 0) // of all units before the first one learns, which changes the regularisation
	for i, p := range l.hidden {
		if p == 0 {
			l.one.Label = l.env.Random.Float() - 0.5
			base.Learn(i, l.bias, &l.one)
		}
	}
	l.placed = base.Append(l.placed[:0], b.FeaturesOf(ex))
	base.Scores(l.hidden, l.placed, ex.Initial)
	for i, h := range l.hidden {
		l.hidden[i] = hiddenRange.Clip(h)
		l.dropped[i] = drops && l.seed.Float() < 0.5
	}
	base.With(trueLoss, labels)
	l.scale = 1
	if drops {
		l.scale = 2
	}
}

// output computes the features of the output from the scores of the units.
func (l *learner) output(b *feature.Batch, ex *feature.Example) []feature.Feature {
	base := l.env.Base
	trueLoss, labels := base.With(l.squared, weightRange)
	for i, h := range l.hidden {
		l.out[i].Value = 0
		if !l.dropped[i] {
			l.out[i].Value = l.scale * tanh(h)
		}
		l.at[0] = feature.Feature{Index: l.out[i].Index, Value: 1}
		if _, w := base.Predict(l.k, l.at[:], 0); w == 0 {
			l.one.Label = (l.env.Random.Float() - 0.5) / float32(math.Sqrt(float64(l.k)))
			base.Update(l.k, l.at[:], &l.one, w)
		}
	}
	base.With(trueLoss, labels)
	if !l.inpass {
		return l.out
	}
	// The features of the namespaces, the units, and the interactions.
	end := uint32(0)
	for _, s := range b.SpansOf(ex) {
		if s.Lo >= ex.FeatLo {
			end = s.Hi - ex.FeatLo
		}
	}
	l.all = l.all[:0]
	for i, f := range l.placed {
		if uint32(i) == end {
			l.all = append(l.all, l.out...)
		}
		l.all = append(l.all, feature.Feature{Index: f.Index + uint32(l.k), Value: f.Value})
	}
	if int(end) == len(l.placed) {
		l.all = append(l.all, l.out...)
	}
	return l.all
}

func (l *learner) Predict(b *feature.Batch, ex *feature.Example) reduction.Result {
	l.units(b, ex, false)
	l.twice = false
	raw, score := l.env.Base.Predict(l.k, l.output(b, ex), ex.Initial)
	if l.env.Testing && ex.Labeled() {
		l.env.Base.End(ex) // vw's time, from which the steps of the units follow
	}
	l.raw = raw
	return reduction.Result{Raw: raw, Score: score, Loss: l.env.LossOf(score, ex)}
}

func (l *learner) Learn(b *feature.Batch, ex *feature.Example) reduction.Result {
	l.units(b, ex, l.drops)
	raw, score := l.learn(b, ex, false)
	if l.twice = l.drops; l.twice { // the other units, too
		for i := range l.dropped {
			l.dropped[i] = !l.dropped[i]
		}
		l.other, _ = l.learn(b, ex, true)
	}
	l.env.Base.End(ex)
	l.raw = raw
	return reduction.Result{Raw: raw, Score: score, Loss: l.env.LossOf(score, ex)}
}

// learn lets the output learn the label, and the units what the output asks for.
func (l *learner) learn(b *feature.Batch, ex *feature.Example, second bool) (raw, score float32) {
	base := l.env.Base
	l.own = *ex
	fs := l.output(b, ex)
	hidden := ex.HiddenSquares
	if !l.inpass {
		l.own.HiddenSquares = 0
	} else { // vw sums the squares once for all updates of an example: with a constant, and the units of the first half
		own := float32(0)
		for i := range l.out {
			own += float32(l.out[i].Value * l.out[i].Value)
		}
		if !second {
			l.first = own
		}
		hidden += 1 + l.first
		l.own.HiddenSquares = hidden - own
	}
	raw, score = base.Learn(l.k, fs, &l.own)
	gradient := l.env.Loss.First(base.Whole.Range, score, ex.Label)
	if gradient == 0 {
		return raw, score
	}
	trueLoss, labels := base.With(l.squared, hiddenRange)
	l.own.HiddenSquares = hidden
	for i, h := range l.hidden {
		if l.dropped[i] {
			continue
		}
		sigma := l.out[i].Value / l.scale
		slope := l.scale * (1 - float32(sigma*sigma))
		l.at[0] = feature.Feature{Index: l.out[i].Index, Value: 1}
		_, w := base.Predict(l.k, l.at[:], 0)
		step := float32(float32(0.5*w)*gradient) * slope
		if l.own.Label = hiddenRange.Clip(h - step); l.own.Label != h {
			base.Update(i, l.placed, &l.own, h)
		}
	}
	base.With(trueLoss, labels)
	return raw, score
}

// AppendPrediction appends the score as vw prints numbers.
func (l *learner) AppendPrediction(dst []byte, score float32, tag []byte) []byte {
	return reduction.AppendTag(reduction.AppendNumber(dst, score), tag)
}

// AppendRaw appends the score and the value of each unit, and the raw prediction. If the other half of the
// units has learned, too, it appends a second line with the prediction of each half, as vw does.
func (l *learner) AppendRaw(dst, tag []byte) []byte {
	dst = l.appendRaw(dst)
	if l.twice {
		dst = append(reduction.AppendTag(dst, tag), '\n')
		dst = strconv.AppendFloat(append(l.appendRaw(dst), ' '), float64(l.other), 'g', 6, 64)
	}
	return dst
}

func (l *learner) appendRaw(dst []byte) []byte {
	for i, h := range l.hidden {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(strconv.AppendInt(dst, int64(i), 10), ':')
		dst = append(strconv.AppendFloat(dst, float64(h), 'g', 6, 64), ',')
		dst = strconv.AppendFloat(dst, float64(tanh(h)), 'g', 6, 64)
	}
	return strconv.AppendFloat(append(dst, ' '), float64(l.raw), 'g', 6, 64)
}
