// SPDX-License-Identifier: Apache-2.0

// Package logmulti is vw's --log_multi: a tree of linear learners that chooses among classes in
// logarithmic time.
//
// An inner node has a linear learner, by whose score an example goes left or right, and a leaf predicts
// the class that most of its examples had. A learner learns to send classes right whose mean score is
// not below that of all examples, so that it splits them evenly, and each class mostly goes one way. The
// tree grows with the examples. When it has as many learners as it may have, the emptiest leaf is
// given to a leaf with many examples of several classes (Choromanska and Langford, Logarithmic Time Online
// Multiclass Prediction, 2015; vw's log_multi.cc).
package logmulti

import (
	"errors"
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/reduction"
	"github.com/gvw-project/gvw/loss"
)

const (
	maxClasses    = 1 << 16
	maxResistance = math.MaxInt32
	resistance    = 4 // default
)

// Spec is the row of the tree.
var Spec = reduction.Spec{
	Name: "log_multi",
	Options: []reduction.Option{
		{Name: "log_multi", Kind: reduction.Count, Arg: "K", Help: "classes by a tree of K-1 linear learners, for labels 1 to K", Kept: true},
		{Name: "no_progress", Kind: reduction.Flag, Help: "set a flag of the model, which has no effect, as in vw"},
		{Name: "swap_resistance", Kind: reduction.Count, Arg: "N", Help: "give the emptiest leaf to one with more than N times its examples of rarer classes", Default: "4"},
	},
	Above:         true,
	PredictsFirst: true,
	Labels:        feature.ClassLabels,
	Excludes: func(s reduction.Setting) string {
		if s.Link != "identity" {
			return "a link would send examples to other leaves: leave learn.Config.Loss.Link out"
		}
		return ""
	},
	New: plan,
}

func plan(v reduction.Values) (reduction.Plan, error) {
	k, err := v.Count("log_multi", 1, maxClasses)
	resists, err2 := resistance, error(nil)
	if v.Has("swap_resistance") {
		resists, err2 = v.Count("swap_resistance", 1, maxResistance)
	}
	progress := !v.Has("no_progress")
	return reduction.Plan{
		Slots: max(1, k-1), Classes: k, AnyLabel: true,
		Alone: "trees of several ranks have different shapes, and no mean",
		MakeClassifier: func(e *reduction.Env) (reduction.Classifier, error) {
			// vw's linear learners have this loss whatever --loss_function is.
			median, err := loss.New("quantile")
			e.Base.With(median, e.Base.Whole.Range)
			return &learner{env: e, tree: newTree(k-1, uint32(resists), progress)}, err
		},
	}, errors.Join(err, err2)
}

type learner struct {
	env  *reduction.Env
	tree *tree

	placed   []feature.Feature
	own      feature.Example
	raw      float32 // a raw score
	features int     // of the example, as vw counts them
}

var _ reduction.Counter = (*learner)(nil)

// Features returns the number of features of the last example. As in vw interactions count only if a
// linear learner has seen them.
func (l *learner) Features() int { return l.features }

// score returns the scores of linear learner k.
func (l *learner) score(k uint32) (raw, score float32) {
	raw, score = l.env.Base.Predict(int(k), l.placed, 0)
	l.raw = reduction.Wild(l.raw, raw)
	l.features = l.own.Count()
	return raw, score
}

func (l *learner) PredictClass(b *feature.Batch, ex *feature.Example, y *reduction.Target) reduction.Choice {
	l.placed = l.env.Base.Append(l.placed[:0], b.FeaturesOf(ex))
	l.own, l.raw, l.features = *ex, 0, 0
	for _, s := range b.SpansOf(ex) {
		l.features += int(s.Hi - s.Lo)
	}
	n := &l.tree.nodes[0]
	for n.inner {
		_, score := l.score(n.learner)
		n = &l.tree.nodes[n.next(score)]
	}
	c := reduction.Choice{Class: int(n.label) - 1, Raw: l.raw, Weight: ex.Weight}
	if ex.Labeled() && c.Class != y.Class {
		c.Loss = 1
	}
	return c
}

// LearnClass lets the learners on the way to a leaf learn. The example takes that way by the scores
// after the updates.
func (l *learner) LearnClass(b *feature.Batch, ex *feature.Example, y *reduction.Target) reduction.Choice {
	c := l.PredictClass(b, ex, y)
	if label := y.Class + 1; label >= 0 {
		at := uint32(0)
		for {
			n, class := l.tree.visit(at, uint32(label))
			if !n.inner {
				break
			}
			at = n.next(l.learn(n, class))
		}
		l.tree.arrive(at)
	}
	c.Raw = l.raw
	l.env.Base.End(&l.own)
	return c
}

// learn lets the learner of a node learn where the class goes. It returns the score after that.
func (l *learner) learn(n *node, c *class) float32 {
	l.own.Label = 1
	if n.mean > c.mean {
		l.own.Label = -1
	}
	l.env.Follow(l.own.Label)
	_, score := l.score(n.learner)
	l.env.Base.Update(int(n.learner), l.placed, &l.own, score)
	raw, score := l.score(n.learner)
	n.add(raw)
	c.add(raw)
	return score
}
