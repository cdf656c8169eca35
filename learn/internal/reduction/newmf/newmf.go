// SPDX-License-Identifier: Apache-2.0

// Package newmf is vw's --new_mf: matrix factorisation beside a linear learner.
//
// For each pair of namespaces that the options cross, each feature has K factors on the left side
// and K on the right side. The prediction is that of the linear learner plus the inner product of
// the two sums of factors. Each factor is a linear learner (vw's mf.cc).
package newmf

import (
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/reduction"
)

// maxRank is the largest number of factors.
const maxRank = 1 << 16

// Spec is the row of the factorisation.
var Spec = reduction.Spec{
	Name: "new_mf",
	Options: []reduction.Option{
		{Name: "new_mf", Kind: reduction.Count, Arg: "K", Help: "factorise crossed pairs of namespaces by K factors", Kept: true},
	},
	PredictsFirst: true,
	Excludes:      reduction.PairsOnly,
	New: func(v reduction.Values) (reduction.Plan, error) {
		k, err := v.Count("new_mf", 1, maxRank)
		return reduction.Plan{Slots: 2*k + 1, Positive: true, Make: func(e *reduction.Env) (reduction.Learner, error) {
			return &learner{env: e, k: k, sums: make([]float32, 2*k)}, nil
		}}, err
	},
}

type learner struct {
	env *reduction.Env
	k   int

	placed []feature.Feature // all features of the example
	scaled []feature.Feature // those of a namespace, times the other side's sum of factors
	sums   []float32         // of the last pair: left and right sums of each factor
	own    feature.Example

	features int // of the example, without products
}

// predict returns the raw prediction.
func (l *learner) predict(b *feature.Batch, ex *feature.Example) float32 {
	base := l.env.Base
	l.placed = base.Append(l.placed[:0], b.FeaturesOf(ex))
	l.features = reduction.Uncrossed(b, ex) + int(ex.Hidden)
	sum, _ := base.Predict(0, l.placed, ex.Initial)
	for _, pair := range l.env.Cross {
		left, right := reduction.Side(b, ex, l.placed, pair[0]), reduction.Side(b, ex, l.placed, pair[1])
		if len(left) == 0 || len(right) == 0 {
			continue
		}
		for k := range l.k {
			x, _ := base.Predict(1+k, left, ex.Initial)
			z, _ := base.Predict(1+k+l.k, right, ex.Initial)
			l.sums[2*k], l.sums[2*k+1] = x, z
			sum += float32(x * z)
		}
	}
	return sum
}

var _ reduction.Counter = (*learner)(nil)

// Features returns the number of features without crossed ones, as vw shows it.
func (l *learner) Features() int { return l.features }

func (l *learner) Predict(b *feature.Batch, ex *feature.Example) reduction.Result {
	return l.env.Result(l.predict(b, ex), ex)
}

// Learn updates the linear learner, the left factors and the right factors, in this order. As in
// vw the later updates start from the prediction after the earlier ones, and all pairs use the sums
// of the last one.
func (l *learner) Learn(b *feature.Batch, ex *feature.Example) reduction.Result {
	r := l.env.Result(l.predict(b, ex), ex)
	base := l.env.Base
	score := base.Update(0, l.placed, ex, r.Score)
	all := reduction.Squares(l.placed)
	for _, pair := range l.env.Cross {
		left, right := reduction.Side(b, ex, l.placed, pair[0]), reduction.Side(b, ex, l.placed, pair[1])
		if len(left) == 0 || len(right) == 0 {
			continue
		}
		for k := range l.k {
			base.Update(1+k, l.scale(left, l.sums[2*k+1]), l.example(ex, all), score)
		}
		for k := range l.k {
			score = base.Update(1+k+l.k, l.scale(right, l.sums[2*k]), l.example(ex, all), score)
		}
	}
	base.End(ex)
	return r
}

// scale returns features with values times x.
func (l *learner) scale(fs []feature.Feature, x float32) []feature.Feature {
	l.scaled = l.scaled[:0]
	for _, f := range fs {
		l.scaled = append(l.scaled, feature.Feature{Index: f.Index, Value: f.Value * x})
	}
	return l.scaled
}

// example returns ex for an update by l.scaled. The step of vw's plain rules follows from the
// squares of all features of the example.
func (l *learner) example(ex *feature.Example, all float32) *feature.Example {
	l.own = *ex
	l.own.HiddenSquares += all - reduction.Squares(l.scaled)
	return &l.own
}
