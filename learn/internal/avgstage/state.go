// SPDX-License-Identifier: Apache-2.0

package avgstage

import (
	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// Shared codes the part of the state that is the same on all ranks.
func (m *Stage) Shared(c *snapshot.Coder) {
	c.Number("SGD passes done", &m.done, snapshot.MaxCount)
	m.position.code(c)
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
	m.check(c, m.divide)
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
	var control []byte
	if !c.Reading() {
		control = m.varies.encode()
	}
	m.codeOwn(c, m.Tally, control, 4*len(m.state))
}

// Adopt continues from the state that has been read.
func (m *Stage) Adopt() error {
	if m.outer != nil {
		start, _ := m.outer.State()
		copy(start, m.state)
	}
	if control, ok := m.adopt(m.Tally); ok {
		m.varies.decode(control)
	}
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
