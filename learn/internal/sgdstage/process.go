// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// single is a learner of simple labels: one prediction an example.
type single interface {
	output.Weighted
	Predict(fs []feature.Feature, initial float32) (raw, clipped float32)
	Learn(fs []feature.Feature, ex *feature.Example) (raw, clipped, loss float32)
}

// processor predicts examples of simple labels, learns from them, and books them.
type processor struct {
	read  *examples.Reader
	tally *tally.Tally
	audit *output.Audit // nil: nobody looks
	// reweighed says that vw predicts examples before it gives them the weight of their class.
	reweighed bool
}

func newProcessor(c *OnlineConfig) processor {
	return processor{read: c.Read, tally: c.Tally, audit: c.Audit, reweighed: c.Reweighed}
}

// process lets the learner, whose range is that of the example, predict it and learn
// from it, and books the prediction.
func (m *processor) process(learner single, b *feature.Batch, ex *feature.Example, held bool) error {
	t := m.tally
	learns := t.Learns(held)
	t.Calls.Count(ex, learns)
	var raw, clipped, l float32
	fs := b.FeaturesOf(ex)
	m.audit.Look(b, ex, learner)
	if learns {
		if raw, clipped, l = learner.Learn(fs, ex); astray(raw, l) {
			if err := diverged(m.read, t.Passes+1, b, ex, wrong(ex, raw, l), learner, output.OwnPlace); err != nil {
				return err
			}
		}
		if m.reweighed {
			clipped = t.Before.Clip(raw)
		}
		if t.Spared > 0 {
			l = t.Loss.Loss(t.Before, clipped, ex.Label)
		}
	} else {
		raw, clipped = learner.Predict(fs, ex.Initial)
		if ex.Labeled() {
			l = t.Loss.Loss(t.Seen, clipped, ex.Label)
		}
	}
	if m.audit != nil {
		if err := m.showLearned(learner, b, ex, held, clipped); err != nil {
			return err
		}
	}
	if t.Binary && len(t.ClassWeights) == 0 {
		clipped = t.Seen.Clip(raw) // as in vw the sign is that of the prediction that learned
	}
	return t.Account(b, ex, held, raw, clipped, l)
}

// showLearned shows an example to --audit. Of the FTRL family vw computes the weights
// of --pistol with the prediction, and predicts an example twice before the others
// learn from it: both predictions are shown.
func (m *processor) showLearned(learner single, b *feature.Batch, ex *feature.Example, held bool, clipped float32) error {
	tag := b.TagOf(ex)
	l, ok := learner.(*ftrl.Learner)
	if !ok || !m.tally.Learns(held) || !ex.Labeled() {
		return m.audit.Show(clipped, tag)
	}
	if l.Config().Rule == ftrl.Pistol {
		if l.PredictFirst {
			if err := m.audit.Show(clipped, tag); err != nil {
				return err
			}
		}
		m.audit.Look(b, ex, learner)
		return m.audit.Show(m.audit.Used, tag)
	}
	if err := m.audit.Show(clipped, tag); err != nil {
		return err
	}
	return m.audit.Show(m.audit.Used, tag)
}
