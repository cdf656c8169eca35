// SPDX-License-Identifier: Apache-2.0

package avgstage

import (
	"context"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/sgdstage"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/masgd"
	"github.com/gvw-project/gvw/optim/outer"
)

// Config has the settings and the collaborators of the stage.
type Config struct {
	Read   *examples.Reader
	Tally  *tally.Tally
	Job    *job.Job
	Models training.Models
	// Reweighed is sgdstage.OnlineConfig.Reweighed.
	Reweighed bool

	Rule     masgd.Config // of the steps; its Batch is set by Batch
	Gradient bool         // add up the gradients of a batch instead of averaging models
	Batch    masgd.Amount // examples of a local step, or with Gradient of a round; zero: 1, or the pass
	Every    masgd.Every  // moments of averaging, without Gradient
	Seed     uint64       // of random moments
	Outer    outer.Config // outer steps along the averaged changes, without Gradient
	Passes   int
	InitialT float64 // steps before the first, for the rate
	// Whole makes an average by one all-reduce, after which each rank divides all sums. false: by a reduce-scatter, after
	// which each rank divides its part, and an all-gather.
	Whole bool
}

// Stage is the stage of model averaging.
type Stage struct {
	Config
	position
	processor sgdstage.Processor
	learner   *masgd.Learner  // of models; nil: not made yet
	gradient  *masgd.Gradient // of gradients; nil: not made yet
	judge     tally.Judge
	outer     *outer.Optimizer // nil: the mean is the next state

	state  []float32 // common weights at the start of the round
	work   []float32 // contribution: the replica of this rank, or its gradient; may be state
	mean   []float32 // results, if they need memory of their own; see results
	peeked []float32 // with outer steps and a validation set: the state after the last round of the pass

	// The state besides the weights, equal on all ranks.
	done  int     // passes completed
	steps float64 // mean number of steps of a rank so far
	stop  bool    // the holdout loss has stopped improving
	lost  bool    // control variates start at 0 again, since a rank was lost

	own, all [3]float64  // weight, steps and examples of this round: of this rank, and of all
	varies   variates    // of this rank
	best     []float32   // weights with the best holdout loss; nil: none so far
	single   interface { // the learner or the gradient
		sgdstage.Single
		Weight() float64
	}
}

// New returns the stage of a training that starts at the weights w and changes them.
func New(c Config, w []float32) (*Stage, error) {
	m := &Stage{Config: c, state: w, steps: c.InitialT, processor: sgdstage.NewProcessor(&sgdstage.OnlineConfig{Read: c.Read, Tally: c.Tally, Reweighed: c.Reweighed})}
	if err := c.Rule.Validate(); err != nil {
		return nil, err
	}
	m.cursor = cursor{read: c.Read, visit: c.Tally.Weighted(m.visit)}
	m.judge = c.Tally.JudgeBy(m.predict)
	if !c.Outer.Plain() {
		var err error
		if m.outer, err = outer.New(c.Outer, w); err != nil {
			return nil, err
		}
	}
	m.divide()
	return m, nil
}

// counts reports whether the number of examples must be known before the first round.
func (m *Stage) counts() bool {
	return !m.Every.Pass() || m.Batch.Share > 0 || m.Gradient && m.Batch != masgd.Amount{}
}

// divide computes the rounds of the current pass.
func (m *Stage) divide() {
	switch every := m.Every; {
	case m.counts() && !m.counted:
		m.rounds = masgd.Even(1)
	case m.Gradient:
		m.rounds = masgd.Every{Amount: m.Batch}.Rounds(m.per, 1, 0, 0)
	default:
		m.rounds = every.Rounds(m.per, float64(m.batch()), m.Seed, m.done)
	}
}

// batch returns the number of examples of a local step.
func (m *Stage) batch() int {
	if m.Batch == (masgd.Amount{}) {
		return 1
	}
	return int(m.Batch.Of(m.per))
}

// Next returns the name of the next step, and reports whether there is one.
func (m *Stage) Next() (string, bool) {
	switch {
	case m.stop || m.done >= m.Passes:
		return "", false
	case m.counts() && !m.counted:
		return countStep, true
	case m.rounds.N() == 1:
		return fmt.Sprintf("SGD pass %d of %d", m.done+1, m.Passes), true
	}
	return fmt.Sprintf("SGD pass %d of %d, %s", m.done+1, m.Passes, m.name()), true
}

// Work learns from the examples of a round.
func (m *Stage) Work(ctx context.Context) error {
	if m.counts() && !m.counted {
		err := m.count(ctx)
		m.own = [3]float64{0, 0, float64(m.shard)}
		return err
	}
	if err := m.begin(); err != nil {
		return err
	}
	if err := m.read(ctx, m.Tally.RunPasses()); err != nil {
		return err
	}
	m.own[0] = m.single.Weight()
	if m.Gradient {
		m.gradient.Store(m.work)
		return nil
	}
	m.varies.rate = m.learner.Rate()
	m.learner.End()
	m.own[1] = m.learner.Steps()
	return nil
}

// begin prepares the learner for a round.
func (m *Stage) begin() (err error) {
	m.own = [3]float64{}
	if m.Gradient {
		if m.gradient == nil {
			m.gradient = masgd.NewGradient(m.Rule.Loss, len(m.state))
			m.single = m.gradient
		}
		if m.work == nil {
			m.work = make([]float32, len(m.state))
		}
		m.gradient.Begin(m.state)
		return nil
	}
	switch {
	case !m.Job.Keep:
		m.work = m.state
	case m.work == nil:
		m.work = make([]float32, len(m.state))
	}
	if m.Job.Keep {
		copy(m.work, m.state)
	}
	if m.learner == nil {
		rule := m.Rule
		rule.Batch = m.batch()
		if m.learner, err = masgd.New(rule, m.work); err != nil {
			return err
		}
		m.single = m.learner
	}
	m.learner.Begin(m.work, m.control(), m.steps)
	return nil
}

// visit processes an example of a round.
func (m *Stage) visit(b *feature.Batch, ex *feature.Example, held bool) error {
	t := m.Tally
	t.Observe(ex, held)
	if m.Gradient {
		m.gradient.Range = t.Seen
	} else {
		m.learner.Range = t.Seen
	}
	return m.processor.Process(m.single, b, ex, held)
}

// Commit makes the results the state. The last round of a pass ends the pass.
func (m *Stage) Commit() error {
	t := m.Tally
	if !t.Fixed {
		t.Seen = m.Job.All.Range // also of a rank that another process replaces
	}
	if m.counts() && !m.counted {
		m.counted, m.per = true, m.all[2]/float64(m.Job.Size())
		m.divide()
		return nil
	}
	m.commitVariates()
	m.turn()
	if m.Gradient {
		m.steps++
	} else {
		m.steps += m.all[1] / float64(m.Job.Size())
	}
	if !m.last() {
		m.round++
		return nil
	}
	better, stop := t.EndPass()
	m.stop = stop
	m.round = 0
	m.done++
	m.divide()
	// After the last pass the current weights are the best ones, and need no copy.
	if better && m.done < m.Passes {
		m.best = append(m.best[:0], m.state...)
	}
	if err := m.Models.SavePass(func() *model.Regressor { return m.model(m.state) }); err != nil {
		return err
	}
	return t.Report("SGD")
}

// Finish ends training and returns its model: that of the best pass if the holdout loss has stopped training.
func (m *Stage) Finish() (training.Outcome, error) {
	w := m.state
	if m.stop && m.best != nil {
		w = m.best
	}
	m.learner, m.gradient, m.single, m.best, m.peeked = nil, nil, nil, nil, nil
	return training.Outcome{Model: m.model(w), LogLoss: math.NaN()}, nil
}

// model returns the model with the weights w. It has no resume state.
func (m *Stage) model(w []float32) *model.Regressor {
	return &model.Regressor{Header: m.Models.Header(false), Weights: model.View{Data: w}}
}

// predict returns the prediction by the weights after the round, within the range r.
func (m *Stage) predict(fs []feature.Feature, initial float32, r loss.Range) float32 {
	w := m.results()
	if m.outer != nil {
		w = m.peeked
	}
	_, clipped := masgd.Score(w, fs, initial, r)
	return clipped
}

// Shrink forgets the best weights and the control variates, which include those of the lost ranks. The work of the
// current round stays valid.
func (m *Stage) Shrink() (void bool, err error) {
	m.best, m.lost = nil, true
	return false, nil
}
