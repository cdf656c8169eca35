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
	if m.skip == 0 {
		if err := m.Tally.ValidateOwn(ctx, m.judge); err != nil {
			return err
		}
	}
	m.Tally.EndOwnPass(m.record())
	m.learner.EndPass()
	m.done++
	if m.skip > 0 {
		return nil // the lost attempt has saved and reported this pass
	}
	if err := m.Models.SavePass(m.made); err != nil {
		return err
	}
	return m.Tally.Report("SGD")
}

// EmptyPass is OwnPass without examples.
func (m *Online) EmptyPass() {
	m.Tally.BeginOwnPass()
	m.Tally.EndOwnPass(m.record())
	m.learner.EndPass()
	m.done++
}

// SkipExamples makes own passes skip all examples up to the n-th that would be learned from: a lost attempt of this rank has
// learned from them.
func (m *Online) SkipExamples(n uint64) { m.skip = n }

// skipped reports whether an own pass skips an example, and counts it.
func (m *Online) skipped(held bool) bool {
	if m.skip == 0 {
		return false
	}
	if m.Tally.Learns(held) {
		m.skip--
	}
	return true
}

// Sums appends the sums and counts of the learner that are not in its weights, for another attempt of a lost rank.
func (m *Online) Sums(dst []float64) []float64 {
	sc, r := m.learner.Scalars(), m.Tally.Seen
	return append(dst, sc.Nsx, sc.TotalWeight, sc.T, float64(r.Min), float64(r.Max))
}

// SetSums replaces the sums by those of another rank, which Sums has returned.
func (m *Online) SetSums(sums []float64) {
	sc := m.learner.Scalars()
	sc.Nsx, sc.TotalWeight, sc.T = sums[0], sums[1], sums[2]
	m.learner.SetScalars(sc)
	m.Tally.Seen.Min, m.Tally.Seen.Max = float32(sums[3]), float32(sums[4])
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
