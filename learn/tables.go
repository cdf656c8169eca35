// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"sync"

	"github.com/gvw-project/gvw/internal/mem"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/sgd"
)

// keptTables are the weights of a rank of SGD in a job that recovers from losses. There
// are two tables, which change places: the rank learns in the one that has the state, the
// results are made in the other one, and with the commit those are the state. What
// learning changes is noted (sgd.Past), so that the state can still be had: a copy of it
// is made when somebody asks. They outlive their machine, of whose last results others may ask in
// the next stage.
type keptTables struct {
	work   []float32 // the state, then what this rank has learned from it: its contribution
	result []float32 // nil: none was needed yet

	mu      sync.Mutex // held while work changes: others ask from another goroutine
	past    sgd.Past   // work as the state was; of the first one nobody asks
	commits int
}

// state is what the step under way, or the next one, starts from.
func (k *keptTables) state() []float32 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.past.Whole()
}

// results returns what gives the results of the step under way, also when they have
// become the state.
func (k *keptTables) results() func() []float32 {
	step := k.commits
	return func() []float32 {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.commits > step {
			return k.past.Whole()
		}
		return k.result
	}
}

// leave lets go of the table that is not the state, where training has ended. The last results
// are the state, so whoever still asks for them gets that; no others will be made.
func (k *keptTables) leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.result = nil
}

// keeps reports whether the weights of the state are left whole. A test changes
// none.
func (m *online) keeps() bool { return m.job.keep && !m.tally.testOnly }

// arrange notes the learner's first table as that for work.
func (m *online) arrange() {
	if m.kept.work == nil {
		m.kept.work = m.learner.Weights()
	}
}

// guard lets others ask for the state between two batches of this pass.
func (m *online) guard() {
	if m.keeps() {
		m.arrange()
		m.read.guard = &m.kept.mu
	}
}

// end pays what regularisation owes before anybody asks for the contribution.
func (m *online) end() {
	m.read.guard = nil
	if !m.job.keep || m.tally.testOnly && !m.bare {
		return
	}
	m.kept.mu.Lock()
	defer m.kept.mu.Unlock()
	m.learner.Materialize()
}

// scratchSlot is the slot of a weight that shall be 0 in the results, so that the next
// pass can tell what it changes; 0: none.
func (m *online) scratchSlot() int {
	if m.keeps() {
		return m.rule.MarkedBy()
	}
	return 0
}

// into is where the results of the weights w go.
func (m *online) into(w []float32) []float32 {
	if !m.keeps() {
		return w
	}
	if m.kept.result == nil {
		m.kept.result = make([]float32, len(w))
		mem.Huge(m.kept.result) // all of it is written at once
	}
	return m.kept.result
}

// turn makes the results the state.
func (m *online) turn() {
	k := m.kept
	m.arrange()
	k.mu.Lock()
	k.work, k.result = k.result, k.work
	k.commits++
	k.mu.Unlock()
	m.enter()
}

// enter starts from the state in work.
func (m *online) enter() {
	k := m.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	m.use(k.work)
	m.learner.Remember(&k.past)
}

// bestAs is what the model of the best pass has besides its weights.
type bestAs struct {
	min, max float32
	resume   *model.Resume
}

// shared is what all ranks have alike.
func (m *online) shared(c *snapshot.Coder) {
	c.Number("SGD passes done", &m.done, snapshot.MaxCount)
	c.Number("SGD passes to do", &m.passes, snapshot.MaxCount)
	c.Flag("stopped early", &m.stop)
	if c.Reading {
		m.end() // before this rank takes over what is due
	}
	sc := m.learner.Scalars()
	c.F32("learning rate", &sc.LearningRate)
	best := m.best != nil
	c.Flag("best weights", &best)
	if c.Reading {
		m.learner.SetScalars(sc)
		m.best, m.got = nil, nil
	}
	if !best {
		return
	}
	c.F64("due to the best weights", &m.bestDue.Gravity)
	c.F64("due to the best weights", &m.bestDue.Contraction)
	as := &bestAs{}
	if !c.Reading {
		h := &m.bestAs.Header
		as = &bestAs{h.MinLabel, h.MaxLabel, m.bestAs.Resume}
	} else {
		m.best = make([]float32, len(m.learner.Weights()))
		m.got = as
	}
	c.F32("labels of the best model", &as.min)
	c.F32("labels of the best model", &as.max)
	resume := as.resume != nil
	if c.Flag("counters of the best model", &resume); !resume {
		return
	}
	if c.Reading {
		as.resume = &model.Resume{}
	}
	codeResume(c, as.resume)
}

// own is what this rank alone has.
func (m *online) own(c *snapshot.Coder) {
	sc := m.learner.Scalars()
	for _, v := range []*float64{&sc.Nsx, &sc.TotalWeight, &sc.T, &sc.Gravity, &sc.Contraction} {
		c.F64("sums of the learner", v)
	}
	c.F32("factor of the last update", &sc.Mult)
	if c.Reading {
		m.learner.SetScalars(sc)
	}
}

// sharedArrays are the weights of the state.
func (m *online) sharedArrays() []snapshot.Array {
	if m.tally.testOnly {
		return nil
	}
	weights := snapshot.Array{Name: "weights", V: m.learner.Weights()}
	if m.keeps() {
		weights.Now = m.kept.state
	}
	arrays := []snapshot.Array{weights}
	if m.best != nil {
		arrays = append(arrays, snapshot.Array{Name: "best weights", V: m.best})
	}
	return arrays
}

// adopt goes on with the state that has been read.
func (m *online) adopt() error {
	if m.keeps() {
		m.arrange()
		if mark := m.rule.MarkedBy(); mark > 0 { // a state may come from a file
			for w := m.kept.work; len(w) > 0; w = w[m.learner.Stride():] {
				w[mark] = 0
			}
		}
		m.enter()
	}
	if m.got != nil {
		m.bestAs = m.made()
		m.bestAs.MinLabel, m.bestAs.MaxLabel, m.bestAs.Resume = m.got.min, m.got.max, m.got.resume
	}
	m.got = nil
	return nil
}

// outcome is nothing but the session's.
func (m *online) outcome(*snapshot.Coder) {}

// outcomeArrays are the averaged weights.
func (m *online) outcomeArrays() []snapshot.Array {
	if !m.keeps() {
		return nil
	}
	return []snapshot.Array{{Name: "averaged weights", V: m.into(m.learner.Weights()), Now: m.kept.results()}}
}
