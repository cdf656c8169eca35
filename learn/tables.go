// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/internal/mem"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/vector"
)

// Where a job recovers from losses, a rank of SGD has three tables that change
// places: it learns in a copy of the state's, makes the results in a third, and
// with the commit those are the state. None is made before it is needed, so that
// a single pass has two.

// keeps reports whether the weights of the state are left whole. A test changes
// none.
func (m *online) keeps() bool { return m.s.keep && !m.s.cfg.TestOnly }

// begin puts the learner into a copy of the state.
func (m *online) begin() {
	if !m.keeps() {
		return
	}
	m.arrange()
	if m.state != nil {
		vector.Each(len(m.work), func(lo, hi int) { copy(m.work[lo:hi], m.state[lo:hi]) })
	}
	m.use(m.work)
}

// arrange notes the learner's first table as that for work.
func (m *online) arrange() {
	if m.work == nil {
		m.work = m.learner.Weights()
	}
}

// end pays what regularisation owes before anybody asks for the contribution.
func (m *online) end() {
	if c := &m.s.cfg; m.s.keep && (c.PredictOnly || !c.TestOnly) {
		m.learner.Materialize()
	}
}

// into is where the results of the weights w go.
func (m *online) into(w []float32) []float32 {
	if !m.keeps() {
		return w
	}
	if m.result == nil {
		m.result = make([]float32, len(w))
		mem.Huge(m.result) // all of it is written at once
	}
	return m.result
}

// bestAs is what the model of the best pass has besides its weights.
type bestAs struct {
	min, max float32
	resume   *model.Resume
}

// shared is what all ranks have alike.
func (m *online) shared(c *coder) {
	c.number("SGD passes done", &m.done, maxCount)
	c.number("SGD passes to do", &m.passes, maxCount)
	c.flag("stopped early", &m.stop)
	if c.reading {
		m.end() // before this rank takes over what is due
	}
	sc := m.learner.Scalars()
	c.f32("learning rate", &sc.LearningRate)
	best := m.best != nil
	c.flag("best weights", &best)
	if c.reading {
		m.learner.SetScalars(sc)
		m.best, m.read = nil, nil
	}
	if !best {
		return
	}
	c.f64("due to the best weights", &m.bestDue.Gravity)
	c.f64("due to the best weights", &m.bestDue.Contraction)
	as := &bestAs{}
	if !c.reading {
		h := &m.bestAs.reg.Header
		as = &bestAs{h.MinLabel, h.MaxLabel, m.bestAs.reg.Resume}
	} else {
		m.best = make([]float32, len(m.learner.Weights()))
		m.read = as
	}
	c.f32("labels of the best model", &as.min)
	c.f32("labels of the best model", &as.max)
	resume := as.resume != nil
	if c.flag("counters of the best model", &resume); !resume {
		return
	}
	if c.reading {
		as.resume = &model.Resume{}
	}
	codeResume(c, as.resume)
}

// own is what this rank alone has.
func (m *online) own(c *coder) {
	sc := m.learner.Scalars()
	for _, v := range []*float64{&sc.Nsx, &sc.TotalWeight, &sc.T, &sc.Gravity, &sc.Contraction} {
		c.f64("sums of the learner", v)
	}
	c.f32("factor of the last update", &sc.Mult)
	if c.reading {
		m.learner.SetScalars(sc)
	}
}

// sharedArrays are the weights of the state.
func (m *online) sharedArrays() []array {
	if m.s.cfg.TestOnly {
		return nil
	}
	w := m.learner.Weights()
	if m.keeps() {
		if m.state == nil {
			m.state = make([]float32, len(w))
		}
		w = m.state
	}
	arrays := []array{{"weights", w}}
	if m.best != nil {
		arrays = append(arrays, array{"best weights", m.best})
	}
	return arrays
}

// adopt goes on with the state that has been read.
func (m *online) adopt() error {
	if m.keeps() {
		m.arrange()
		m.use(m.state)
	}
	if m.read != nil {
		m.bestAs = m.made()
		reg := m.bestAs.reg
		reg.MinLabel, reg.MaxLabel, reg.Resume = m.read.min, m.read.max, m.read.resume
	}
	m.read = nil
	return nil
}

// outcome is nothing but the session's.
func (m *online) outcome(*coder) {}

// outcomeArrays are the averaged weights.
func (m *online) outcomeArrays() []array {
	if !m.keeps() {
		return nil
	}
	return []array{{"averaged weights", m.into(m.learner.Weights())}}
}
