// SPDX-License-Identifier: Apache-2.0

// Package marginal is vw's --marginal: the ids of chosen namespaces are replaced by the means of the
// labels that examples with them had.
//
// A namespace of ids has pairs of features: the first one gets the mean as its value, and the second
// one is the id. So the weight of a first feature is shared by all ids in that place, and a new id needs
// no weight of its own. With --compete the means themselves and the linear learner compete as experts
// whose weights are those of AdaNormalHedge (Luo and Schapire, Achieving All with No Parameters, 2015;
// vw's marginal.cc).
package marginal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/reduction"
)

// Spec is the row of means of ids.
var Spec = reduction.Spec{
	Name: "marginal",
	Options: []reduction.Option{
		{Name: "marginal", Kind: reduction.Word, Arg: "NAMESPACES", Help: "replace the ids in these namespaces by the means of their labels", Kept: true},
		{Name: "initial_denominator", Kind: reduction.Number, Arg: "N", Help: "weight of the mean of a new id", Default: "1"},
		{Name: "initial_numerator", Kind: reduction.Number, Arg: "X", Help: "mean of a new id, times that weight", Default: "0.5"},
		{Name: "compete", Kind: reduction.Flag, Help: "let the means compete with the linear learner"},
		{Name: "update_before_learn", Kind: reduction.Flag, Help: "refused: vw 9.11.9 never updates the means with it"},
		{Name: "unweighted_marginals", Kind: reduction.Flag, Help: "compute means of examples without their weights"},
		{Name: "decay", Kind: reduction.Number, Arg: "D", Help: "forget a share D of a mean with each example that has the id", Default: "0"},
	},
	Excludes: func(s reduction.Setting) string {
		for _, set := range s.Interactions {
			if strings.ContainsAny(set, ":"+s.Options.Word("marginal", "")) {
				return fmt.Sprintf("interactions of the namespaces %s would cross ids instead of means: leave them out", set)
			}
		}
		return reduction.IgnoresLinear(s)
	},
	New: plan,
}

func plan(v reduction.Values) (reduction.Plan, error) {
	l := &learner{
		competes: v.Has("compete"), unweighted: v.Has("unweighted_marginals"),
	}
	var faults []error
	if v.Has("update_before_learn") {
		faults = append(faults, &reduction.Fault{Option: "update_before_learn", Text: "with it vw 9.11.9 never updates the means: leave it out"})
	}
	number := func(name string, otherwise float32) float32 {
		x, err := v.Number(name, otherwise)
		faults = append(faults, err)
		return x
	}
	l.fresh = mean{float64(number("initial_numerator", 0.5)), float64(number("initial_denominator", 1))}
	l.keeps = 1 - float64(number("decay", 0))
	names := v.Word("marginal", "")
	if names == "" {
		faults = append(faults, &reduction.Fault{Option: "marginal", Text: "no namespaces: want their first bytes"})
	}
	for i := range len(names) {
		l.ids[names[i]] = true
	}
	return reduction.Plan{
		Alone: "the means of ids follow from the examples of one process",
		Make: func(e *reduction.Env) (reduction.Learner, error) {
			own := *l
			own.env, own.at = e, map[uint32]int{}
			return &own, nil
		},
	}, errors.Join(faults...)
}

// mean is a mean of labels, with the weight of the examples.
type mean struct{ sum, weight float64 }

func (m mean) value() float32 { return float32(m.sum / m.weight) }

// record is what the learner keeps of an id.
type record struct {
	id uint32
	mean
	experts [2]expert // the mean and the linear learner
}

var _ reduction.Advancer = (*learner)(nil)

type learner struct {
	env *reduction.Env

	ids        [256]bool // namespaces
	competes   bool
	unweighted bool
	keeps      float64 // share of a mean that the next example leaves
	fresh      mean    // of a new id

	records []record
	at      map[uint32]int // position of each id in records
	adds    bool           // new ids of the next example are kept

	placed []feature.Feature // the example's features with means
	vote   vote
}

// seen returns what is kept of an id, or what a new one has.
func (l *learner) seen(id uint32) record {
	if i, ok := l.at[id]; ok {
		return l.records[i]
	}
	return record{id: id, mean: l.fresh, experts: [2]expert{{weight: 1}, {weight: 1}}}
}

// kept returns the record of an id, a new one if there is none. As in vw the mean of an id that first occurs in a
// pair with other values than 1 begins without an example.
func (l *learner) kept(id uint32, ones bool) *record {
	i, ok := l.at[id]
	if !ok {
		i = len(l.records)
		r := l.seen(id)
		if !ones {
			r.mean = mean{}
		}
		l.records = append(l.records, r)
		l.at[id] = i
	}
	return &l.records[i]
}

// pairs calls f with the place and the id of each pair of features in a namespace of ids. ones reports whether both
// values are 1. As in vw only such pairs become features, and all pairs change the means of their ids.
func pairs(fs []feature.Feature, f func(place, id uint32, ones bool)) {
	for ; len(fs) > 1; fs = fs[2:] {
		f(fs[0].Index, fs[1].Index, fs[0].Value == 1 && fs[1].Value == 1)
	}
}

// Advance makes open keep the new ids of the example, unless no model is written that could have them. As in vw
// the mean of an id begins with its first example, be it labelled or not. A prediction that is only measured
// keeps none, and neither does a server for an example without a label: its clients would fill its memory with ids of
// which it learns nothing.
func (l *learner) Advance(ex *feature.Example) {
	l.adds = (!l.env.Testing || l.env.Saves) && (ex.Labeled() || !l.env.Endless)
}

// open sets the features of an example, with means, and begins the vote of the experts.
func (l *learner) open(b *feature.Batch, ex *feature.Example, learns bool) {
	l.vote = vote{}
	fs, end := b.FeaturesOf(ex), uint32(0)
	l.placed = l.placed[:0]
	for _, s := range b.SpansOf(ex) {
		if s.Lo < ex.FeatLo { // ignored but in interactions
			continue
		}
		of := fs[s.Lo-ex.FeatLo : s.Hi-ex.FeatLo]
		end = s.Hi - ex.FeatLo
		if !l.ids[s.NS] {
			l.placed = l.env.Base.Append(l.placed, of)
			continue
		}
		pairs(of, func(place, id uint32, ones bool) {
			if !ones {
				return
			}
			var r record
			if l.adds { // also without a label
				r = *l.kept(id, true)
			} else {
				r = l.seen(id)
			}
			v := r.value()
			l.placed = append(l.placed, feature.Feature{Index: l.env.Base.First(place), Value: v})
			if l.competes {
				gap := float32(0)
				if learns {
					gap = l.env.LossOf(v, ex)
				}
				l.vote.add(v, &r.experts, gap)
			}
		})
	}
	l.placed = l.env.Base.Append(l.placed, fs[end:])
	l.adds = false
}

// update adds the label to the means of the example's ids. linear is the prediction of the linear
// learner.
func (l *learner) update(b *feature.Batch, ex *feature.Example, linear float32) {
	w := ex.Weight
	if l.unweighted {
		w = 1
	}
	fs := b.FeaturesOf(ex)
	for _, s := range b.SpansOf(ex) {
		if s.Lo < ex.FeatLo || !l.ids[s.NS] {
			continue
		}
		pairs(fs[s.Lo-ex.FeatLo:s.Hi-ex.FeatLo], func(_, id uint32, ones bool) {
			r := l.kept(id, ones)
			if l.competes {
				r.experts[0].learn(l.vote.loss-l.env.LossOf(r.value(), ex), w)
				r.experts[1].learn(l.vote.loss-l.env.LossOf(linear, ex), w)
			}
			r.sum = r.sum*l.keeps + float64(ex.Label*w)
			r.weight = r.weight*l.keeps + float64(w)
		})
	}
}

// result returns the prediction of the linear learner, or that of the vote of the experts.
func (l *learner) result(raw, score float32, ex *feature.Example) reduction.Result {
	if l.competes {
		l.vote.end(score, l.env.LossOf(score, ex))
		raw, score = l.vote.sum, l.vote.sum
	}
	return reduction.Result{Raw: raw, Score: score, Loss: l.env.LossOf(score, ex)}
}

func (l *learner) Predict(b *feature.Batch, ex *feature.Example) reduction.Result {
	l.open(b, ex, false)
	raw, score := l.env.Base.Predict(0, l.placed, ex.Initial)
	return l.result(raw, score, ex)
}

func (l *learner) Learn(b *feature.Batch, ex *feature.Example) reduction.Result {
	l.open(b, ex, true)
	raw, score := l.env.Base.Learn(0, l.placed, ex)
	l.env.Base.End(ex)
	r := l.result(raw, score, ex)
	l.update(b, ex, score)
	return r
}
