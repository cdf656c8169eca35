// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"sync"

	"github.com/gvw-project/gvw/internal/mem"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/sgd"
)

// doubleBuffer are the weights of a rank of SGD in a job that recovers from losses. There
// are two tables, which change places: the rank learns in the one that has the state, the
// results are made in the other one, and with the commit those are the state. What
// learning changes is noted (sgd.Past), so that the state can still be had: a copy of it
// is made when somebody asks. They outlive their machine, of whose last results others may ask in
// the next stage.
type doubleBuffer struct {
	Work   []float32 // the state, then what this rank has learned from it: its contribution
	Result []float32 // nil: none was needed yet

	mu      sync.Mutex // held while work changes: others ask from another goroutine
	past    sgd.Past   // work as the state was; of the first one nobody asks
	commits int
}

// state is what the step under way, or the next one, starts from.
func (k *doubleBuffer) state() []float32 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.past.Whole()
}

// results returns what gives the results of the step under way, also when they have
// become the state.
func (k *doubleBuffer) results() func() []float32 {
	step := k.commits
	return func() []float32 {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.commits > step {
			return k.past.Whole()
		}
		return k.Result
	}
}

// leave lets go of the table that is not the state, where training has ended. The last results
// are the state, so whoever still asks for them gets that; no others will be made.
func (k *doubleBuffer) leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.Result = nil
}

// keeps reports whether the weights of the state are left whole. A test changes
// none.
func (m *Online) keeps() bool { return m.Job.Keep && !m.Tally.TestOnly }

// arrange notes the learner's first table as that for work.
func (m *Online) arrange() {
	if m.Tables.Work == nil {
		m.Tables.Work = m.learner.Weights()
	}
}

// guard lets others ask for the state between two batches of this pass.
func (m *Online) guard() {
	if m.keeps() {
		m.arrange()
		m.Read.Guard = &m.Tables.mu
	}
}

// end pays what regularisation owes before anybody asks for the contribution.
func (m *Online) end() {
	m.Read.Guard = nil
	if !m.Job.Keep || m.Tally.TestOnly && !m.Bare {
		return
	}
	m.Tables.mu.Lock()
	defer m.Tables.mu.Unlock()
	m.learner.Materialize()
}

// scratchSlot is the slot of a weight that shall be 0 in the results, so that the next
// pass can tell what it changes; 0: none.
func (m *Online) scratchSlot() int {
	if m.keeps() {
		return m.Rule.MarkedBy()
	}
	return 0
}

// into is where the results of the weights w go.
func (m *Online) into(w []float32) []float32 {
	if !m.keeps() {
		return w
	}
	if m.Tables.Result == nil {
		m.Tables.Result = make([]float32, len(w))
		mem.Huge(m.Tables.Result) // all of it is written at once
	}
	return m.Tables.Result
}

// turn makes the results the state.
func (m *Online) turn() {
	k := m.Tables
	m.arrange()
	k.mu.Lock()
	k.Work, k.Result = k.Result, k.Work
	k.commits++
	k.mu.Unlock()
	m.enter()
}

// enter starts from the state in work.
func (m *Online) enter() {
	k := m.Tables
	k.mu.Lock()
	defer k.mu.Unlock()
	m.use(k.Work)
	m.learner.Remember(&k.past)
}

// bestAs is what the model of the best pass has besides its weights.
type bestAs struct {
	min, max float32
	resume   *model.Resume
}

// Shared codes the state that all ranks have alike.
func (m *Online) Shared(c *snapshot.Coder) {
	c.Number("SGD passes done", &m.done, snapshot.MaxCount)
	c.Number("SGD passes to do", &m.Passes, snapshot.MaxCount)
	c.Flag("stopped early", &m.stop)
	if c.Reading {
		m.end() // before this rank takes over what is due
	}
	sc := m.learner.Scalars()
	c.F32("learning rate", &sc.LearningRate)
	best := m.Best != nil
	c.Flag("best weights", &best)
	if c.Reading {
		m.learner.SetScalars(sc)
		m.Best, m.got = nil, nil
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
		m.Best = make([]float32, len(m.learner.Weights()))
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

// Own codes the sums that only this rank has: those of vw's normalised rule and of the
// regularisation that is due.
func (m *Online) Own(c *snapshot.Coder) {
	sc := m.learner.Scalars()
	for _, v := range []*float64{&sc.Nsx, &sc.TotalWeight, &sc.T, &sc.Gravity, &sc.Contraction} {
		c.F64("sums of the learner", v)
	}
	c.F32("factor of the last update", &sc.Mult)
	if c.Reading {
		m.learner.SetScalars(sc)
	}
}

// SharedArrays returns the weights of the state, and those of the best pass.
func (m *Online) SharedArrays() []snapshot.Array {
	if m.Tally.TestOnly {
		return nil
	}
	weights := snapshot.Array{Name: "weights", V: m.learner.Weights()}
	if m.keeps() {
		weights.Now = m.Tables.state
	}
	arrays := []snapshot.Array{weights}
	if m.Best != nil {
		arrays = append(arrays, snapshot.Array{Name: "best weights", V: m.Best})
	}
	return arrays
}

// Adopt continues with the state that has been read.
func (m *Online) Adopt() error {
	if m.keeps() {
		m.arrange()
		if mark := m.Rule.MarkedBy(); mark > 0 { // a state may come from a file
			for w := m.Tables.Work; len(w) > 0; w = w[m.learner.Stride():] {
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

// Outcome codes nothing: the results of a pass are the weights and the records.
func (m *Online) Outcome(*snapshot.Coder) {}

// OutcomeArrays returns the averaged weights.
func (m *Online) OutcomeArrays() []snapshot.Array {
	if !m.keeps() {
		return nil
	}
	return []snapshot.Array{{Name: "averaged weights", V: m.into(m.learner.Weights()), Now: m.Tables.results()}}
}
