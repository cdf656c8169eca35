// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"context"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/optim/sgd"
)

// Mixer exchanges weights with other ranks while a pass runs.
type Mixer interface {
	// Learned is called after each example that the learner has learned from, with its features. A feature's index is
	// that of its first weight, and the weights of the other classes follow. Learned may change the learner's weights.
	Learned(ctx context.Context, fs []feature.Feature, classes int) error
}

// Learner returns the learner of the stage.
func (m *Online) Learner() *sgd.Learner { return m.learner }

// OwnPass makes a pass that is no step of the job: no rank waits for another one at its end. mixer, unless nil,
// is called after each example. Losses and counters are those of this rank.
func (m *Online) OwnPass(ctx context.Context, mixer Mixer) error {
	m.mixer = mixer
	m.Tally.BeginOwnPass()
	if err := m.work(ctx); err != nil {
		return err
	}
	if m.alone != nil {
		m.alone()
	}
	if m.Bare {
		m.learner.Materialize()
	}
	if err := m.Tally.ValidateOwn(ctx, m.judge); err != nil {
		return err
	}
	m.Tally.EndOwnPass(m.record())
	m.learner.EndPass()
	m.done++
	if err := m.Models.SavePass(m.made); err != nil {
		return err
	}
	return m.Tally.Report("SGD")
}

// CommitOwnPasses ends the step that consists of own passes, after Exchange.
func (m *Online) CommitOwnPasses() error {
	if m.keeps() {
		m.turn()
	}
	return m.Tally.EndOwnPasses()
}

// record returns what the learner adds to the record of this rank.
func (m *Online) record() job.Record {
	sc := m.learner.Scalars()
	return job.Record{Nsx: sc.Nsx - m.Base.Nsx, TotalWeight: sc.TotalWeight - m.Base.TotalWeight}
}
