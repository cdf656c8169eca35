// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// leader is the machine of passes of the FTRL family. It is for one process: an
// exchange has nothing but the record.
type leader struct {
	onlineConfig
	processor processor

	learner *ftrl.Learner
	done    int
	stop    bool // the holdout loss no longer improves

	process visit
	judge   judge // of the validation set

	chooser *chooser // of classes; nil: labels are simple

	best   []float32        // the weights with the best holdout loss; nil: none kept
	bestAs *model.Regressor // their model but for the weights: the counters of their pass
}

var _ allreduce.Machine = (*leader)(nil)

// newLeader returns the machine of a learner. chooser chooses between its classes; nil:
// labels are simple.
func newLeader(c onlineConfig, learner *ftrl.Learner, chooser *chooser) *leader {
	m := &leader{onlineConfig: c, processor: newProcessor(&c), learner: learner, chooser: chooser}
	if chooser != nil {
		m.process, m.judge = chooser.process, chooser.judge
		if c.audit != nil {
			learner.Watch = chooser.watch
		}
		return m
	}
	m.process, m.judge = m.processSingle, c.tally.judgeBy(m.predict)
	if c.audit != nil {
		learner.Watch = func(_ int, p float32) { c.audit.used = p }
	}
	return m
}

// Next names the next step.
func (m *leader) Next() (string, bool) {
	if m.stop || m.done >= m.passes {
		return "", false
	}
	return fmt.Sprintf("pass %d of %d of --%v", m.done+1, m.passes, m.learner.Config().Rule), true
}

// Work learns from every example.
func (m *leader) Work(ctx context.Context) error {
	return m.read.pass(ctx, m.tally.passes, m.tally.weighted(m.process))
}

// processSingle processes an example with a simple label.
func (m *leader) processSingle(b *feature.Batch, ex *feature.Example, held bool) error {
	m.tally.observe(ex, held)
	m.learner.Shown, m.learner.Range = m.tally.before, m.tally.seen
	return m.processor.process(m.learner, b, ex, held)
}

// Exchange notes the record.
func (m *leader) Exchange(ctx context.Context, _ *allreduce.Group) error {
	if err := m.job.ready(ctx); err != nil {
		return err
	}
	sums := m.learner.Sums()
	if err := m.tally.share(ctx, record{Nsx: sums.Norm - m.base.Nsx, TotalWeight: sums.TotalWeight - m.base.TotalWeight}); err != nil {
		return err
	}
	return m.tally.validate(ctx, m.judge)
}

// predict predicts by the weights as they are.
func (m *leader) predict(fs []feature.Feature, initial float32, r loss.Range) float32 {
	m.learner.Range = r
	_, clipped := m.learner.Predict(fs, initial)
	return clipped
}

// Commit ends the pass; the holdout loss says whether to go on.
func (m *leader) Commit() error {
	better, stop := m.tally.endPass()
	m.stop = stop
	m.done++
	if better && m.done < m.passes && !m.tally.testOnly {
		m.best = append(m.best[:0], m.learner.Weights()...)
		m.bestAs = m.model()
	}
	if err := m.models.savePass(m.model); err != nil {
		return err
	}
	return m.tally.report("FTRL")
}

// model is the model as it is.
func (m *leader) model() *model.Regressor {
	reg := &model.Regressor{Header: m.models.header(!m.bare), Weights: followerView(m.learner)}
	if !m.bare {
		reg.Resume = m.models.resume(m.rule.InitialT)
		reg.Resume.Contraction = 1
	}
	return reg
}

// followerView shows model the floats that a file keeps of each weight.
func followerView(l *ftrl.Learner) model.View {
	return model.View{Data: l.Weights(), Stride: l.Stride(), Slots: l.Slots()}
}

// finish ends training with its model.
func (m *leader) finish() outcome {
	out := outcome{model: m.model(), logLoss: math.NaN(), followed: m.learner.Sums()}
	if m.stop && m.best != nil {
		copy(m.learner.Weights(), m.best)
		out.model = m.bestAs
	}
	if m.chooser != nil {
		out.logLoss = m.chooser.logLoss(m.chooser.sums)
	}
	return out
}
