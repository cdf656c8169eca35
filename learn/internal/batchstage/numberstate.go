// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"github.com/gvw-project/gvw/internal/mem"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// Forms of the vectors in a state and in the results of the first pass.
const (
	notStarted = iota // there is no solver yet, only the weights where it starts
	byIndex           // the vectors have all weights
	byNumber          // they have the weights that occur, whose indices are an array
)

// codeForm codes the form of vectors and, for those by numbers, how many weights they have. The reader gets numbers
// whose indices are read later.
func (m *Batch) codeForm(c *snapshot.Coder, form int, n *numbers) (int, *numbers) {
	c.Number("form of the vectors", &form, byNumber)
	if form != byNumber {
		return form, nil
	}
	count := 0
	if !c.Reading() {
		count = len(n.indices)
	}
	if c.Number("weights that occur", &count, m.size); c.Reading() {
		n = &numbers{indices: make([]uint32, count), table: m.size}
	}
	return form, n
}

// codeNumbers codes the form of the vectors of the solver. The reader makes a solver of that form, which receives the
// state.
func (m *Batch) codeNumbers(c *snapshot.Coder) {
	form := byIndex
	if m.numbers != nil {
		form = byNumber
	} else if m.solverState().start != nil {
		form = notStarted
	}
	form, n := m.codeForm(c, form, m.numbers)
	if !c.Reading() || c.Err() != nil {
		return
	}
	m.acc.restore()
	m.numbers, m.acc.numbers = n, nil
	m.Config.Penalty.Free = nil // until the indices are known
	size := m.size
	switch form {
	case notStarted:
		m.solver = unstarted{make([]float32, size)}
		return
	case byNumber:
		size = n.width()
	}
	solver, err := m.Config.solver(make([]float32, size), m.Passes)
	if err != nil {
		c.FailWith(err)
		return
	}
	m.solver = solver
}

// codeSettled codes the form of the results of the first pass. Other passes have none.
func (m *Batch) codeSettled(c *snapshot.Coder) {
	if m.solverState().start == nil {
		return
	}
	form := notStarted
	switch s := &m.settled; {
	case s.known && s.numbers == nil:
		form = byIndex
	case s.known:
		form = byNumber
	}
	if form, n := m.codeForm(c, form, m.settled.numbers); c.Reading() {
		m.settled = settled{known: form != notStarted, numbers: n}
	}
}

// indexArray returns the array of the indices of numbered weights.
func indexArray(n *numbers) []snapshot.Array {
	if n == nil {
		return nil
	}
	return []snapshot.Array{{Name: "indices of the weights", V: mem.Floats(n.indices)}}
}
