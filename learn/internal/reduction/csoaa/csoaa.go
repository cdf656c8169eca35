// SPDX-License-Identifier: Apache-2.0

// Package csoaa is vw's --csoaa: cost-sensitive one against all.
//
// For each class a linear learner predicts the cost of choosing it, and learns the cost that the
// label has. The prediction is the class whose predicted cost is lowest, among those in the label or,
// without a label, among all (vw's csoaa.cc). The loss is the cost of that class above the
// lowest cost, or with --cs_absolute_loss the whole cost.
package csoaa

import (
	"slices"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/reduction"
)

// maxClasses is the largest number of classes.
const maxClasses = 1 << 20

// Spec is the row of cost-sensitive one against all.
var Spec = reduction.Spec{
	Name: "csoaa",
	Options: []reduction.Option{
		{Name: "csoaa", Kind: reduction.Count, Arg: "K", Help: "K classes with costs, one against all, for labels like 1:0.5 2:0", Kept: true},
		{Name: "cs_absolute_loss", Kind: reduction.Flag, Help: "the loss is the cost of the predicted class, not what it is above the lowest"},
	},
	Above:  true,
	Labels: feature.CostLabels,
	Excludes: func(s reduction.Setting) string {
		if s.Link != "identity" {
			return "its predictions are classes, to which no link applies: leave learn.Config.Loss.Link out"
		}
		return ""
	},
	New: func(v reduction.Values) (reduction.Plan, error) {
		k, err := v.Count("csoaa", 1, maxClasses)
		return reduction.Plan{Slots: k, Classes: k, MakeClassifier: func(e *reduction.Env) (reduction.Classifier, error) {
			return &learner{env: e, k: k, absolute: v.Has("cs_absolute_loss"), scores: make([]float32, k)}, nil
		}}, err
	},
}

type learner struct {
	env *reduction.Env
	k   int // number of classes
	// absolute means that the loss is the whole cost of the predicted class.
	absolute bool

	placed []feature.Feature
	own    feature.Example // the example with the cost of the current class
	scores []float32       // raw scores of all classes, or those of the label
}

func (l *learner) PredictClass(b *feature.Batch, ex *feature.Example, y *reduction.Target) reduction.Choice {
	base := l.env.Base
	l.placed = base.Append(l.placed[:0], b.FeaturesOf(ex))
	if len(y.Costs) == 0 {
		return l.cheapest(ex)
	}
	return l.candidates(ex, y.Costs, false)
}

func (l *learner) LearnClass(b *feature.Batch, ex *feature.Example, y *reduction.Target) reduction.Choice {
	l.placed = l.env.Base.Append(l.placed[:0], b.FeaturesOf(ex))
	c := l.candidates(ex, y.Costs, true)
	l.own.Weight = c.Weight
	l.env.Base.End(&l.own)
	return c
}

// cheapest chooses among all classes.
func (l *learner) cheapest(ex *feature.Example) reduction.Choice {
	l.scores = slices.Grow(l.scores[:0], l.k)[:l.k]
	l.env.Base.Scores(l.scores, l.placed, ex.Initial)
	c := reduction.Choice{Weight: ex.Weight}
	for i, v := range l.scores {
		if v < l.scores[c.Class] {
			c.Class = i
		}
		c.Raw = reduction.Wild(c.Raw, v)
	}
	return c
}

// candidates chooses among the classes of the label by raw scores, and lets each of them learn its
// cost. As in vw the range follows each cost before its class is predicted, and the last class
// decides about the weight with which the example counts.
func (l *learner) candidates(ex *feature.Example, costs []feature.Cost, learns bool) reduction.Choice {
	base := l.env.Base
	l.own = *ex
	l.scores = l.scores[:0]
	c := reduction.Choice{Weight: ex.Weight}
	least, lowest, paid := float32(feature.NoLabel), float32(feature.NoLabel), float32(feature.NoLabel)
	for _, y := range costs {
		k, known := int(y.Class), y.Cost != feature.NoLabel
		if learns && known {
			l.env.Follow(y.Cost)
		}
		raw, score := base.Predict(k, l.placed, ex.Initial)
		if learns && known {
			l.own.Label = y.Cost
			base.Update(k, l.placed, &l.own, score)
		}
		if c.Weight = ex.Weight; learns && !known {
			c.Weight = 0
		}
		if raw < least || raw == least && k < c.Class {
			least, c.Class = raw, k
		}
		lowest = min(lowest, y.Cost)
		l.scores = append(l.scores, raw)
		c.Raw = reduction.Wild(c.Raw, raw)
	}
	for _, y := range costs {
		if int(y.Class) == c.Class {
			paid = y.Cost
		}
	}
	if l.absolute {
		lowest = 0
	}
	if ex.Labeled() {
		c.Loss = paid - lowest
	}
	c.Scores = l.scores
	return c
}
