// SPDX-License-Identifier: Apache-2.0

// Package quantiles predicts several quantiles of the label, each by a linear learner with a
// quantile loss of its own. vw has no such learner.
package quantiles

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/reduction"
	"github.com/gvw-project/gvw/loss"
)

// Spec is the row of the quantiles.
var Spec = reduction.Spec{
	Name: "quantiles",
	Options: []reduction.Option{
		{Name: "quantiles", Kind: reduction.Word, Arg: "Q,Q", Help: "predict these quantiles of the label, such as 0.1,0.5,0.9; the loss is the mean of theirs", Kept: true},
	},
	Above: true,
	Excludes: func(s reduction.Setting) string {
		if s.Loss != "squared" && s.Loss != "quantile" || s.Link != "identity" {
			return "each quantile has its own loss: leave learn.Config.Loss.Function and learn.Config.Loss.Link out"
		}
		return ""
	},
	New: plan,
}

func plan(v reduction.Values) (reduction.Plan, error) {
	var losses []loss.Loss
	var faults []error
	for word := range strings.SplitSeq(v.Word("quantiles", ""), ",") {
		q, err := strconv.ParseFloat(word, 32)
		if err != nil || !(q > 0 && q < 1) {
			faults = append(faults, &reduction.Fault{Option: "quantiles", Text: fmt.Sprintf("%q: want numbers above 0 and below 1, such as 0.1,0.5,0.9", word)})
			continue
		}
		l, err := loss.NewWith("quantile", loss.Params{Tau: float32(q)})
		losses, faults = append(losses, l), append(faults, err)
	}
	return reduction.Plan{Slots: len(losses), Make: func(e *reduction.Env) (reduction.Learner, error) {
		return &learner{env: e, losses: losses, scores: make([]float32, len(losses)), raw: make([]float32, len(losses))}, nil
	}}, errors.Join(faults...)
}

type learner struct {
	env    *reduction.Env
	losses []loss.Loss

	placed      []feature.Feature
	scores, raw []float32 // of each quantile
}

var _ reduction.Reporter = (*learner)(nil)

func (l *learner) Predict(b *feature.Batch, ex *feature.Example) reduction.Result {
	return l.process(b, ex, false)
}

func (l *learner) Learn(b *feature.Batch, ex *feature.Example) reduction.Result {
	r := l.process(b, ex, true)
	l.env.Base.End(ex)
	return r
}

// process returns the middle quantile, and the mean of the losses.
func (l *learner) process(b *feature.Batch, ex *feature.Example, learns bool) (r reduction.Result) {
	base := l.env.Base
	l.placed = base.Append(l.placed[:0], b.FeaturesOf(ex))
	base.Scores(l.raw, l.placed, ex.Initial)
	for i, one := range l.losses {
		was, labels := base.With(one, base.Whole.Range)
		l.scores[i] = labels.Clip(l.raw[i])
		if learns {
			base.Update(i, l.placed, ex, l.scores[i])
		}
		if ex.Labeled() {
			r.Loss += one.Loss(labels, l.scores[i], ex.Label) / float32(len(l.losses))
		}
		base.With(was, labels)
	}
	middle := len(l.scores) / 2
	r.Raw, r.Score = l.raw[middle], l.scores[middle]
	return r
}

// AppendPrediction appends all quantiles, and the tag.
func (l *learner) AppendPrediction(dst []byte, _ float32, tag []byte) []byte {
	return reduction.AppendTag(appendAll(dst, l.scores), tag)
}

// AppendRaw appends all quantiles before their limitation to the range.
func (l *learner) AppendRaw(dst, _ []byte) []byte { return appendAll(dst, l.raw) }

func appendAll(dst []byte, numbers []float32) []byte {
	for i, v := range numbers {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = reduction.AppendNumber(dst, v)
	}
	return dst
}
