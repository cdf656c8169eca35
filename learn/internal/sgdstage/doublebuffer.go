// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"sync"

	"github.com/gvw-project/gvw/internal/mem"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/sgd"
)

// doubleBuffer has the weights of a rank of SGD in a job that recovers from losses. Its two
// tables change places:
//
//   - The rank learns in the table Work, which holds the state when the step begins.
//   - The exchange writes its results into the table Result.
//   - Commit swaps them, since the results are the next state.
//
// Learning overwrites the state, so sgd.Past records what it changes. A rank that is asked for
// the state during a pass reconstructs it from that record. A pass over sparse data changes
// few weights, so the record is small.
//
// A doubleBuffer outlives its stage: another rank may ask for the last results of SGD while
// L-BFGS runs.
type doubleBuffer struct {
	Work   []float32 // the state, then the contribution: what this rank has learned from it
	Result []float32 // the results; nil: none so far

	mu      sync.Mutex // held while Work changes; another goroutine serves the state
	past    sgd.Past   // Work at the start of the step; unset in the first step, whose state every rank can make
	commits int        // steps committed
}

// state returns the state from which the current or the next step starts.
func (k *doubleBuffer) state() []float32 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.past.Whole()
}

// results returns a function that returns the results of the current step. After the commit
// these are the state, which may have moved to the other table.
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

// leave releases the table that is not the state when training ends. The last results are the
// state, so a rank that asks for them later gets the state. No other results will be made.
func (k *doubleBuffer) leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.Result = nil
}

// keeps reports whether the state must survive a step. A test changes no weights, so its state
// needs no second table.
func (m *Online) keeps() bool { return m.Job.Keep && !m.Tally.TestOnly }

// arrange makes the learner's own table the first Work table.
func (m *Online) arrange() {
	if m.Tables.Work == nil {
		m.Tables.Work = m.learner.Weights()
	}
}

// guard allows other ranks to be served the state between two batches of this pass. The reader
// holds the lock while it learns from a batch.
func (m *Online) guard() {
	if m.keeps() {
		m.arrange()
		m.Read.Guard = &m.Tables.mu
	}
}

// end ends the learning of a pass. It applies the regularisation that is due, before another
// rank may ask for the contribution.
func (m *Online) end() {
	m.Read.Guard = nil
	if !m.Job.Keep || m.Tally.TestOnly && !m.Bare {
		return
	}
	m.Tables.mu.Lock()
	defer m.Tables.mu.Unlock()
	m.learner.Materialize()
}

// scratchSlot returns the slot of a weight that must be 0 in the results, so that the next pass
// can mark the weights that it changes. It returns 0 if there is none.
func (m *Online) scratchSlot() int {
	if m.keeps() {
		return m.Rule.MarkedBy()
	}
	return 0
}

// into returns the memory for the results of the weights w: w itself in a job that does not
// recover, and the other table otherwise.
func (m *Online) into(w []float32) []float32 {
	if !m.keeps() {
		return w
	}
	if m.Tables.Result == nil {
		m.Tables.Result = make([]float32, len(w))
		mem.Huge(m.Tables.Result) // the exchange writes all of it at once, so huge pages save faults
	}
	return m.Tables.Result
}

// turn makes the results the state, and moves the learner to their table.
func (m *Online) turn() {
	k := m.Tables
	m.arrange()
	k.mu.Lock()
	k.Work, k.Result = k.Result, k.Work
	k.commits++
	k.mu.Unlock()
	m.enter()
}

// enter starts from the state in Work. From now on past records the changes of the learner.
func (m *Online) enter() {
	k := m.Tables
	k.mu.Lock()
	defer k.mu.Unlock()
	m.use(k.Work)
	m.learner.Remember(&k.past)
}

// bestAs has the fields of the best pass's model that the state holds besides its weights.
type bestAs struct {
	min, max float32
	resume   *model.Resume
}

// Shared codes the part of the state that is the same on all ranks.
func (m *Online) Shared(c *snapshot.Coder) {
	c.Number("SGD passes done", &m.done, snapshot.MaxCount)
	c.Number("SGD passes to do", &m.Passes, snapshot.MaxCount)
	c.Flag("stopped early", &m.stop)
	if c.Reading() {
		m.end() // applies what is due to this rank's weights, before the scalars are replaced
	}
	sc := m.learner.Scalars()
	c.F32("learning rate", &sc.LearningRate)
	best := m.Best != nil
	c.Flag("best weights", &best)
	if c.Reading() {
		m.learner.SetScalars(sc)
		m.Best, m.got = nil, nil
	}
	if !best {
		return
	}
	// The best weights are an array of their own (SharedArrays). Here is what makes a model of
	// them.
	c.F64("due to the best weights", &m.bestDue.Gravity)
	c.F64("due to the best weights", &m.bestDue.Contraction)
	as := &bestAs{}
	if !c.Reading() {
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
	if c.Reading() {
		as.resume = &model.Resume{}
	}
	codeResume(c, as.resume)
}

// Own codes the sums that only this rank has: those of vw's normalised rule (gd.cc:
// normalized_sum_norm_x and total_weight), and those of the regularisation that is due.
func (m *Online) Own(c *snapshot.Coder) {
	sc := m.learner.Scalars()
	for _, v := range []*float64{&sc.Nsx, &sc.TotalWeight, &sc.T, &sc.Gravity, &sc.Contraction} {
		c.F64("sums of the learner", v)
	}
	c.F32("factor of the last update", &sc.Mult)
	if c.Reading() {
		m.learner.SetScalars(sc)
	}
}

// SharedArrays returns the weights of the state and those of the best pass. A test has none:
// every rank loads the same model.
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

// Adopt continues from the state that has been read.
func (m *Online) Adopt() error {
	m.merged = false
	if m.keeps() {
		m.arrange()
		if mark := m.Rule.MarkedBy(); mark > 0 { // a checkpoint may hold marks of the rank that wrote it
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

// Outcome codes nothing. The results of a pass are the weights and the records.
func (m *Online) Outcome(*snapshot.Coder) {}

// OutcomeArrays returns the averaged weights, which stay available after the commit.
func (m *Online) OutcomeArrays() []snapshot.Array {
	if !m.keeps() {
		return nil
	}
	return []snapshot.Array{{Name: "averaged weights", V: m.into(m.learner.Weights()), Now: m.Tables.results()}}
}
