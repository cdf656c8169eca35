// SPDX-License-Identifier: Apache-2.0

// Package bootstrap is vw's --bootstrap: K linear learners, each of which learns from an example as
// often as it occurs in a random sample of the data.
//
// The number of occurrences is drawn from the Poisson distribution with mean 1. The prediction is
// the mean of the K predictions, or the one that most of them round to, and its bounds are the
// smallest and the largest of them (vw's bs.cc).
package bootstrap

import (
	"math"
	"slices"
	"strconv"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/merand"
	"github.com/gvw-project/gvw/learn/internal/reduction"
)

// maxRounds is the largest number of learners.
const maxRounds = 1 << 16

// Spec is the row of the bootstrap.
var Spec = reduction.Spec{
	Name: "bootstrap",
	Options: []reduction.Option{
		{Name: "bootstrap", Kind: reduction.Count, Arg: "K", Help: "K linear learners of random samples; predictions have bounds", Kept: true},
		{Name: "bs_type", Kind: reduction.Word, Arg: "HOW", Help: "predict the mean, or vote for the nearest whole number", Default: "mean", Choices: []string{"mean", "vote"}, Kept: true},
	},
	Above: true,
	Excludes: func(s reduction.Setting) string {
		if s.Link != "identity" {
			return "its predictions are means, to which no link applies: leave learn.Config.Loss.Link out"
		}
		return ""
	},
	New: func(v reduction.Values) (reduction.Plan, error) {
		k, err := v.Count("bootstrap", 1, maxRounds)
		return reduction.Plan{Slots: k, Make: func(e *reduction.Env) (reduction.Learner, error) {
			return &learner{env: e, votes: v.Word("bs_type", "mean") == "vote", raw: make([]float32, k), scores: make([]float32, k), whole: make([]int, k)}, nil
		}}, err
	},
}

type learner struct {
	env   *reduction.Env
	votes bool

	placed      []feature.Feature
	own         feature.Example
	raw, scores []float32 // of each learner
	whole       []int     // rounded scores
}

var (
	_ reduction.Stateful = (*learner)(nil)
	_ reduction.Reporter = (*learner)(nil)
)

func (l *learner) AppendState(dst []uint64) []uint64 { return append(dst, uint64(*l.env.Random)) }

func (l *learner) SetState(words []uint64) { *l.env.Random = merand.State(words[0]) }

// poisson are the probabilities of at most 0, 1, 2 ... occurrences. Draws have no more digits.
var poisson = [...]float64{
	0.3678794411714423, 0.7357588823428847, 0.9196986029286058, 0.9810118431238462, 0.9963401531726563,
	0.9994058151824183, 0.9999167588507119, 0.9999897508033253, 0.9999988747974020, 0.9999998885745217,
}

// draw returns the number of occurrences of an example.
func draw(s *merand.State) int {
	x := float64(s.Float())
	for n, p := range poisson {
		if x <= p {
			return n
		}
	}
	return len(poisson)
}

func (l *learner) Predict(b *feature.Batch, ex *feature.Example) reduction.Result {
	return l.process(b, ex, false)
}

func (l *learner) Learn(b *feature.Batch, ex *feature.Example) reduction.Result {
	r := l.process(b, ex, true)
	l.env.Base.End(ex)
	return r
}

func (l *learner) process(b *feature.Batch, ex *feature.Example, learns bool) reduction.Result {
	base := l.env.Base
	l.placed = base.Append(l.placed[:0], b.FeaturesOf(ex))
	l.own = *ex
	for i := range l.scores {
		n := draw(l.env.Random) // in tests, too, as in vw
		l.own.Weight = ex.Weight * float32(n)
		if learns && n > 0 {
			l.raw[i], l.scores[i] = base.Learn(i, l.placed, &l.own)
		} else {
			l.raw[i], l.scores[i] = base.Predict(i, l.placed, ex.Initial)
		}
	}
	if l.votes {
		p := float32(l.vote())
		r := reduction.Result{Raw: p, Score: p}
		if p != ex.Label {
			r.Loss = 1
		}
		return r
	}
	sum := 0.0
	for _, p := range l.scores {
		sum += float64(p)
	}
	p := float32(sum) / float32(len(l.scores))
	return reduction.Result{Raw: p, Score: p, Loss: l.env.LossOf(p, ex)}
}

// vote returns the rounded score of most learners. If no number has the majority, the result is
// vw's: the smallest of the most frequent ones, except that the largest of all numbers is left out.
func (l *learner) vote() int {
	for i, p := range l.scores {
		l.whole[i] = int(math.Floor(float64(p) + 0.5))
	}
	// A first walk finds the only number that can have the majority.
	first, current, count, several := l.whole[0], l.whole[0], 0, false
	for _, v := range l.whole {
		several = several || first != current && v != current && v != first
		switch {
		case count == 0:
			current, count = v, 1
		case v == current:
			count++
		default:
			count--
		}
	}
	if !several {
		return current
	}
	n := 0
	for _, v := range l.whole {
		if v == current {
			n++
		}
	}
	if count > 0 && 2*n > len(l.whole) {
		return current
	}
	slices.Sort(l.whole)
	best, run, value := 1, 1, l.whole[0]
	for _, v := range l.whole[1:] {
		if v == value {
			run++
			continue
		}
		if run > best {
			current, best = value, run
		}
		value, run = v, 1
	}
	return current
}

// AppendPrediction appends the prediction, the tag and the bounds.
func (l *learner) AppendPrediction(dst []byte, score float32, tag []byte) []byte {
	fixed := func(v float32) { dst = strconv.AppendFloat(dst, float64(v), 'f', 6, 64) }
	fixed(score)
	dst = append(reduction.AppendTag(dst, tag), ' ')
	fixed(slices.Min(l.scores))
	dst = append(dst, ' ')
	fixed(slices.Max(l.scores))
	return dst
}

// AppendRaw appends the raw score of each learner.
func (l *learner) AppendRaw(dst, _ []byte) []byte {
	for i, v := range l.raw {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(strconv.AppendInt(dst, int64(i+1), 10), ':')
		dst = strconv.AppendFloat(dst, float64(v), 'g', 6, 64)
	}
	return dst
}
