// SPDX-License-Identifier: Apache-2.0

package avgstage

import (
	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// ownSums has what a replacement of a rank needs in the middle of a pass, besides the record: the sums that the tally
// clears between two passes, the shard, and the control variate.
type ownSums struct {
	known        bool
	shard        int
	loss, weight float64 // of held-out examples
	measures     []float64
	control      []byte
}

// Shared codes the part of the state that is the same on all ranks.
func (m *Stage) Shared(c *snapshot.Coder) {
	c.Number("SGD passes done", &m.done, snapshot.MaxCount)
	c.Number("rounds of the pass done", &m.round, snapshot.MaxCount)
	c.Flag("examples counted", &m.counted)
	c.F64("examples of a rank", &m.per)
	c.F64("steps done", &m.steps)
	c.Flag("stopped early", &m.stop)
	c.Flag("a rank was lost", &m.lost)
	best := m.best != nil
	if c.Flag("best weights", &best); !c.Reading() {
		return
	}
	if m.best = nil; best {
		m.best = make([]float32, len(m.state))
	}
	if c.Err() != nil {
		return
	}
	if !(m.per >= 0 && m.per <= snapshot.MaxCount) {
		c.Fail("examples of a rank: %v is no number of examples", m.per)
		return
	}
	if m.divide(); m.round >= m.rounds.N() {
		c.Fail("rounds of the pass done: got %d, of %d", m.round, m.rounds.N())
	}
}

// SharedArrays returns the vectors of the state.
func (m *Stage) SharedArrays() []snapshot.Array {
	arrays := []snapshot.Array{{Name: "weights", V: m.state}}
	if m.outer != nil {
		_, velocity := m.outer.State()
		arrays = append(arrays, snapshot.Array{Name: "outer velocity", V: velocity})
	}
	if m.best != nil {
		arrays = append(arrays, snapshot.Array{Name: "best weights", V: m.best})
	}
	return arrays
}

// Own codes what only this rank has. The lengths of the fields are the same on all ranks.
func (m *Stage) Own(c *snapshot.Coder) {
	got := ownSums{known: true}
	held, measures := &m.Tally.Stats.Holdout, m.Tally.Measures.Own
	if measures != nil {
		got.measures = make([]float64, len(measures.Vector()))
	}
	if !c.Reading() {
		got.shard, got.loss, got.weight, got.control = m.shard, held.PassLoss, held.PassWeight, m.varies.encode()
		if measures != nil {
			copy(got.measures, measures.Vector())
		}
	}
	shard := uint64(got.shard)
	c.U64("examples of this rank", &shard)
	got.shard = int(min(shard, snapshot.MaxCount))
	c.F64("held-out loss of the pass", &got.loss)
	c.F64("held-out weight of the pass", &got.weight)
	c.F64s("metrics of the pass", got.measures)
	limit := 4 * len(m.state)
	c.Blob("control variate", &got.control, limit)
	if !c.Reading() || c.Err() != nil {
		return
	}
	if n := len(got.control); n != 0 && n != limit {
		c.Fail("control variate: got %d bytes, want %d", n, limit)
		return
	}
	m.got = got
}

// Adopt continues from the state that has been read. The tally has cleared the sums of the pass, as between two
// passes.
func (m *Stage) Adopt() error {
	if m.outer != nil {
		start, _ := m.outer.State()
		copy(start, m.state)
	}
	got := &m.got
	if !got.known {
		return nil
	}
	m.shard = got.shard
	m.varies.decode(got.control)
	if m.round > 0 {
		t := m.Tally
		t.Stats.Holdout.PassLoss, t.Stats.Holdout.PassWeight = got.loss, got.weight
		if t.Measures.Own != nil {
			copy(t.Measures.Own.Vector(), got.measures)
		}
	}
	m.got = ownSums{}
	return nil
}

// Outcome codes the sums of a round over all ranks.
func (m *Stage) Outcome(c *snapshot.Coder) { c.F64s("examples of the round", m.all[:]) }

// OutcomeArrays returns the averages of a round.
func (m *Stage) OutcomeArrays() []snapshot.Array {
	if m.counts() && !m.counted {
		return nil
	}
	return []snapshot.Array{{Name: "averages", V: m.results()}}
}
