// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"context"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/sgd"
)

// Online is the stage of passes of stochastic gradient descent. A step is one pass over the
// shard. Its exchange averages the weights of all ranks, as vw does at the end of a pass
// (gd.cc: end_pass). With an adaptive rule each rank's weight counts by its adaptive sum, so
// that a feature which one rank has seen most follows that rank.
//
// All ranks have the same weights between two steps. Scalars differ: the sums of the normalised
// rule and the regularisation that is due stay local, and travel in the records.
type Online struct {
	OnlineConfig
	processor Processor

	learner *sgd.Learner
	compact compact // of a learner that is compact
	done    int     // passes completed
	stop    bool    // the holdout loss has stopped improving

	made  func() *model.Regressor // makes the current model
	judge tally.Judge             // for the validation set

	replicas *sgd.Replicas // of passes with Replicas; nil: none so far
	merged   bool          // the replicas have the learner's weights

	mixer Mixer                       // of own passes; nil: passes are steps
	work  func(context.Context) error // makes an own pass
	skip  uint64                      // examples of own passes that a lost attempt has learned from
	alone func()                      // makes the sums of an own pass those of the job; nil: there are none

	// also is a further collective of every exchange, before the records; nil: none.
	also func(context.Context, *allreduce.Group) error

	Best    []float32        // weights with the best holdout loss; nil: none so far
	bestDue sgd.Scalars      // regularisation that is still due to these
	bestAs  *model.Regressor // their model except the weights: the counters of that pass
	scratch []float32        // one slot of all weights, for the maximum of N; allocated when it is needed

	Tables *doubleBuffer     // the tables of the state
	use    func(w []float32) // moves the learner to other memory
	got    *bestAs           // from a state that is being read
}

// NewOnline returns the stage of a learner of simple labels.
func NewOnline(c OnlineConfig, learner *sgd.Learner) *Online {
	m := &Online{
		OnlineConfig: c, processor: NewProcessor(&c), learner: learner, use: learner.Use, Tables: new(doubleBuffer),
	}
	m.made, m.judge, m.work = m.model, c.Tally.JudgeBy(m.predict), m.Work
	return m
}

// Next returns the name of the next step, and reports whether there is one.
func (m *Online) Next() (string, bool) {
	if m.stop || m.done >= m.Passes {
		return "", false
	}
	return fmt.Sprintf("SGD pass %d of %d", m.done+1, m.Passes), true
}

// Work predicts every example of the shard, and learns from those that are not held out.
func (m *Online) Work(ctx context.Context) error {
	return m.Learn(func() error {
		switch {
		case m.Replicas.N > 1:
			return m.replicate(ctx)
		case m.Threads > 1:
			return m.together(ctx)
		}
		defer m.number()()
		return m.Read.Pass(ctx, m.Tally.RunPasses(), m.Visit(ctx))
	})
}

// Learn calls read, which reads a pass or a part of it for Visit. Meanwhile other ranks may be served the state.
func (m *Online) Learn(read func() error) error {
	m.guard()
	defer m.end()
	return read()
}

// Visit returns the visit of the examples of passes.
func (m *Online) Visit(ctx context.Context) examples.Visit {
	t := m.Tally
	var next lookahead
	fresh := m.done == 0 && !t.TestOnly // a test touches only the pages that it reads
	ends := m.Length.Ends()
	return t.Weighted(func(b *feature.Batch, ex *feature.Example, held bool) error {
		if fresh {
			m.learner.Expect(b.Features)
			fresh = false
		}
		if m.skipped(held) {
			return nil
		}
		// --initial_pass_length ends passes within one reading of the data. The learning rate
		// decays there, but no weights are averaged.
		if ends.Before(m.Read.Place) {
			m.learner.EndPass()
			t.Passes++
		}
		m.learner.Prefetch(next.after(b, ex))
		if err := m.Example(b, ex, held); err != nil || m.mixer == nil || !t.Learns(held) {
			return err
		}
		return m.mixer.Learned(ctx, b.FeaturesOf(ex), 1)
	})
}

// lookahead walks through the features of a batch in front of the examples, so that their
// weights are in the cache in time.
type lookahead struct{ at uint32 }

// after returns the features from where the last call stopped to as many behind ex as ex has itself, within limits.
// Their weights arrive before their example does, and are not evicted again until then.
func (n *lookahead) after(b *feature.Batch, ex *feature.Example) []feature.Feature {
	const least, most = 128, 2048 // features: as many as cover the latency of memory, and as fill an eighth of a second cache
	all := uint32(len(b.Features))
	from, to := n.at, min(ex.FeatHi+min(max(ex.FeatHi-ex.FeatLo, least), most), all)
	if ex.FeatLo == ex.Hidden || from < ex.FeatHi || from > min(ex.FeatHi+most, all) {
		from = ex.FeatHi // a new batch, or shuffled examples
	}
	n.at = max(from, to)
	return b.Features[from:n.at]
}

// Exchange averages the weights, gathers the records and measures the validation set.
func (m *Online) Exchange(ctx context.Context, g *allreduce.Group) error {
	if err := m.Combine(ctx, g, true); err != nil {
		return err
	}
	if m.keeps() {
		m.use(m.Tables.Result)
		defer m.use(m.Tables.Work)
	}
	return m.Tally.Validate(ctx, m.judge)
}

// Combine averages the weights and gathers the records. ends reports whether the pass ends.
func (m *Online) Combine(ctx context.Context, g *allreduce.Group, ends bool) error {
	if err := m.Job.Ready(ctx); err != nil {
		return err
	}
	if m.Bare && ends { // vw does so for models without resume state; otherwise the rest waits for the next pass
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
	return m.Share(ctx)
}

// Share gathers the records.
func (m *Online) Share(ctx context.Context) error { return m.Tally.Share(ctx, m.record()) }

// Continue makes the results of Combine the state in the middle of a pass.
func (m *Online) Continue() {
	if m.keeps() {
		m.turn()
	}
}

// Stay makes the weights the state, after a step that has changed none.
func (m *Online) Stay() {
	if m.keeps() {
		m.arrange()
		m.enter()
	}
}

// predict returns the prediction by the current weights, within the range r.
func (m *Online) predict(fs []feature.Feature, initial float32, r loss.Range) float32 {
	m.learner.Range = r
	fs = m.known(fs)
	_, clipped := m.learner.Predict(fs, initial)
	return clipped
}

// average makes vw's calls accumulate_avg or accumulate_weighted_avg (accumulate.cc). dst is w
// or other memory, and receives the averages.
//
// The normalised rule without adaptive sums also needs N, the largest value of each feature. vw
// leaves N local, so its ranks disagree when they resume. Here the ranks take the maximum,
// except in a job with vw workers.
func (m *Online) average(ctx context.Context, g *allreduce.Group, dst, w []float32) error {
	stride := m.learner.Stride()
	m.Job.Register(dst, m.scratch)
	if g.Size() == 1 && !g.Stream() {
		copy(dst, w) // by vw's weighted average, weights without adaptive sums would become 0
		if slot := m.scratchSlot(); slot > 0 {
			for ; slot < len(dst); slot += stride {
				dst[slot] = 0
			}
		}
		return nil
	}
	switch {
	case m.Rule.Adaptive && m.Rule.Normalized:
		return g.AccumulateWeightedAvg(ctx, dst, w, stride, 2, m.scratchSlot())
	case m.Rule.Adaptive:
		return g.AccumulateWeightedAvg(ctx, dst, w, stride, 0, 0)
	}
	if err := g.AccumulateAvg(ctx, dst, w, stride, 0); err != nil {
		return err
	}
	if !m.Rule.Normalized || g.Stream() {
		return nil
	}
	const slot, rate = 1, 2 // N of the normalised rule, and its last rate
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
		// With --sparse_l2 an example without loss moves weights by the rate of their last
		// step. That rate is local to a rank, so it is cleared: it would make the ranks differ.
		for i := rate; i < len(dst); i += stride {
			dst[i] = 0
		}
	}
	return nil
}

// Commit ends the pass: the learning rate decays (vw's --decay_learning_rate), and the holdout
// loss decides whether there is another pass.
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
	// After the last pass the current weights are the best ones, and need no copy.
	if better && m.done < m.Passes && !m.Tally.TestOnly {
		m.Best = append(m.Best[:0], m.learner.Weights()...)
		m.bestDue, m.bestAs = m.learner.Scalars(), m.made()
	}
	if err := m.Models.SavePass(m.made); err != nil {
		return err
	}
	return m.Tally.Report("SGD")
}

// Finish ends training and returns its model.
func (m *Online) Finish() (training.Outcome, error) {
	return training.Outcome{Model: m.final(), LogLoss: math.NaN()}, nil
}

// final leaves the final weights in the learner, and returns their model. Training that has
// stopped early returns to the weights and the counters of the best pass, as vw does: its file
// is that of the best pass.
//
// Like vw's, a model with resume state keeps the regularisation that is due beside the weights
// instead of applying it.
func (m *Online) final() *model.Regressor {
	back := m.stop && m.Best != nil
	if back {
		m.use(m.Best)
		sc := m.learner.Scalars()
		sc.Gravity, sc.Contraction = m.bestDue.Gravity, m.bestDue.Contraction
		m.learner.SetScalars(sc)
	}
	// The stage may stay referenced while L-BFGS runs. It must not hold tables that are not
	// needed.
	m.Best, m.scratch, m.replicas = nil, nil, nil
	m.restore()
	m.Tables.leave()
	best := m.bestAs
	m.bestAs = nil
	if !back {
		return m.made()
	}
	best.Weights.Data = m.learner.Weights()
	return best
}

// model returns the current model.
func (m *Online) model() *model.Regressor {
	reg := &model.Regressor{Header: m.Models.Header(!m.Bare), Weights: View(m.learner, m.Rule)}
	if !m.Bare {
		sc := m.learner.Scalars()
		reg.Resume = m.Models.Resume(m.Rule.InitialT)
		reg.Resume.Gravity, reg.Resume.Contraction = sc.Gravity, sc.Contraction
	}
	return reg
}

// View returns the floats of each weight that a model file keeps, in vw's order: weight,
// adaptive sum, normalised N (gd.cc: save_load_online_state).
func View(l *sgd.Learner, rule sgd.Config) model.View {
	v := model.View{Data: l.Weights(), Stride: l.Stride(), Slots: []int{0}}
	if l.Compact() {
		v.Places = l
	}
	if rule.Adaptive {
		v.Slots = append(v.Slots, 1)
	}
	if rule.Normalized {
		v.Slots = append(v.Slots, len(v.Slots))
	}
	return v
}

// Shrink forgets the best weights, since the next losses are over other examples. The work of
// the current step stays valid.
func (m *Online) Shrink() (void bool, err error) {
	m.Best, m.bestAs = nil, nil
	return false, nil
}
