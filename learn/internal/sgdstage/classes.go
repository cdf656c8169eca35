// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"context"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/sgd"
)

// Classes is the stage of one against all by SGD. Its passes are those of Online, but each
// example teaches the learners of all classes, whose weights lie in one table.
//
// The weights are averaged as Online does it. The sums that each class keeps besides are added up
// over the ranks.
type Classes struct {
	Online
	learners *sgd.Classes
	chooser  *Chooser
	sums     jobSums // of the classes, and the log-losses

	placed []feature.Feature // features of the current example by their first weight, for the mixer
}

// NewClasses returns the stage with the learners of all classes.
func NewClasses(c OnlineConfig, learners *sgd.Classes, chooser *Chooser) *Classes {
	m := &Classes{
		Online: *NewOnline(c, learners.Whole), learners: learners, chooser: chooser,
		sums: newJobSums(learners.Sums(), chooser.sums[:]),
	}
	m.also, m.made, m.work, m.alone = m.shareSums, m.model, m.Work, m.sums.alone
	m.judge, m.use = chooser.judge, learners.Use
	return m
}

// shareSums is the collective of the sums.
func (m *Classes) shareSums(ctx context.Context, g *allreduce.Group) error {
	return m.sums.share(ctx, g, m.Job.Total)
}

// Work predicts every example of the shard and learns from it.
func (m *Classes) Work(ctx context.Context) error {
	m.guard()
	defer m.end()
	return m.Read.Pass(ctx, m.Tally.RunPasses(), m.Tally.Weighted(func(b *feature.Batch, ex *feature.Example, held bool) error {
		if m.skipped(held) {
			return nil
		}
		if err := m.chooser.process(b, ex, held); err != nil || m.mixer == nil || !m.Tally.Learns(held) {
			return err
		}
		m.placed = m.placed[:0]
		for _, f := range b.FeaturesOf(ex) {
			m.placed = append(m.placed, feature.Feature{Index: m.learners.Place(f.Index, 0), Value: f.Value})
		}
		return m.mixer.Learned(ctx, m.placed, len(m.sums.own))
	}))
}

// Sums also has the sums of each class.
func (m *Classes) Sums(dst []float64) []float64 { return m.sums.appendTo(m.Online.Sums(dst)) }

// SetSums also sets the sums of each class.
func (m *Classes) SetSums(sums []float64) { m.Online.SetSums(m.sums.take(sums)) }

// Shared codes the part of the state that is the same on all ranks.
func (m *Classes) Shared(c *snapshot.Coder) {
	m.Online.Shared(c)
	m.Outcome(c)
	m.sums.codeShared(c)
}

// Own codes the part of the state that only this rank has.
func (m *Classes) Own(c *snapshot.Coder) {
	m.sums.codeOwn(c)
	m.Online.Own(c)
	turn := m.learners.Turn()
	if c.Number("class whose turn it is", &turn, len(m.sums.own)-1); c.Reading() && c.Err() == nil {
		c.FailWith(m.learners.SetTurn(turn))
	}
	m.chooser.labels.code(c)
}

// Outcome codes the sums of the classes over all ranks.
func (m *Classes) Outcome(c *snapshot.Coder) { m.sums.codeAll(c) }

// Shrink also keeps the contributions of the lost ranks to the sums of the job.
func (m *Classes) Shrink() (void bool, err error) {
	if err := m.sums.lose(m.Job, !m.chooser.Sampled); err != nil {
		return false, err
	}
	return m.Online.Shrink()
}

// Finish ends training and returns its model.
func (m *Classes) Finish() (training.Outcome, error) {
	return training.Outcome{Model: m.Online.final(), LogLoss: m.chooser.logLoss(classLoss(m.sums.total))}, nil
}

// model returns the current model. With resume state it has the sums of each class.
func (m *Classes) model() *model.Regressor {
	reg := m.Online.model()
	if reg.Resume != nil {
		m.sums.keep(reg.Resume)
	}
	return reg
}
