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

// learns reports whether an example is learned from, not just predicted.
func (s *session) learns(held bool) bool { return !s.cfg.TestOnly && !held }

// meet lets the learner, whose range is that of the example, predict it and learn
// from it, and books what it said.
func (s *session) meet(learner single, b *feature.Batch, ex *feature.Example, held bool) error {
	var raw, clipped, l float32
	fs := b.FeaturesOf(ex)
	s.audit.look(b, ex, learner)
	if s.learns(held) {
		if raw, clipped, l = learner.Learn(fs, ex); astray(raw, l) {
			if err := s.diverged(b, ex, wrong(ex, raw, l), learner, itself); err != nil {
				return err
			}
		}
		if len(s.cfg.Data.ClassWeights) > 0 && s.cfg.FTRL.Rule == ftrl.None { // vw predicts first
			clipped = s.before.Clip(raw)
		}
		if s.spared > 0 {
			l = s.loss.Loss(s.before, clipped, ex.Label)
		}
	} else {
		raw, clipped = learner.Predict(fs, ex.Initial)
		if ex.Labeled() {
			l = s.loss.Loss(s.seen, clipped, ex.Label)
		}
	}
	if s.audit != nil {
		if err := s.showLearned(learner, b, ex, held, clipped); err != nil {
			return err
		}
	}
	if s.cfg.Loss.Binary && len(s.cfg.Data.ClassWeights) == 0 {
		clipped = s.seen.Clip(raw) // as in vw the sign is that of the prediction that learned
	}
	return s.account(b, ex, held, raw, clipped, l)
}

// showLearned shows an example to --audit. Of the FTRL family vw computes the weights
// of --pistol with the prediction, and predicts an example twice before the others
// learn from it: both predictions are shown.
func (s *session) showLearned(learner single, b *feature.Batch, ex *feature.Example, held bool, clipped float32) error {
	tag := b.TagOf(ex)
	l, ok := learner.(*ftrl.Learner)
	if !ok || !s.learns(held) || !ex.Labeled() {
		return s.audit.show(clipped, tag)
	}
	if l.Config().Rule == ftrl.Pistol {
		if l.PredictFirst {
			if err := s.audit.show(clipped, tag); err != nil {
				return err
			}
		}
		s.audit.look(b, ex, learner)
		return s.audit.show(s.audit.used, tag)
	}
	if err := s.audit.show(clipped, tag); err != nil {
		return err
	}
	return s.audit.show(s.audit.used, tag)
}
