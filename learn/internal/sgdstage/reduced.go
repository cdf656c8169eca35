// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/reduction"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/sgd"
)

// Reduced is the stage of a learner that is composed of linear learners in one table (package
// reduction). Its passes, averages, snapshots and models are those of Online.
type Reduced struct {
	Online
	env        *reduction.Env
	slots      *sgd.Slots // of env
	learner    any        // reduction.Learner, or the reduction.Classifier of classes
	visit      examples.Visit
	classes    *classified // of labels other than simple ones; nil: labels are simple
	sums       jobSums     // of the linear learners
	layout     Layout
	weightless bool // Spec.Weightless
	before     bool // predictions that are shown are within the range before the example's label

	state     reduction.Stateful // the learner, if it has state; nil: it has none
	steady    bool               // predictions leave that state as it is
	exchanges bool               // Exchange is under way
	follows   reduction.Advancer // the learner, if it follows all examples; nil: it does not
	words     []uint64           // of that state
	reporter  reduction.Reporter // the learner, if its predictions have a form of their own; nil: they are numbers
}

// Layout is the table of a learner with its own rule (Spec.Bottom). That of others has none.
type Layout struct {
	Rows int // floats of each row; 0: there are no rows
	Kept int // Plan.Kept
}

// View returns the floats that a model file keeps.
func (l Layout) View(s *sgd.Slots) model.View {
	v := model.View{Data: s.Whole.Weights(), Stride: s.Width()}
	n := l.Rows
	if l.Kept > 0 {
		n = l.Kept
	}
	for i := range n {
		v.Slots = append(v.Slots, i)
	}
	return v
}

// NewReduced returns the stage of a learner in env.
func NewReduced(c OnlineConfig, env *reduction.Env, learner reduction.Learner, spec *reduction.Spec, layout Layout) *Reduced {
	m := newReduced(c, env.Base, learner)
	m.env, m.before, m.weightless, m.layout = env, spec.PredictsFirst, spec.Weightless, layout
	m.visit = func(b *feature.Batch, ex *feature.Example, held bool) error { return m.process(learner, b, ex, held) }
	m.judge = func(sums *metric.Sums, b *feature.Batch, ex *feature.Example, r loss.Range) float32 {
		return m.judgeOne(learner, sums, b, ex, r)
	}
	return m
}

// newReduced returns the stage without visit and judge.
func newReduced(c OnlineConfig, slots *sgd.Slots, learner any) *Reduced {
	m := &Reduced{
		Online: *NewOnline(c, slots.Whole), slots: slots, learner: learner, sums: newJobSums(slots.Sums(), nil),
	}
	m.state, _ = learner.(reduction.Stateful)
	_, m.steady = learner.(reduction.Steady)
	m.follows, _ = learner.(reduction.Advancer)
	m.reporter, _ = learner.(reduction.Reporter)
	if l, ok := learner.(reduction.Counter); ok {
		m.Tally.Features = l.Features
	}
	m.also, m.made, m.work, m.alone = m.shareSums, m.model, m.Work, m.sums.alone
	m.use = slots.Use
	return m
}

// shareSums is the collective of the sums. The weights have been combined before it.
func (m *Reduced) shareSums(ctx context.Context, g *allreduce.Group) error {
	if l, ok := m.learner.(reduction.Stages); ok && !m.Tally.TestOnly {
		w := m.Online.learner.Weights()
		if m.keeps() {
			w = m.Tables.Result
		}
		l.Combined(w, m.done+1)
	}
	return m.sums.share(ctx, g, m.Job.Total)
}

// Work predicts every example of the shard and learns from it.
func (m *Reduced) Work(ctx context.Context) error {
	ends := m.Length.Ends()
	if l, ok := m.learner.(reduction.Stages); ok {
		l.BeginPass(m.done)
	}
	m.guard()
	defer m.end()
	return m.Read.Pass(ctx, m.Tally.RunPasses(), func(b *feature.Batch, ex *feature.Example, held bool) error {
		if ends.Before(m.Read.Place) { // as Online does
			m.endPass()
			m.Online.learner.EndPass()
			m.Tally.Passes++
		}
		return m.visit(b, ex, held)
	})
}

// endPass ends a pass of the learner.
func (m *Reduced) endPass() {
	if l, ok := m.learner.(reduction.PassEnder); ok {
		l.EndPass()
	}
}

// process predicts an example, learns from it unless it is held out, and books the prediction.
func (m *Reduced) process(l reduction.Learner, b *feature.Batch, ex *feature.Example, held bool) error {
	t := m.Tally
	// As in vw the range follows the label before the example is predicted.
	t.Observe(ex, held)
	m.slots.Whole.Range = t.Seen
	learns := t.Learns(held)
	t.Calls.Count(ex, learns)
	if m.follows != nil {
		m.follows.Advance(ex)
	}
	var r reduction.Result
	if learns && ex.Labeled() && (ex.Weight > 0 || m.weightless && ex.Weight == 0) {
		var shown reduction.Result
		aside := m.before && (m.steady || t.Before != t.Seen || m.Rule.L1 != 0 || m.Rule.L2 != 0) // updates move the state, the range and what is due
		if aside {
			shown = m.aside(l, b, ex, t.Before)
			m.slots.Whole.Range = t.Seen
		}
		m.env.Before = t.Before
		if r = l.Learn(b, ex); hasDiverged(r.Raw, r.Loss) {
			if err := diverged(m.Read, t.Passes+1, b, ex, divergence(ex, r.Raw, r.Loss), m.slots.Whole, m.slots.First, m.slots.Width()); err != nil {
				return err
			}
		}
		if aside {
			r.Score = shown.Score // as in vw the loss is that of learning
		}
	} else {
		if m.before && learns && ex.Labeled() { // of weight 0
			m.slots.Whole.Range = t.Before
		}
		r = l.Predict(b, ex)
		if m.layout.Rows > 0 {
			m.slots.End(ex) // vw's own rules count all examples into the time
		}
	}
	if m.reporter == nil {
		return t.Account(b, ex, held, r.Raw, r.Score, r.Loss)
	}
	return t.AccountAs(b, ex, held, r.Score, r.Loss, m.reporter)
}

// judgeOne measures one example of the validation set.
func (m *Reduced) judgeOne(l reduction.Learner, sums *metric.Sums, b *feature.Batch, ex *feature.Example, r loss.Range) float32 {
	return m.Tally.JudgeScore(sums, m.aside(l, b, ex, r).Score, ex, r)
}

// aside returns the prediction of an example within the range r, and leaves the state of the
// learner.
func (m *Reduced) aside(l reduction.Learner, b *feature.Batch, ex *feature.Example, r loss.Range) reduction.Result {
	m.slots.Whole.Range = r
	if m.state == nil || m.steady {
		return l.Predict(b, ex)
	}
	m.words = m.state.AppendState(m.words[:0])
	p := l.Predict(b, ex)
	m.state.SetState(m.words)
	return p
}

// Exchange averages the weights, gathers the records and measures the validation set.
func (m *Reduced) Exchange(ctx context.Context, g *allreduce.Group) error {
	m.exchanges = true
	defer func() { m.exchanges = false }()
	return m.Online.Exchange(ctx, g)
}

// Shared codes the part of the state that is the same on all ranks.
func (m *Reduced) Shared(c *snapshot.Coder) {
	m.Online.Shared(c)
	m.Outcome(c)
	m.sums.codeShared(c)
}

// Own codes the part of the state that only this rank has.
func (m *Reduced) Own(c *snapshot.Coder) {
	m.sums.codeOwn(c)
	m.Online.Own(c)
	if m.classes != nil {
		m.classes.labels.code(c)
	}
	if m.state == nil {
		return
	}
	m.words = m.state.AppendState(m.words[:0])
	if l, ok := m.learner.(reduction.PassEnder); ok && m.exchanges {
		// The record is read after Commit, which ends the pass.
		before := slices.Clone(m.words)
		l.EndPass()
		m.words = m.state.AppendState(m.words[:0])
		m.state.SetState(before)
	}
	if l, ok := m.state.(reduction.Growing); ok {
		unit := l.StateUnit()
		n, limit := len(m.words)/unit, math.MaxInt
		if c.Reading() {
			limit = len(c.Bytes()) / (8 * unit)
		}
		c.Number("state of the learner: size", &n, limit)
		m.words = slices.Grow(m.words[:0], n*unit)[:n*unit]
	}
	for i := range m.words {
		c.U64("state of the learner", &m.words[i])
	}
	if c.Reading() && c.Err() == nil {
		m.state.SetState(m.words)
	}
}

// Outcome codes the sums of the linear learners over all ranks.
func (m *Reduced) Outcome(c *snapshot.Coder) { m.sums.codeAll(c) }

// Shrink also keeps the contributions of the lost ranks to the sums of the job.
func (m *Reduced) Shrink() (void bool, err error) {
	if err := m.sums.lose(m.Job, false); err != nil {
		return false, err
	}
	return m.Online.Shrink()
}

// Commit ends the pass.
func (m *Reduced) Commit() error {
	m.endPass()
	return m.Online.Commit()
}

// Next returns the name of the next step, and reports whether there is one.
func (m *Reduced) Next() (string, bool) {
	_, more := m.Online.Next()
	return fmt.Sprintf("pass %d of %d", m.done+1, m.Passes), more
}

// model returns the current model. As in vw, it has only the sums of the first linear learner, with
// which all of them continue.
func (m *Reduced) model() *model.Regressor {
	if m.layout.Rows > 0 {
		reg := &model.Regressor{Header: m.Models.Header(!m.Bare), Weights: m.layout.View(m.slots)}
		if m.layout.Kept > 0 && !m.Bare {
			reg.Resume = m.Models.Resume(m.Rule.InitialT)
			reg.Resume.Contraction = 1
		}
		return reg
	}
	reg := m.Online.model()
	if l, ok := m.learner.(reduction.Sectioned); ok {
		reg.Section = l.AppendSection(nil)
	}
	if reg.Resume == nil {
		return reg
	}
	m.sums.keep(reg.Resume)
	reg.Resume.Models = nil
	return reg
}
