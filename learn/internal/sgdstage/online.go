// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"context"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/sgd"
)

// Online is the machine of passes of stochastic gradient descent. A step is one
// pass over the shard; its exchange averages the weights of all ranks, weighted
// by the adaptive sums where the rule is adaptive (vw's pass end).
type Online struct {
	OnlineConfig
	processor processor

	learner *sgd.Learner
	done    int
	stop    bool // the holdout loss no longer improves

	made  func() *model.Regressor // the model as it is
	judge tally.Judge             // of the validation set

	// also is a collective of every exchange, before the records; nil: none.
	also func(context.Context, *allreduce.Group) error

	Best    []float32        // the weights with the best holdout loss; nil: none kept
	bestDue sgd.Scalars      // what regularisation these still have to take
	bestAs  *model.Regressor // their model but for the weights: the counters of their pass
	scratch []float32        // one slot of all weights, for the maximum of N

	Tables *doubleBuffer     // where the state is kept
	use    func(w []float32) // puts the learner into other memory
	got    *bestAs           // of a state that is being read
}

// NewOnline returns the machine of a learner of simple labels.
func NewOnline(c OnlineConfig, learner *sgd.Learner) *Online {
	m := &Online{
		OnlineConfig: c, processor: newProcessor(&c), learner: learner, use: learner.Use, Tables: new(doubleBuffer),
	}
	m.made, m.judge = m.model, c.Tally.JudgeBy(m.predict)
	return m
}

// Next returns the name of the next step, and whether there is one.
func (m *Online) Next() (string, bool) {
	if m.stop || m.done >= m.Passes {
		return "", false
	}
	return fmt.Sprintf("SGD pass %d of %d", m.done+1, m.Passes), true
}

// Work learns from every example of the shard.
func (m *Online) Work(ctx context.Context) error {
	t := m.Tally
	var next lookahead
	fresh := m.done == 0 && !t.TestOnly // of a test no page but those it reads need be there
	ends := m.Length.Ends()
	m.guard()
	defer m.end()
	return m.Read.Pass(ctx, t.Passes, t.Weighted(func(b *feature.Batch, ex *feature.Example, held bool) error {
		if fresh {
			m.learner.Expect(b.Features)
			fresh = false
		}
		if ends.Before(m.Read.Place) {
			m.learner.EndPass()
			t.Passes++
		}
		t.Observe(ex, held)
		m.learner.Range = t.Seen
		if t.Learns(held) {
			m.learner.Prefetch(next.after(b, ex))
		}
		return m.processor.process(m.learner, b, ex, held)
	}))
}

// lookahead walks through the features of a batch in front of the examples.
type lookahead struct{ at uint32 }

// after returns the features from where it stopped last to a little behind ex:
// so far that their weights have come when their example does, and not so far
// that they are gone again.
func (n *lookahead) after(b *feature.Batch, ex *feature.Example) []feature.Feature {
	const distance = 128
	from, to := n.at, min(ex.FeatHi+distance, uint32(len(b.Features)))
	if ex.FeatLo == ex.Hidden || from < ex.FeatHi || from > to {
		from = ex.FeatHi // a new batch, or shuffled examples
	}
	n.at = to
	return b.Features[from:to]
}

// Exchange averages the weights and gathers the records.
func (m *Online) Exchange(ctx context.Context, g *allreduce.Group) error {
	if err := m.Job.Ready(ctx); err != nil {
		return err
	}
	if m.Bare { // as vw, which else leaves what is due for the next pass
		m.learner.Materialize()
	}
	if m.Job.Total > 1 && (!m.Tally.TestOnly || g.Stream()) { // vw averages even when it only tests
		m.learner.Materialize()
		w := m.learner.Weights()
		if err := m.average(ctx, g, m.into(w), w); err != nil {
			return err
		}
	}
	if m.also != nil {
		if err := m.also(ctx, g); err != nil {
			return err
		}
	}
	sc := m.learner.Scalars()
	if err := m.Tally.Share(ctx, job.Record{Nsx: sc.Nsx - m.Base.Nsx, TotalWeight: sc.TotalWeight - m.Base.TotalWeight}); err != nil {
		return err
	}
	if m.keeps() {
		m.use(m.Tables.Result)
		defer m.use(m.Tables.Work)
	}
	return m.Tally.Validate(ctx, m.judge)
}

// predict predicts by the weights as they are.
func (m *Online) predict(fs []feature.Feature, initial float32, r loss.Range) float32 {
	m.learner.Range = r
	_, clipped := m.learner.Predict(fs, initial)
	return clipped
}

// average does vw's accumulate_avg or accumulate_weighted_avg.
// Beyond vw, the normalised rule without adaptive sums agrees on N, the
// largest value seen of each feature: vw leaves it local and so disagrees with
// itself when it resumes. dst is w, or other memory.
func (m *Online) average(ctx context.Context, g *allreduce.Group, dst, w []float32) error {
	stride := m.learner.Stride()
	m.Job.Register(dst, m.scratch)
	switch {
	case m.Rule.Adaptive && m.Rule.Normalized:
		return g.AccumulateWeightedAvgInto(ctx, dst, w, stride, 2, m.scratchSlot())
	case m.Rule.Adaptive:
		return g.AccumulateWeightedAvgInto(ctx, dst, w, stride, 0, 0)
	}
	if err := g.AccumulateAvgInto(ctx, dst, w, stride, 0); err != nil {
		return err
	}
	if !m.Rule.Normalized || g.Stream() {
		return nil
	}
	const slot, rate = 1, 2 // N of the normalised rule, and its scratch
	if m.scratch == nil {
		m.scratch = make([]float32, len(w)/stride)
	}
	for i := range m.scratch {
		m.scratch[i] = w[i*stride+slot]
	}
	if err := g.AllReduce(ctx, allreduce.Vec(m.scratch).Named("largest feature values"), allreduce.Max); err != nil {
		return err
	}
	for i, v := range m.scratch {
		dst[i*stride+slot] = v
	}
	if m.Rule.SparseL2 != 0 {
		// An example without loss moves weights by the rate of their last step,
		// which is one rank's own: none of this pass, none at all.
		for i := rate; i < len(dst); i += stride {
			dst[i] = 0
		}
	}
	return nil
}

// Commit ends the pass: the learning rate decays, and the holdout loss says
// whether to go on.
func (m *Online) Commit() error {
	better, stop := m.Tally.EndPass()
	m.stop = stop
	m.learner.EndPass()
	if m.keeps() {
		m.turn()
	}
	if m.done++; m.done == 1 {
		if m.Length.Doubles(m.Read.Place) {
			m.Passes *= 2
		}
	}
	if better && m.done < m.Passes && !m.Tally.TestOnly {
		m.Best = append(m.Best[:0], m.learner.Weights()...)
		m.bestDue, m.bestAs = m.learner.Scalars(), m.made()
	}
	if err := m.Models.SavePass(m.made); err != nil {
		return err
	}
	return m.Tally.Report("SGD")
}

// Finish ends training with its model.
func (m *Online) Finish() (training.Outcome, error) {
	return training.Outcome{Model: m.final(), LogLoss: math.NaN()}, nil
}

// final leaves the final weights in the learner, and returns their model.
// Training that stopped early goes back to the best pass, to its counters too, as
// vw does, whose file is that of the best pass; otherwise the last one stays. Like
// vw's, a model with resume state keeps what --l1 and --l2 have yet to take beside
// the weights.
func (m *Online) final() *model.Regressor {
	back := m.stop && m.Best != nil
	if back {
		m.use(m.Best)
		sc := m.learner.Scalars()
		sc.Gravity, sc.Contraction = m.bestDue.Gravity, m.bestDue.Contraction
		m.learner.SetScalars(sc)
	}
	m.Best, m.scratch = nil, nil
	m.Tables.leave()
	best := m.bestAs
	m.bestAs = nil
	if !back {
		return m.made()
	}
	best.Weights.Data = m.learner.Weights()
	return best
}

// model is the model as it is.
func (m *Online) model() *model.Regressor {
	reg := &model.Regressor{Header: m.Models.Header(!m.Bare), Weights: View(m.learner, m.Rule)}
	if !m.Bare {
		sc := m.learner.Scalars()
		reg.Resume = m.Models.Resume(m.Rule.InitialT)
		reg.Resume.Gravity, reg.Resume.Contraction = sc.Gravity, sc.Contraction
	}
	return reg
}

// View shows model the floats that a file keeps of each weight, in vw's order.
func View(l *sgd.Learner, rule sgd.Config) model.View {
	v := model.View{Data: l.Weights(), Stride: l.Stride(), Slots: []int{0}}
	if rule.Adaptive {
		v.Slots = append(v.Slots, 1)
	}
	if rule.Normalized {
		v.Slots = append(v.Slots, len(v.Slots))
	}
	return v
}

// Shrink forgets the best weights: they were the best with all ranks.
func (m *Online) Shrink() (void bool, err error) {
	m.Best, m.bestAs = nil, nil
	return false, nil
}
