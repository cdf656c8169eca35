// SPDX-License-Identifier: Apache-2.0

// Package rank is vw's --rank: matrix factorisation by plain stochastic gradient descent.
//
// Each feature has a linear weight, K factors as the left side of a pair of namespaces, and K as
// the right side. The prediction is the sum of the linear weights, plus for each crossed pair the
// inner product of the two sums of factors. The learning rate is η/(3·t^p) (vw's gd_mf.cc).
package rank

import (
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/merand"
	"github.com/gvw-project/gvw/learn/internal/reduction"
)

// maxRank is the largest number of factors.
const maxRank = 1 << 15

// Spec is the row of the factorisation.
var Spec = reduction.Spec{
	Name: "rank",
	Options: []reduction.Option{
		{Name: "rank", Kind: reduction.Count, Arg: "K", Help: "factorise crossed pairs of namespaces by K factors, by plain SGD", Kept: true},
	},
	Bottom: true,
	Excludes: func(s reduction.Setting) string {
		if s.Adaptive || s.Normalized {
			return "it learns by plain SGD: leave learn.Config.SGD.Adaptive and learn.Config.SGD.Normalized out"
		}
		if text := reduction.IgnoresLinear(s); text != "" {
			return text
		}
		return reduction.PairsOnly(s)
	},
	New: func(v reduction.Values) (reduction.Plan, error) {
		k, err := v.Count("rank", 1, maxRank)
		return reduction.Plan{Slots: 2*k + 1, Learners: 1, Start: start, Make: func(e *reduction.Env) (reduction.Learner, error) {
			return &learner{env: e, k: k}, nil
		}}, err
	},
}

// start draws the floats of a row from 0 to 0.1, with a generator that begins at the number of the
// row's first float. As in vw the number of draws counts into the state.
func start(row []float32, first uint64) {
	s := merand.State(first)
	for i := range row {
		row[i] = 0.1 * s.Float()
		s++
	}
}

type learner struct {
	env *reduction.Env
	k   int

	placed []feature.Feature // those of the example's namespaces, without products
	sums   []float32         // of each pair of the last example: left and right sums of each factor
}

// predict returns the raw prediction.
func (l *learner) predict(b *feature.Batch, ex *feature.Example) float32 {
	base := l.env.Base
	w := base.Whole.Weights()
	l.placed = base.Append(l.placed[:0], b.FeaturesOf(ex)[:reduction.Uncrossed(b, ex)])
	linear := float32(0)
	for _, f := range l.placed {
		linear += float32(w[f.Index] * f.Value)
	}
	sum := ex.Initial + linear
	l.sums = l.sums[:0]
	for _, pair := range l.env.Cross {
		left, right := reduction.Side(b, ex, l.placed, pair[0]), reduction.Side(b, ex, l.placed, pair[1])
		if len(left) == 0 || len(right) == 0 {
			continue
		}
		n := len(l.sums)
		for range 2 * l.k {
			l.sums = append(l.sums, 0)
		}
		x, z := l.sums[n:][:l.k], l.sums[n+l.k:][:l.k]
		add(x, w, left, 1)
		add(z, w, right, 1+l.k)
		for k := range x {
			sum += float32(x[k] * z[k])
		}
	}
	return sum
}

// add adds the features' factors from a slot on to the sums.
func add(sums, w []float32, fs []feature.Feature, slot int) {
	for _, f := range fs {
		row := w[int(f.Index)+slot:][:len(sums)]
		for k, v := range row {
			sums[k] += float32(v * f.Value)
		}
	}
}

func (l *learner) Predict(b *feature.Batch, ex *feature.Example) reduction.Result {
	return l.env.Result(l.predict(b, ex), ex)
}

// Learn updates the linear weights, the left factors and the right factors. As in vw all pairs use
// the sums of the first one.
func (l *learner) Learn(b *feature.Batch, ex *feature.Example) reduction.Result {
	r := l.env.Result(l.predict(b, ex), ex)
	base := l.env.Base
	w := base.Whole.Weights()
	rate := base.Rate(ex) / 3 * ex.Weight
	update := l.env.Loss.Update(r.Score, ex.Label, rate, 1)
	decay := rate * l.env.L2
	for _, f := range l.placed {
		w[f.Index] += float32(update*f.Value) - float32(decay*w[f.Index])
	}
	for _, pair := range l.env.Cross {
		left, right := reduction.Side(b, ex, l.placed, pair[0]), reduction.Side(b, ex, l.placed, pair[1])
		if len(left) == 0 || len(right) == 0 {
			continue
		}
		step(w, left, 1, l.sums[l.k:][:l.k], update, decay)
		step(w, right, 1+l.k, l.sums[:l.k], update, decay)
	}
	base.End(ex)
	return r
}

// step moves the features' factors from a slot on, by the other side's sums.
func step(w []float32, fs []feature.Feature, slot int, other []float32, update, decay float32) {
	for _, f := range fs {
		row := w[int(f.Index)+slot:][:len(other)]
		for k, v := range row {
			row[k] = v + (float32(float32(update*other[k])*f.Value) - float32(decay*v))
		}
	}
}
