// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"math"
	"slices"

	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/oaa"
	"github.com/gvw-project/gvw/optim/sgd"
	"github.com/gvw-project/gvw/optim/vector"
)

// The stages of a training, made of its configuration and of the loaded model.

// course is the machine that does what is asked for.
func (r *runner) course() (*course, error) {
	c := &course{
		job: r.job, tally: r.tally, files: r.files, origin: r.origin, log: r.cfg.Diagnostics.Log, passes: r.cfg.maxPasses(),
	}
	var first stage
	var err error
	switch {
	case r.cfg.Hybrid != nil && !r.cfg.TestOnly:
		c.then = r.second
		first, err = r.online(r.cfg.Hybrid.SGDPasses)
	case r.cfg.Batch.BFGS && !r.cfg.TestOnly:
		var w []float32
		if w, err = r.weights(); err != nil {
			return nil, err
		}
		first, err = r.batch(w, r.cfg.Passes)
	case r.cfg.OAA.Classes > 0:
		first, err = r.classes()
	default:
		first, err = r.online(r.cfg.Passes)
	}
	if err != nil {
		return nil, err
	}
	return c.begin(first), nil
}

// online is training by SGD, or testing.
func (r *runner) online(passes int) (*online, error) {
	c, rule := &r.cfg, r.rule
	if c.TestOnly && !c.keeps() {
		rule, c.Model.PredictOnly = forTesting(rule), true
	}
	learner, err := sgd.New(rule, r.tally.loss)
	if err != nil {
		return nil, err
	}
	c.startWeights(learner.Weights(), learner.Stride(), rule)
	c.startConstant(learner.Weights(), learner.Stride())
	if err := r.load(learner, rule); err != nil {
		return nil, err
	}
	c.startStates(learner)
	if !c.Batch.BFGS {
		if err := r.console.openTable(); err != nil {
			return nil, err
		}
	}
	m := r.newOnline(learner, rule, passes)
	m.use, m.made = learner.Use, m.model
	m.judge = r.tally.judgeBy(m.predict)
	return m, nil
}

// newOnline returns the machine of a learner.
func (r *runner) newOnline(learner *sgd.Learner, rule sgd.Config, passes int) *online {
	return &online{
		read: r.read, tally: r.tally, job: r.job, models: r.models, processor: r.processor(),
		learner: learner, rule: rule, base: r.models.base, length: r.cfg.passLength(), bare: r.cfg.Model.PredictOnly,
		passes: passes, kept: new(keptTables),
	}
}

func (r *runner) processor() processor {
	return processor{
		read: r.read, tally: r.tally, audit: r.audit,
		reweighed: len(r.cfg.Data.ClassWeights) > 0 && r.cfg.FTRL.Rule == ftrl.None,
	}
}

// load puts the loaded model, if there is one, into a learner, and its counters into the
// run.
func (r *runner) load(learner *sgd.Learner, rule sgd.Config) error {
	if r.initial == nil {
		return nil
	}
	if err := r.initial.intoLearner(learner, rule); err != nil {
		return err
	}
	r.goOn()
	return nil
}

// goOn takes over the counters of the loaded model.
func (r *runner) goOn() {
	if !r.initial.resume {
		return
	}
	r.models.base = r.initial.base
	if r.cfg.Model.PreserveCounters && !r.cfg.TestOnly {
		r.tally.preserve(r.initial.dec.Resume)
	}
}

// classes is training one against all, or testing it.
func (r *runner) classes() (*classes, error) {
	c, rule := &r.cfg, r.rule
	if c.TestOnly && (!c.keeps() || c.FTRL.Rule != ftrl.None) {
		rule, c.Model.PredictOnly = forTesting(rule), true
	}
	learners, err := sgd.NewClasses(rule, r.tally.loss, c.OAA.Classes)
	if err != nil {
		return nil, err
	}
	whole := learners.Whole
	chooser, err := r.chooser(learners.Learner, whole) // vw draws the classes before the weights
	if err != nil {
		return nil, err
	}
	c.startWeights(whole.Weights(), whole.Stride(), rule)
	if err := r.load(whole, rule); err != nil {
		return nil, err
	}
	if r.initial != nil {
		r.initial.intoSums(learners.Sums())
	}
	c.startStates(whole)
	if err := r.console.openTable(); err != nil {
		return nil, err
	}
	m := &classes{
		online:   *r.newOnline(whole, rule, c.Passes),
		learners: learners,
		chooser:  chooser,
		loaded:   slices.Clone(learners.Sums()),
		all:      make([]sgd.ClassSums, c.OAA.Classes),
	}
	m.also, m.made = m.shareSums, m.model
	m.judge, m.use = chooser.judge, learners.Use
	return m, nil
}

// chooser returns a chooser with these learners, after it has drawn the classes of
// --oaa_subsample.
func (r *runner) chooser(learner *oaa.Learner, table weighted) (*chooser, error) {
	c := &r.cfg
	learner.Fixed = r.tally.fixed // labels are -1 and 1, as the learners see them
	if c.OAA.Subsample > 0 {
		state, err := learner.Subsample(c.OAA.Subsample, c.Model.Start.Seed)
		c.Model.Start.Seed = state
		if err != nil {
			return nil, err
		}
	}
	m := &chooser{
		read: r.read, tally: r.tally, audit: r.audit, learner: learner, table: table, labels: c.classLabels(),
		probabilities: c.OAA.Probabilities, scores: c.OAA.Scores, linked: c.Loss.Link != "identity", sampled: c.OAA.Subsample > 0,
	}
	r.models.fromZero = func() bool { return m.labels.first == 0 }
	return m, nil
}

// weights are where a batch solver starts: at the loaded model, at the weights drawn, or
// at zero. As in vw it has no use for --constant.
func (r *runner) weights() ([]float32, error) {
	c := &r.cfg
	w := make([]float32, 1<<c.Features.Bits)
	const pitch = 4 // of vw's L-BFGS
	c.Model.Start.Seed = c.Model.Start.Fill(w, 1, pitch)
	if r.initial == nil {
		copy(w, r.prior.Mean)
		return w, nil
	}
	err := r.initial.weights(model.View{Data: w})
	(&model.Regressor{Resume: r.initial.dec.Resume, Weights: model.View{Data: w}}).Settle()
	return w, err
}

// batch is training by L-BFGS or conjugate gradients from the weights w, which it
// changes.
func (r *runner) batch(w []float32, passes int) (*batch, error) {
	c := &r.cfg
	config := c.solver(r.prior)
	if i := vector.FirstWild(w); i >= 0 {
		return nil, r.read.divergence(fmt.Errorf("%s cannot start at a weight of %v (number %d): the training before it diverged; repeat it with a lower --learning_rate",
			config.name(), w[i], i))
	}
	solver, err := config.solver(w, passes)
	if err != nil {
		return nil, err
	}
	r.console.table.Next = math.Inf(1) // no rows of progress: the trace takes their place
	m := &batch{
		read: r.read, tally: r.tally, job: r.job, console: r.console, models: r.models,
		config: config, solver: solver, passes: passes,
		acc:     summation{read: r.read, tally: r.tally, semantics: c.Batch.Semantics},
		hessian: c.keepsHessian(),
	}
	if c.regularizes() {
		m.keeps = &regularizers{prior: r.prior, l2: float32(c.Reg.L2), mixes: c.Batch.ConjugateGradient, hessian: c.keepsHessian()}
	}
	return m, nil
}

// second is the hybrid's second stage, which makes it vw's two calls in one
// process: SGD, then L-BFGS from its weights. Nothing but the weights and the
// label range goes from one to the other. left nil: a state with them follows.
func (r *runner) second(left stage) (stage, error) {
	w := make([]float32, 1<<r.cfg.Features.Bits)
	if left != nil {
		out, err := left.finish()
		if err != nil {
			return nil, err
		}
		w = plain(out.model)
		if r.job.keep && out.model.Weights.Stride == 1 {
			w = slices.Clone(w) // others may still ask for the results of the last step
		}
	}
	r.tally.forgetBest()
	if err := r.console.say(optim.AppendHeader(nil)); err != nil {
		return nil, err
	}
	return r.batch(w, r.cfg.Hybrid.LBFGSPasses)
}

// leader is training by the FTRL family, or testing.
func (r *runner) leader() (*leader, error) {
	c := &r.cfg
	m := &leader{
		read: r.read, tally: r.tally, job: r.job, models: r.models, processor: r.processor(),
		initialT: r.rule.InitialT, bare: c.Model.PredictOnly, passes: c.Passes,
	}
	if err := r.followers(m); err != nil {
		return nil, err
	}
	if r.initial != nil {
		if err := r.initial.weights(m.view()); err != nil {
			return nil, err
		}
		if r.goOn(); r.initial.resume {
			m.base = r.initial.base
			m.learner.SetSums(ftrl.Sums{Norm: m.base.Nsx, TotalWeight: m.base.TotalWeight})
		}
	}
	return m, r.console.openTable()
}

// followers makes the learner of simple labels or those of classes, with the weights that
// training starts from.
func (r *runner) followers(m *leader) error {
	c := &r.cfg
	f := ftrl.Config{Rule: c.FTRL.Rule, Bits: c.Features.Bits}
	f.Alpha, f.Beta = c.ftrlNumbers()
	if c.FTRL.Rule == ftrl.Proximal { // the others have no regularisation
		f.L1, f.L2 = float32(c.Reg.L1), float32(c.Reg.L2)
	}
	if c.OAA.Classes > 0 {
		classes, err := ftrl.NewClasses(f, r.tally.loss, c.OAA.Classes)
		if err != nil {
			return err
		}
		if m.chooser, err = r.chooser(classes.Learner, classes.Whole); err != nil { // vw draws the classes before the weights
			return err
		}
		m.learner = classes.Whole
		m.process, m.judge = m.chooser.process, m.chooser.judge
		if r.audit != nil {
			m.learner.Watch = m.chooser.watch
		}
	} else {
		var err error
		if m.learner, err = ftrl.New(f, r.tally.loss); err != nil {
			return err
		}
		m.learner.PredictFirst = c.predictsFirst()
		m.process, m.judge = m.processSingle, r.tally.judgeBy(m.predict)
		if r.audit != nil {
			m.learner.Watch = func(_ int, p float32) { r.audit.used = p }
		}
	}
	w, stride := m.learner.Weights(), m.learner.Stride()
	c.Model.Start.Seed = c.Model.Start.Fill(w, stride, stride)
	return nil
}
