// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// leader is the machine of passes of the FTRL family. It is for one process: an
// exchange has nothing but the record.
type leader struct {
	s       *session
	learner *ftrl.Learner
	passes  int // to do
	done    int
	stop    bool // the holdout loss no longer improves

	meet  func(b *feature.Batch, ex *feature.Example, held bool) error
	judge judge          // of the validation set
	made  func() trained // the model as it is

	chooser *chooser // of classes; nil: labels are simple

	best   []float32 // the weights with the best holdout loss; nil: none kept
	bestAs trained   // their model but for the weights: the counters of their pass
}

var _ allreduce.Machine = (*leader)(nil)

// Next names the next step.
func (m *leader) Next() (string, bool) {
	if m.stop || m.done >= m.passes {
		return "", false
	}
	return fmt.Sprintf("pass %d of %d of --%v", m.done+1, m.passes, m.learner.Config().Rule), true
}

// Work learns from every example.
func (m *leader) Work(ctx context.Context) error { return m.s.pass(ctx, m.meet) }

// meetSingle meets an example with a simple label.
func (m *leader) meetSingle(b *feature.Batch, ex *feature.Example, held bool) error {
	s := m.s
	s.observe(ex, held)
	m.learner.Shown, m.learner.Range = s.before, s.seen
	return s.meet(m.learner, b, ex, held)
}

// Exchange notes the record.
func (m *leader) Exchange(ctx context.Context, _ *allreduce.Group) error {
	s := m.s
	if err := s.ready(ctx); err != nil {
		return err
	}
	sums := m.learner.Sums()
	if err := s.share(ctx, record{Nsx: sums.Norm - s.base.Nsx, TotalWeight: sums.TotalWeight - s.base.TotalWeight}); err != nil {
		return err
	}
	return s.validate(ctx, m.judge)
}

// predict predicts by the weights as they are.
func (m *leader) predict(fs []feature.Feature, initial float32, r loss.Range) float32 {
	m.learner.Range = r
	_, clipped := m.learner.Predict(fs, initial)
	return clipped
}

// Commit ends the pass; the holdout loss says whether to go on.
func (m *leader) Commit() error {
	better, stop := m.s.endPass()
	m.stop = stop
	m.done++
	if better && m.done < m.passes && !m.s.cfg.TestOnly {
		m.best = append(m.best[:0], m.learner.Weights()...)
		m.bestAs = m.made()
	}
	if err := m.s.savePass(m.made); err != nil {
		return err
	}
	return m.s.report("FTRL")
}

// follow trains by the FTRL family, or tests.
func (r *runner) follow(ctx context.Context) error {
	m, err := r.leader()
	if err != nil {
		return err
	}
	if err := r.session.group.Run(ctx, m); err != nil {
		return err
	}
	r.model, r.followed = m.made(), m.learner.Sums()
	if m.stop && m.best != nil {
		copy(m.learner.Weights(), m.best)
		r.model = m.bestAs
	}
	if m.chooser != nil {
		r.logLoss = m.chooser.logLoss(m.chooser.sums)
	}
	return nil
}

// leader is training by the FTRL family, or testing.
func (r *runner) leader() (*leader, error) {
	s := r.session
	c := &s.cfg
	m := &leader{s: s, passes: c.Passes}
	if err := m.learners(); err != nil {
		return nil, err
	}
	v := model.View{Data: m.learner.Weights(), Stride: m.learner.Stride(), Slots: m.learner.Slots()}
	if r.initial != nil {
		if err := r.initial.weights(v); err != nil {
			return nil, err
		}
		if r.initial.resume {
			s.base = r.initial.base
			m.learner.SetSums(ftrl.Sums{Norm: s.base.Nsx, TotalWeight: s.base.TotalWeight})
			s.preserve(r.initial.dec.Resume)
		}
	}
	m.made = func() trained {
		if m.chooser != nil {
			m.chooser.keepFirst()
		}
		reg := &model.Regressor{Header: s.header(!c.Model.PredictOnly), Weights: v}
		if !c.Model.PredictOnly {
			reg.Resume = s.resume(r.rule)
			reg.Resume.Contraction = 1
		}
		return trained{reg}
	}
	return m, s.openTable()
}

// learners makes the learner of simple labels or those of classes, with the weights that
// training starts from.
func (m *leader) learners() error {
	s := m.s
	c := &s.cfg
	f := ftrl.Config{Rule: c.FTRL.Rule, Bits: c.Features.Bits}
	f.Alpha, f.Beta = c.ftrlNumbers()
	if c.FTRL.Rule == ftrl.Proximal { // the others have no regularisation
		f.L1, f.L2 = float32(c.Reg.L1), float32(c.Reg.L2)
	}
	if c.OAA.Classes > 0 {
		classes, err := ftrl.NewClasses(f, s.loss, c.OAA.Classes)
		if err != nil {
			return err
		}
		m.learner, m.chooser = classes.Whole, s.chooser(classes.Learner, classes.Whole)
		m.meet, m.judge = m.chooser.meet, m.chooser.judge
		if s.audit != nil {
			m.learner.Watch = m.chooser.watch
		}
		if err := m.chooser.subsample(); err != nil { // vw draws the classes before the weights
			return err
		}
	} else {
		var err error
		if m.learner, err = ftrl.New(f, s.loss); err != nil {
			return err
		}
		m.learner.PredictFirst = c.predictsFirst()
		m.meet, m.judge = m.meetSingle, s.judgeBy(m.predict)
		if s.audit != nil {
			m.learner.Watch = func(_ int, p float32) { s.audit.used = p }
		}
	}
	w, stride := m.learner.Weights(), m.learner.Stride()
	c.Model.Start.Seed = c.Model.Start.Fill(w, stride, stride)
	return nil
}

// ftrlNumbers returns α and β of the FTRL family.
func (c *Config) ftrlNumbers() (alpha, beta float32) {
	alpha, beta = c.FTRL.Rule.Defaults()
	return c.FTRL.Alpha.Or(alpha), c.FTRL.Beta.Or(beta)
}

// follower is the FTRL rule that a kept option or the command line names.
func (c *Config) follower() string { return "--" + c.FTRL.Rule.String() }

// validateFTRL looks whether the options of the FTRL family make sense.
func (c *Config) validateFTRL(fault func(option, format string, args ...any)) {
	if c.FTRL.Rule == ftrl.None {
		return
	}
	name := c.follower()
	if c.Cluster.Join != nil {
		fault(name, "it is for one process: its weights follow from sums of gradients that have no average over ranks (vw's ranks train apart without a word); use the default rule")
	}
	if c.Batch.BFGS || c.Hybrid != nil {
		fault(name, "it is a learner of its own: leave --bfgs and --hybrid out")
	}
	for _, o := range []struct {
		name  string
		value float32
	}{{"--ftrl_alpha", c.FTRL.Alpha.Value}, {"--ftrl_beta", c.FTRL.Beta.Value}} {
		if o.value < 0 {
			fault(o.name, "%g is negative", o.value)
		}
	}
}

// followerNames are vw's names of the FTRL family.
var followerNames = map[ftrl.Rule]string{ftrl.Proximal: "Proximal-FTRL", ftrl.Pistol: "PiSTOL", ftrl.Coin: "Coin Betting"}

// followerLearner returns vw's name of the learner, which depends on --audit and
// --invert_hash.
func (c *Config) followerLearner() string {
	name := "ftrl-" + followerNames[c.FTRL.Rule]
	if c.named() {
		name += "-audit"
	}
	return name
}

// followBanner adds vw's lines on the family, and returns the learner's name.
func (r *runner) followBanner(b *banner) string {
	c := &r.session.cfg
	name := followerNames[c.FTRL.Rule]
	alpha, beta := c.ftrlNumbers()
	b.addf("Enabling FTRL based optimization")
	b.addf("Algorithm used: %s", name)
	b.addf("ftrl_alpha = %.6g", alpha)
	b.addf("ftrl_beta = %.6g", beta)
	return c.followerLearner()
}
