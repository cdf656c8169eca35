// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"slices"

	"github.com/gvw-project/gvw/learn/internal/batchstage"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/sgdstage"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/oaa"
	"github.com/gvw-project/gvw/optim/sgd"
)

// The stages of a training, made of its configuration and of the loaded model.

// trainer is the machine that does what is asked for.
func (r *runner) trainer() (*trainer, error) {
	c := &trainer{
		job: r.job, tally: r.tally, files: r.files, provenance: r.provenance, log: r.cfg.Diagnostics.Log, passes: r.cfg.maxPasses(),
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
func (r *runner) online(passes int) (*sgdstage.Online, error) {
	c, rule := &r.cfg, r.rule
	if c.TestOnly && !c.keeps() {
		rule, c.Model.PredictOnly = forTesting(rule), true
	}
	learner, err := sgd.New(rule, r.tally.Loss)
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
		if err := r.console.OpenTable(); err != nil {
			return nil, err
		}
	}
	return sgdstage.NewOnline(r.onlineConfig(rule, passes), learner), nil
}

// onlineConfig is what a stage of online learning works with, when the model is loaded.
func (r *runner) onlineConfig(rule sgd.Config, passes int) sgdstage.OnlineConfig {
	return sgdstage.OnlineConfig{
		Read: r.read, Tally: r.tally, Job: r.job, Audit: r.audit, Models: r.models,
		Rule: rule, Base: r.models.base, Length: r.cfg.passLength(), Bare: r.cfg.Model.PredictOnly, Passes: passes,
		Reweighed: len(r.cfg.Data.ClassWeights) > 0 && r.cfg.FTRL.Rule == ftrl.None,
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
		r.tally.Preserve(r.initial.dec.Resume)
	}
}

// classes is training one against all, or testing it.
func (r *runner) classes() (*sgdstage.Classes, error) {
	c, rule := &r.cfg, r.rule
	if c.TestOnly && (!c.keeps() || c.FTRL.Rule != ftrl.None) {
		rule, c.Model.PredictOnly = forTesting(rule), true
	}
	learners, err := sgd.NewClasses(rule, r.tally.Loss, c.OAA.Classes)
	if err != nil {
		return nil, err
	}
	whole := learners.Whole
	if err := r.subsample(learners.Learner); err != nil { // vw draws the classes before the weights
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
	if err := r.console.OpenTable(); err != nil {
		return nil, err
	}
	o := r.onlineConfig(rule, c.Passes)
	return sgdstage.NewClasses(o, learners, r.chooser(&o, learners.Learner, whole)), nil
}

// subsample draws the classes of --oaa_subsample.
func (r *runner) subsample(learner *oaa.Learner) error {
	c := &r.cfg
	if c.OAA.Subsample == 0 {
		return nil
	}
	state, err := learner.Subsample(c.OAA.Subsample, c.Model.Start.Seed)
	c.Model.Start.Seed = state
	return err
}

// chooser returns a chooser with these learners.
func (r *runner) chooser(o *sgdstage.OnlineConfig, learner *oaa.Learner, table output.Weighted) *sgdstage.Chooser {
	c := &r.cfg
	m := sgdstage.NewChooser(o, sgdstage.ChooserConfig{
		Probabilities: c.OAA.Probabilities, Scores: c.OAA.Scores, Linked: c.Loss.Link != "identity", Sampled: c.OAA.Subsample > 0,
	}, learner, table, c.classLabels())
	r.models.fromZero = m.FromZero
	return m
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
func (r *runner) batch(w []float32, passes int) (*batchstage.Batch, error) {
	c := &r.cfg
	b := batchstage.BatchConfig{
		Read: r.read, Tally: r.tally, Job: r.job, Console: r.console, Models: r.models,
		Config: c.solver(r.prior), Passes: passes,
	}
	if c.regularizes() {
		b.Keeps = &training.Regularizers{Prior: r.prior, L2: float32(c.Reg.L2), Mixes: c.Batch.ConjugateGradient, Hessian: c.keepsHessian()}
	}
	return batchstage.NewBatch(b, w)
}

// second is the hybrid's second stage, which makes it vw's two calls in one
// process: SGD, then L-BFGS from its weights. Nothing but the weights and the
// label range goes from one to the other. left nil: a state with them follows.
func (r *runner) second(left stage) (stage, error) {
	w := make([]float32, 1<<r.cfg.Features.Bits)
	if left != nil {
		out, err := left.Finish()
		if err != nil {
			return nil, err
		}
		w = plain(out.Model)
		if r.job.Keep && out.Model.Weights.Stride == 1 {
			w = slices.Clone(w) // others may still ask for the results of the last step
		}
	}
	r.tally.ForgetBest()
	if err := r.console.Say(optim.AppendHeader(nil)); err != nil {
		return nil, err
	}
	return r.batch(w, r.cfg.Hybrid.LBFGSPasses)
}

// ftrl is training by the FTRL family, or testing.
func (r *runner) ftrl() (*sgdstage.FTRL, error) {
	c := &r.cfg
	f := ftrl.Config{Rule: c.FTRL.Rule, Bits: c.Features.Bits}
	f.Alpha, f.Beta = c.ftrlNumbers()
	if c.FTRL.Rule == ftrl.Proximal { // the others have no regularisation
		f.L1, f.L2 = float32(c.Reg.L1), float32(c.Reg.L2)
	}
	var learner *ftrl.Learner
	var classes *ftrl.Classes // nil: labels are simple
	var err error
	if c.OAA.Classes > 0 {
		if classes, err = ftrl.NewClasses(f, r.tally.Loss, c.OAA.Classes); err != nil {
			return nil, err
		}
		learner = classes.Whole
		if err := r.subsample(classes.Learner); err != nil { // vw draws the classes before the weights
			return nil, err
		}
	} else {
		if learner, err = ftrl.New(f, r.tally.Loss); err != nil {
			return nil, err
		}
		learner.PredictFirst = c.predictsFirst()
	}
	w, stride := learner.Weights(), learner.Stride()
	c.Model.Start.Seed = c.Model.Start.Fill(w, stride, stride)
	if r.initial != nil {
		if err := r.initial.weights(sgdstage.FollowerView(learner)); err != nil {
			return nil, err
		}
		if r.goOn(); r.initial.resume {
			learner.SetSums(ftrl.Sums{Norm: r.models.base.Nsx, TotalWeight: r.models.base.TotalWeight})
		}
	}
	o := r.onlineConfig(r.rule, c.Passes)
	if classes == nil {
		return sgdstage.NewFTRL(o, learner, nil), r.console.OpenTable()
	}
	return sgdstage.NewFTRL(o, learner, r.chooser(&o, classes.Learner, classes.Whole)), r.console.OpenTable()
}
