// SPDX-License-Identifier: Apache-2.0

package ldastage

import (
	"math"
	"slices"

	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// keeps reports whether the state must survive a step. A test changes no weights.
func (m *Stage) keeps() bool { return m.Job.Keep && !m.Tally.TestOnly }

// own gives the state a table of its own, with the learner's weights at the start.
func (m *Stage) own() {
	if m.state == nil {
		m.state = slices.Clone(m.learner.Weights())
	}
}

// use makes the learner continue from the weights w, after the batches so far.
func (m *Stage) use(w []float32) {
	m.learner.Use(w)
	m.learner.SetBatches(m.batches)
	if m.alphas != nil {
		m.learner.SetAlphas(m.alphas)
	}
}

// Shared codes the part of the state that is the same on all ranks.
func (m *Stage) Shared(c *snapshot.Coder) {
	c.Number("LDA passes done", &m.done, snapshot.MaxCount)
	c.Flag("stopped early", &m.stop)
	c.Number("rounds of the pass done", &m.round, snapshot.MaxCount)
	c.Flag("documents counted", &m.counted)
	c.F64("documents of a rank", &m.per)
	c.F64("batches", &m.batches)
	c.F64s("learned priors", m.alphas)
	if !c.Reading() || c.Err() != nil {
		return
	}
	if !(m.per >= 0 && m.per <= snapshot.MaxCount) {
		c.Fail("documents of a rank: %v is no number of documents", m.per)
		return
	}
	for k, a := range m.alphas {
		if !(a > 0 && a <= math.MaxFloat32) {
			c.Fail("learned prior of topic %d: %v is no number above 0", k, a)
			return
		}
	}
	if m.divide(); m.round >= m.rounds.N() {
		c.Fail("rounds of the pass done: got %d, of %d", m.round, m.rounds.N())
	}
}

// SharedArrays returns λ. In a test every rank has loaded it.
func (m *Stage) SharedArrays() []snapshot.Array {
	switch {
	case m.Tally.TestOnly:
		return nil
	case m.keeps():
		m.own()
		return []snapshot.Array{{Name: "topics", V: m.state}}
	}
	return []snapshot.Array{{Name: "topics", V: m.learner.Weights()}}
}

// Own codes the size of this rank's shard, by which a replacement finds its place in a pass.
func (m *Stage) Own(c *snapshot.Coder) {
	c.Number("documents of this rank", &m.shard, snapshot.MaxCount)
}

// Adopt continues from the state that has been read. If the job recovers, the learner gets it
// when the next step begins.
func (m *Stage) Adopt() error {
	if !m.keeps() {
		m.use(m.learner.Weights())
	}
	return nil
}

// Shrink keeps the work of the step: the ranks that are left average their own.
func (m *Stage) Shrink() (void bool, err error) { return false, nil }

// Outcome codes the sums of the exchange.
func (m *Stage) Outcome(c *snapshot.Coder) {
	c.F64s("sums of the step", m.sums)
}

// OutcomeArrays returns the average of λ.
func (m *Stage) OutcomeArrays() []snapshot.Array {
	if !m.keeps() || m.counting() {
		return nil
	}
	n := len(m.learner.Weights())
	m.results = slices.Grow(m.results[:0], n)[:n]
	return []snapshot.Array{{Name: "average of the topics", V: m.results}}
}
