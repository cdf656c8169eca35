// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// Single is a learner of simple labels. It makes one prediction per example: raw is the sum
// over the features, clipped is raw within the label range, and loss is that before the
// importance weight.
type Single interface {
	output.Weighted
	Predict(fs []feature.Feature, initial float32) (raw, clipped float32)
	Learn(fs []feature.Feature, ex *feature.Example) (raw, clipped, loss float32)
}

// Processor predicts examples with simple labels, learns from them, and books its predictions.
type Processor struct {
	read  *examples.Reader
	tally *tally.Tally
	audit *output.Audit // nil: no audit
	// reweighed is OnlineConfig.Reweighed.
	reweighed bool
}

// NewProcessor returns a processor with the collaborators of a stage.
func NewProcessor(c *OnlineConfig) Processor {
	return Processor{read: c.Read, tally: c.Tally, audit: c.Audit, reweighed: c.Reweighed}
}

// Process predicts an example, learns from it unless it is held out, and books the prediction.
// The caller has set the learner's range to that of the example.
func (m *Processor) Process(learner Single, b *feature.Batch, ex *feature.Example, held bool) error {
	t := m.tally
	learns := t.Learns(held)
	t.Calls.Count(ex, learns)
	var raw, clipped, l float32
	fs := b.FeaturesOf(ex)
	m.audit.Look(b, ex, learner)
	if learns {
		if raw, clipped, l = learner.Learn(fs, ex); hasDiverged(raw, l) {
			if err := diverged(m.read, t.Passes+1, b, ex, divergence(ex, raw, l), learner, output.OwnPlace, 1); err != nil {
				return err
			}
		}
		// vw has made the prediction that it shows before the range followed the label.
		if m.reweighed {
			clipped = t.Before.Clip(raw)
		}
		// The class has weight 0: nothing is learned, and vw reports the loss of the prediction
		// before.
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
		clipped = t.Seen.Clip(raw) // as in vw the sign is that of the prediction that has learned
	}
	return t.Account(b, ex, held, raw, clipped, l)
}

// showLearned shows an example to --audit. The FTRL family differs in vw (ftrl.cc). --pistol
// computes its weights with the prediction, so the audit shows them after it; --freegrad shows those
// before. The other rules
// predict an example twice before they learn from it, and the audit shows both predictions.
func (m *Processor) showLearned(learner Single, b *feature.Batch, ex *feature.Example, held bool, clipped float32) error {
	tag := b.TagOf(ex)
	l, ok := learner.(*ftrl.Learner)
	if !ok || !m.tally.Learns(held) || !ex.Labeled() {
		return m.audit.Show(clipped, tag)
	}
	if rule := l.Config().Rule; rule == ftrl.Pistol || rule == ftrl.FreeGrad {
		if l.PredictFirst {
			if err := m.audit.Show(clipped, tag); err != nil {
				return err
			}
		}
		if rule == ftrl.Pistol {
			m.audit.Look(b, ex, learner)
		}
		return m.audit.Show(m.audit.Used, tag)
	}
	if err := m.audit.Show(clipped, tag); err != nil {
		return err
	}
	return m.audit.Show(m.audit.Used, tag)
}
