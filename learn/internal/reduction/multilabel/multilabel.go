// SPDX-License-Identifier: Apache-2.0

// Package multilabel is vw's --multilabel_oaa: one against all for examples that belong to any number
// of classes.
//
// For each class a linear learner learns 1 if the label has the class, and -1 otherwise. The
// prediction has the classes whose score is above 0 (vw's multilabel_oaa.cc). The loss is the number
// of classes that only one of prediction and label has.
package multilabel

import (
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/reduction"
)

// maxClasses is the largest number of classes.
const maxClasses = 1 << 20

// Spec is the row of multilabel one against all.
var Spec = reduction.Spec{
	Name: "multilabel_oaa",
	Options: []reduction.Option{
		{Name: "multilabel_oaa", Kind: reduction.Count, Arg: "K", Help: "any of K classes, one against all, for labels like 0,2,5", Kept: true},
	},
	Above:    true,
	Labels:   feature.MultiLabels,
	Excludes: reduction.LinksClasses,
	New: func(v reduction.Values) (reduction.Plan, error) {
		k, err := v.Count("multilabel_oaa", 1, maxClasses)
		return reduction.Plan{Slots: k, Classes: k, MakeClassifier: func(e *reduction.Env) (reduction.Classifier, error) {
			return &learner{env: e, k: k, chosen: make([]int, 0, k)}, nil
		}}, err
	},
}

type learner struct {
	env *reduction.Env
	k   int // number of classes

	placed []feature.Feature
	own    feature.Example // the example with the label of the current class
	chosen []int
}

func (l *learner) PredictClass(b *feature.Batch, ex *feature.Example, y *reduction.Target) reduction.Choice {
	return l.process(b, ex, y, false)
}

func (l *learner) LearnClass(b *feature.Batch, ex *feature.Example, y *reduction.Target) reduction.Choice {
	c := l.process(b, ex, y, true)
	l.env.Base.End(ex)
	return c
}

// process predicts the classes, and lets each of them learn. As in vw the classes of the label are
// looked up in the order of the text, and the range follows each label before its class is predicted.
func (l *learner) process(b *feature.Batch, ex *feature.Example, y *reduction.Target, learns bool) reduction.Choice {
	base := l.env.Base
	l.placed = base.Append(l.placed[:0], b.FeaturesOf(ex))
	l.own = *ex
	l.chosen = l.chosen[:0]
	c := reduction.Choice{Weight: ex.Weight}
	next := 0
	for k := range l.k {
		if learns {
			l.own.Label = -1
			if next < len(y.Costs) && int(y.Costs[next].Class) == k {
				l.own.Label = 1
				next++
			}
			l.env.Follow(l.own.Label)
		}
		raw, score := base.Predict(k, l.placed, ex.Initial)
		if learns {
			base.Update(k, l.placed, &l.own, score)
		}
		if score > 0 {
			l.chosen = append(l.chosen, k)
		}
		c.Raw = reduction.Wild(c.Raw, raw)
	}
	c.Classes = l.chosen
	if ex.Labeled() {
		c.Loss = float32(distance(l.chosen, y.Costs))
	}
	return c
}

// distance returns the number of classes that only one of two lists has. As in vw, lists that do not
// ascend are compared as if they did.
func distance(chosen []int, label []feature.Cost) int {
	n := 0
	for len(chosen) > 0 && len(label) > 0 {
		switch a, b := chosen[0], int(label[0].Class); {
		case a < b:
			chosen, n = chosen[1:], n+1
		case a > b:
			label, n = label[1:], n+1
		default:
			chosen, label = chosen[1:], label[1:]
		}
	}
	return n + len(chosen) + len(label)
}
