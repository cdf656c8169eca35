// SPDX-License-Identifier: Apache-2.0

// Package boosting is vw's --boosting: N linear learners of labels -1 and 1, each of which learns
// from an example by a weight that follows from the errors of those before it.
//
// The algorithms are those of Beygelzimer, Kale and Luo, Optimal and Adaptive Algorithms for Online
// Boosting (2015): BBM is online boost-by-majority, logistic is AdaBoost.OL.W, and adaptive is
// AdaBoost.OL, which draws the number of learners that a prediction uses (vw's boosting.cc).
package boosting

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/fmath"
	"github.com/gvw-project/gvw/internal/merand"
	"github.com/gvw-project/gvw/learn/internal/reduction"
)

// maxRounds is the largest number of learners.
const maxRounds = 1 << 16

// Spec is the row of boosted learners.
var Spec = reduction.Spec{
	Name: "boosting",
	Options: []reduction.Option{
		{Name: "boosting", Kind: reduction.Count, Arg: "N", Help: "N linear learners of labels -1 and 1, each of the errors of those before it", Kept: true},
		{Name: "alg", Kind: reduction.Word, Arg: "NAME", Help: "weigh examples by a majority vote, by a logistic loss, or by that with drawn votes", Default: bbm, Choices: []string{bbm, logistic, adaptive}, Kept: true},
		{Name: "gamma", Kind: reduction.Number, Arg: "G", Help: "edge of a learner over chance, for BBM", Default: "0.1"},
	},
	Above:         true,
	Weightless:    true, // the votes follow it, as in vw
	PredictsFirst: true,
	Variant: func(v reduction.Values) string {
		if alg := v.Word("alg", bbm); alg != bbm {
			return "-" + alg
		}
		return ""
	},
	Excludes: func(s reduction.Setting) string {
		if s.Link != "identity" {
			return "its predictions are sums, to which no link applies: leave learn.Config.Loss.Link out"
		}
		return ""
	},
	New: plan,
}

// The algorithms.
const (
	bbm      = "BBM"
	logistic = "logistic"
	adaptive = "adaptive"
)

func plan(v reduction.Values) (reduction.Plan, error) {
	n, err := v.Count("boosting", 1, maxRounds)
	gamma, other := v.Number("gamma", 0.1)
	p := reduction.Plan{Slots: n, Make: func(e *reduction.Env) (reduction.Learner, error) {
		b := boosted{env: e, n: n}
		switch v.Word("alg", bbm) {
		case logistic:
			return &voters{boosted: b, alpha: make([]float32, n)}, nil
		case adaptive:
			l := &voters{boosted: b, alpha: make([]float32, n), v: make([]float32, n)}
			for i := range l.v {
				l.v[i] = 1
			}
			return l, nil
		}
		return &majority{boosted: b, gamma: gamma}, nil
	}}
	if alg := v.Word("alg", bbm); alg != bbm {
		p.Alone = "the votes of its learners follow from the examples of one process"
	}
	return p, errors.Join(err, other)
}

// boosted is what the algorithms share.
type boosted struct {
	env *reduction.Env
	n   int

	placed []feature.Feature
	own    feature.Example
}

// open begins an example.
func (l *boosted) open(b *feature.Batch, ex *feature.Example) {
	l.placed = l.env.Base.Append(l.placed[:0], b.FeaturesOf(ex))
	l.own = *ex
}

// learn lets learner i learn from the example with weight times w. Its vote is the score, except that
// of the first learner: as in vw that is within the range before the label.
func (l *boosted) learn(i int, ex *feature.Example, w float32) (vote, raw, score float32) {
	l.own.Weight = ex.Weight * w
	raw, score = l.env.Base.Learn(i, l.placed, &l.own)
	if i == 0 {
		return l.env.Before.Clip(raw), raw, score
	}
	return score, raw, score
}

// result returns the sum of the predictions. As in vw the loss is that of the last learner with a
// weight above 0, times that weight.
func (l *boosted) result(sum, raw, score, w float32, ex *feature.Example) reduction.Result {
	return reduction.Result{Raw: raw, Score: sum, Loss: l.env.LossOf(score, ex) * w}
}

// majority is BBM.
type majority struct {
	boosted
	gamma float32
}

func (l *majority) Predict(b *feature.Batch, ex *feature.Example) reduction.Result {
	l.open(b, ex)
	sum, raw, score := float32(0), float32(0), float32(0)
	for i := range l.n {
		raw, score = l.env.Base.Predict(i, l.placed, ex.Initial)
		sum += score
	}
	return l.result(sum, raw, score, 1, ex)
}

func (l *majority) Learn(b *feature.Batch, ex *feature.Example) reduction.Result {
	l.open(b, ex)
	sum, s, raw := float32(0), float32(0), float32(0)
	last, lastWeight := float32(0), float32(0)
	for i := range l.n {
		w := l.weight(i, s)
		vote, own, score := l.learn(i, ex, w)
		s += float32(ex.Label * vote)
		sum += vote
		if raw = own; w > 0 {
			last, lastWeight = score, w
		}
	}
	l.env.Base.End(ex)
	return l.result(sum, raw, last, lastWeight, ex)
}

// weight returns the probability that the vote of learner i decides, when those before it have the
// sum s of votes for the label.
func (l *majority) weight(i int, s float32) float32 {
	rest := l.n - (i + 1)
	k := float32(math.Floor(float64((float32(l.n-i) - s) / 2)))
	if k > float32(rest) || k < 0 {
		return 0
	}
	right := float32(math.Pow(0.5+float64(l.gamma), float64(k)))
	wrong := float32(math.Pow(0.5-float64(l.gamma), float64(float32(rest)-k)))
	return float32(float32(choose(int64(rest), int64(k)))*right) * wrong
}

// choose returns the binomial coefficient in the arithmetic of vw, which overflows.
func choose(n, k int64) int64 {
	r := int64(1)
	for d := int64(1); d <= k; d++ {
		r *= n
		n--
		r /= d
	}
	return r
}

// voters is logistic and adaptive boosting.
type voters struct {
	boosted
	alpha []float32 // vote of each learner
	v     []float32 // of adaptive: how probable it is that a prediction ends behind each learner; nil: logistic
	t     uint64    // examples learned from
}

var (
	_ reduction.Stateful  = (*voters)(nil)
	_ reduction.Sectioned = (*voters)(nil)
)

func (l *voters) Predict(b *feature.Batch, ex *feature.Example) reduction.Result {
	l.open(b, ex)
	stop := l.draw()
	sum, passed, raw, score := float32(0), float32(0), float32(0), float32(0)
	for i, a := range l.alpha {
		if raw, score = l.env.Base.Predict(i, l.placed, ex.Initial); l.v != nil {
			if passed > stop {
				break
			}
			passed += l.v[i]
		}
		sum += float32(score * a)
	}
	return l.result(sum, raw, score, 1, ex)
}

// draw returns how many votes a prediction of adaptive uses, as a share of the sum of v.
func (l *voters) draw() float32 {
	if l.v == nil {
		return 0
	}
	return l.env.Random.Float()
}

func (l *voters) Learn(b *feature.Batch, ex *feature.Example) reduction.Result {
	l.open(b, ex)
	stop := l.draw() // of the prediction that is shown
	l.draw()         // of vw's second one, from which it learns
	l.t++
	rate := 4 / float32(math.Sqrt(float64(float32(l.t))))
	s, sum, part, passed, norm := float32(0), float32(0), float32(0), float32(0), float32(0)
	raw, score, w := float32(0), float32(0), float32(0)
	for i, a := range l.alpha {
		w = 1 / (1 + fmath.Exp32(s))
		var vote float32
		vote, raw, score = l.learn(i, ex, w)
		z := float32(ex.Label * vote)
		s += float32(z * a)
		if l.v == nil || passed <= stop {
			sum += float32(vote * a)
		}
		if l.v != nil {
			part += float32(vote * a)
			passed += l.v[i]
			if float32(ex.Label*part) < 0 {
				l.v[i] *= 0.36788
			}
			norm += l.v[i]
		}
		a += float32(rate*z) / (1 + fmath.Exp32(s))
		l.alpha[i] = min(2, max(-2, a))
	}
	if norm != 0 {
		for i := range l.v {
			l.v[i] /= norm
		}
	}
	l.env.Base.End(ex)
	return l.result(sum, raw, score, w, ex)
}

func (l *voters) AppendState(dst []uint64) []uint64 {
	dst = append(dst, l.t, uint64(*l.env.Random))
	for _, x := range [][]float32{l.alpha, l.v} {
		for _, v := range x {
			dst = append(dst, uint64(math.Float32bits(v)))
		}
	}
	return dst
}

func (l *voters) SetState(words []uint64) {
	l.t, *l.env.Random = words[0], merand.State(words[1])
	words = words[2:]
	for _, x := range [][]float32{l.alpha, l.v} {
		for i := range x {
			x[i] = math.Float32frombits(uint32(words[i]))
		}
		words = words[len(x):]
	}
}

// AppendSection appends the number of learners, their votes and v.
func (l *voters) AppendSection(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(l.n))
	for _, x := range [][]float32{l.alpha, l.v} {
		for _, v := range x {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
		}
	}
	return dst
}

func (l *voters) SetSection(p []byte) error {
	if want := 4 * (1 + len(l.alpha) + len(l.v)); len(p) != want || binary.LittleEndian.Uint32(p) != uint32(l.n) {
		return fmt.Errorf("%d bytes of votes, want %d, of %d learners", len(p), want, l.n)
	}
	p = p[4:]
	for _, x := range [][]float32{l.alpha, l.v} {
		for i := range x {
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(p[4*i:]))
		}
		p = p[4*len(x):]
	}
	return nil
}
