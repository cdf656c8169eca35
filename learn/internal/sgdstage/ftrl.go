// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"context"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// FTRL is the stage of passes of the FTRL family. It is for one process: an
// exchange has nothing but the record.
type FTRL struct {
	OnlineConfig
	processor processor

	learner *ftrl.Learner
	done    int
	stop    bool // the holdout loss no longer improves

	process examples.Visit
	judge   tally.Judge // of the validation set

	chooser *Chooser // of classes; nil: labels are simple

	best   []float32        // the weights with the best holdout loss; nil: none kept
	bestAs *model.Regressor // their model but for the weights: the counters of their pass
}

var _ allreduce.Machine = (*FTRL)(nil)

// NewFTRL returns the machine of a learner. chooser chooses between its classes; nil:
// labels are simple.
func NewFTRL(c OnlineConfig, learner *ftrl.Learner, chooser *Chooser) *FTRL {
	m := &FTRL{OnlineConfig: c, processor: newProcessor(&c), learner: learner, chooser: chooser}
	if chooser != nil {
		m.process, m.judge = chooser.process, chooser.judge
		if c.Audit != nil {
			learner.Watch = chooser.watch
		}
		return m
	}
	m.process, m.judge = m.processSingle, c.Tally.JudgeBy(m.predict)
	if c.Audit != nil {
		learner.Watch = func(_ int, p float32) { c.Audit.Used = p }
	}
	return m
}

// Next returns the name of the next step, and whether there is one.
func (m *FTRL) Next() (string, bool) {
	if m.stop || m.done >= m.Passes {
		return "", false
	}
	return fmt.Sprintf("pass %d of %d of %v", m.done+1, m.Passes, m.learner.Config().Rule), true
}

// Work learns from every example.
func (m *FTRL) Work(ctx context.Context) error {
	return m.Read.Pass(ctx, m.Tally.Passes, m.Tally.Weighted(m.process))
}

// processSingle processes an example with a simple label.
func (m *FTRL) processSingle(b *feature.Batch, ex *feature.Example, held bool) error {
	m.Tally.Observe(ex, held)
	m.learner.Shown, m.learner.Range = m.Tally.Before, m.Tally.Seen
	return m.processor.process(m.learner, b, ex, held)
}

// Exchange notes the record.
func (m *FTRL) Exchange(ctx context.Context, _ *allreduce.Group) error {
	if err := m.Job.Ready(ctx); err != nil {
		return err
	}
	sums := m.learner.Sums()
	if err := m.Tally.Share(ctx, job.Record{Nsx: sums.Norm - m.Base.Nsx, TotalWeight: sums.TotalWeight - m.Base.TotalWeight}); err != nil {
		return err
	}
	return m.Tally.Validate(ctx, m.judge)
}

// predict predicts by the weights as they are.
func (m *FTRL) predict(fs []feature.Feature, initial float32, r loss.Range) float32 {
	m.learner.Range = r
	_, clipped := m.learner.Predict(fs, initial)
	return clipped
}

// Commit ends the pass; the holdout loss says whether to go on.
func (m *FTRL) Commit() error {
	better, stop := m.Tally.EndPass()
	m.stop = stop
	m.done++
	if better && m.done < m.Passes && !m.Tally.TestOnly {
		m.best = append(m.best[:0], m.learner.Weights()...)
		m.bestAs = m.model()
	}
	if err := m.Models.SavePass(m.model); err != nil {
		return err
	}
	return m.Tally.Report("FTRL")
}

// model is the model as it is.
func (m *FTRL) model() *model.Regressor {
	reg := &model.Regressor{Header: m.Models.Header(!m.Bare), Weights: FollowerView(m.learner)}
	if !m.Bare {
		reg.Resume = m.Models.Resume(m.Rule.InitialT)
		reg.Resume.Contraction = 1
	}
	return reg
}

// FollowerView shows model the floats that a file keeps of each weight.
func FollowerView(l *ftrl.Learner) model.View {
	return model.View{Data: l.Weights(), Stride: l.Stride(), Slots: l.Slots()}
}

// Finish ends training with its model.
func (m *FTRL) Finish() training.Outcome {
	out := training.Outcome{Model: m.model(), LogLoss: math.NaN(), Followed: m.learner.Sums()}
	if m.stop && m.best != nil {
		copy(m.learner.Weights(), m.best)
		out.Model = m.bestAs
	}
	if m.chooser != nil {
		out.LogLoss = m.chooser.logLoss(m.chooser.sums)
	}
	return out
}
