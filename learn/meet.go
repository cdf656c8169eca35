// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// single is a learner of simple labels: one prediction an example.
type single interface {
	weighted
	Predict(fs []feature.Feature, initial float32) (raw, clipped float32)
	Learn(fs []feature.Feature, ex *feature.Example) (raw, clipped, loss float32)
}

// processor predicts examples of simple labels, learns from them, and books them.
type processor struct {
	read  *reader
	tally *Tally
	audit *audit // nil: nobody looks
	// reweighed says that vw predicts examples before it gives them the weight of their class.
	reweighed bool
}

func newProcessor(c *onlineConfig) processor {
	return processor{read: c.read, tally: c.tally, audit: c.audit, reweighed: c.reweighed}
}

// process lets the learner, whose range is that of the example, predict it and learn
// from it, and books the prediction.
func (m *processor) process(learner single, b *feature.Batch, ex *feature.Example, held bool) error {
	t := m.tally
	learns := t.learns(held)
	t.calls.count(ex, learns)
	var raw, clipped, l float32
	fs := b.FeaturesOf(ex)
	m.audit.look(b, ex, learner)
	if learns {
		if raw, clipped, l = learner.Learn(fs, ex); astray(raw, l) {
			if err := diverged(m.read, t.passes+1, b, ex, wrong(ex, raw, l), learner, itself); err != nil {
				return err
			}
		}
		if m.reweighed {
			clipped = t.before.Clip(raw)
		}
		if t.spared > 0 {
			l = t.loss.Loss(t.before, clipped, ex.Label)
		}
	} else {
		raw, clipped = learner.Predict(fs, ex.Initial)
		if ex.Labeled() {
			l = t.loss.Loss(t.seen, clipped, ex.Label)
		}
	}
	if m.audit != nil {
		if err := m.showLearned(learner, b, ex, held, clipped); err != nil {
			return err
		}
	}
	if t.binary && len(t.classWeights) == 0 {
		clipped = t.seen.Clip(raw) // as in vw the sign is that of the prediction that learned
	}
	return t.account(b, ex, held, raw, clipped, l)
}

// showLearned shows an example to --audit. Of the FTRL family vw computes the weights
// of --pistol with the prediction, and predicts an example twice before the others
// learn from it: both predictions are shown.
func (m *processor) showLearned(learner single, b *feature.Batch, ex *feature.Example, held bool, clipped float32) error {
	tag := b.TagOf(ex)
	l, ok := learner.(*ftrl.Learner)
	if !ok || !m.tally.learns(held) || !ex.Labeled() {
		return m.audit.show(clipped, tag)
	}
	if l.Config().Rule == ftrl.Pistol {
		if l.PredictFirst {
			if err := m.audit.show(clipped, tag); err != nil {
				return err
			}
		}
		m.audit.look(b, ex, learner)
		return m.audit.show(m.audit.used, tag)
	}
	if err := m.audit.show(clipped, tag); err != nil {
		return err
	}
	return m.audit.show(m.audit.used, tag)
}
