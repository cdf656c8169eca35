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

// FTRL is the stage of passes of the FTRL family (vw's ftrl.cc). It runs in one process, so its
// exchange has only the record of this rank.
type FTRL struct {
	OnlineConfig
	processor Processor

	learner *ftrl.Learner
	done    int  // passes completed
	stop    bool // the holdout loss has stopped improving
	warned  bool // of predictions that are no numbers

	process examples.Visit // of one example
	judge   tally.Judge    // for the validation set

	chooser *Chooser // predicts classes; nil: labels are simple

	best   []float32        // weights with the best holdout loss; nil: none so far
	bestAs *model.Regressor // their model except the weights: the counters of that pass
}

var _ allreduce.Machine = (*FTRL)(nil)

// NewFTRL returns the stage of a learner. chooser predicts classes with it; nil means that
// labels are simple. With an audit the learner reports the predictions from which it learns,
// since vw shows these.
func NewFTRL(c OnlineConfig, learner *ftrl.Learner, chooser *Chooser) *FTRL {
	m := &FTRL{OnlineConfig: c, processor: NewProcessor(&c), learner: learner, chooser: chooser}
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

// Next returns the name of the next step, and reports whether there is one.
func (m *FTRL) Next() (string, bool) {
	if m.stop || m.done >= m.Passes {
		return "", false
	}
	return fmt.Sprintf("pass %d of %d of %v", m.done+1, m.Passes, m.learner.Config().Rule), true
}

// Work predicts every example, and learns from those that are not held out.
func (m *FTRL) Work(ctx context.Context) error {
	return m.Read.Pass(ctx, m.Tally.RunPasses(), m.Tally.Weighted(m.process))
}

// processSingle processes an example with a simple label. The prediction that is shown uses the
// label range before this example, and the one that learns the range after it.
func (m *FTRL) processSingle(b *feature.Batch, ex *feature.Example, held bool) error {
	m.Tally.Observe(ex, held)
	m.learner.Shown, m.learner.Range = m.Tally.Before, m.Tally.Seen
	return m.processor.Process(m.learner, b, ex, held)
}

// Exchange stores the record of the pass and measures the validation set.
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

// predict returns the prediction by the current weights, within the range r.
func (m *FTRL) predict(fs []feature.Feature, initial float32, r loss.Range) float32 {
	m.learner.Range = r
	_, clipped := m.learner.Predict(fs, initial)
	return clipped
}

// Commit ends the pass. The holdout loss decides whether there is another one.
func (m *FTRL) Commit() error {
	if n := m.learner.Undefined; n > 0 && !m.warned {
		m.warned = true
		m.Read.Log.Warn("predictions of FreeGrad are no numbers and count as 0, as in vw: importance weights below 1 have made sums of squares negative", "examples", n)
	}
	better, stop := m.Tally.EndPass()
	m.stop = stop
	m.done++
	// After the last pass the current weights are the best ones, and need no copy.
	if better && m.done < m.Passes && !m.Tally.TestOnly {
		m.best = append(m.best[:0], m.learner.Weights()...)
		m.bestAs = m.model()
	}
	if err := m.Models.SavePass(m.model); err != nil {
		return err
	}
	return m.Tally.Report("FTRL")
}

// model returns the current model.
func (m *FTRL) model() *model.Regressor {
	reg := &model.Regressor{Header: m.Models.Header(!m.Bare), Weights: FollowerView(m.learner)}
	if !m.Bare {
		reg.Resume = m.Models.Resume(m.Rule.InitialT)
		reg.Resume.Contraction = 1
	}
	return reg
}

// FollowerView returns the floats of each weight that a model file of the FTRL family keeps.
func FollowerView(l *ftrl.Learner) model.View {
	return model.View{Data: l.Weights(), Stride: l.Stride(), Slots: l.Slots()}
}

// Finish ends training and returns its model: that of the best pass if the holdout loss has
// stopped training, and the last one otherwise.
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
