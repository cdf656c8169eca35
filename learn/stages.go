// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"math"
	"slices"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/avgstage"
	"github.com/gvw-project/gvw/learn/internal/batchstage"
	"github.com/gvw-project/gvw/learn/internal/ldastage"
	"github.com/gvw-project/gvw/learn/internal/maltstage"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/sgdstage"
	"github.com/gvw-project/gvw/learn/internal/trainer"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/oaa"
	"github.com/gvw-project/gvw/optim/sgd"
)

// The stages of a training, made of its configuration and of the loaded model.

var (
	_ trainer.Stage = (*sgdstage.Online)(nil)
	_ trainer.Stage = (*sgdstage.Classes)(nil)
	_ trainer.Stage = (*batchstage.Batch)(nil)
	_ trainer.Stage = (*ldastage.Stage)(nil)
	_ trainer.Stage = (*maltstage.Stage)(nil)
	_ trainer.Stage = (*avgstage.Stage)(nil)
	_ trainer.Stage = (*avgstage.Online)(nil)
)

// trainer returns the trainer of the run, with its first stage.
func (r *runner) trainer() (*trainer.Trainer, error) {
	c := trainer.Config{
		Job: r.job, Tally: r.tally, Files: r.files, Provenance: r.provenance, Log: r.cfg.Diagnostics.Log, Passes: r.cfg.maxPasses(),
	}
	var first trainer.Stage
	var err error
	switch {
	case r.cfg.Hybrid != nil && !r.cfg.TestOnly:
		c.Then = r.second
		if r.cfg.Average.on() {
			first, err = r.averaging(r.cfg.Hybrid.SGDPasses)
		} else {
			first, err = r.online(r.cfg.Hybrid.SGDPasses, true)
		}
	case r.cfg.LDA.Topics > 0:
		first, err = r.topics()
	case r.cfg.Batch.BFGS && !r.cfg.TestOnly:
		var w []float32
		if w, err = r.weights(); err != nil {
			return nil, err
		}
		first, err = r.batch(w, r.cfg.Passes)
	case r.cfg.OAA.Classes > 0:
		var classes *sgdstage.Classes
		if classes, err = r.classes(); err == nil {
			if first = classes; r.cfg.Malt.on() {
				first = r.async(classes, &classes.Online)
			}
		}
	case r.cfg.Learner.on():
		first, err = r.reduced()
	case r.cfg.Average.on():
		first, err = r.averaging(r.cfg.Passes)
	default:
		var online *sgdstage.Online
		if online, err = r.online(r.cfg.Passes, true); err == nil {
			if first = online; r.cfg.Malt.on() {
				first = r.async(online, online)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return trainer.New(c, first), nil
}

// online returns the stage of SGD with simple labels, for training or testing. steps reports whether it makes its passes
// itself, so that its learner may be compact.
func (r *runner) online(passes int, steps bool) (*sgdstage.Online, error) {
	c, rule := &r.cfg, r.rule
	// A test that writes no model needs no sums of the rule, whose slots would be read from the
	// file in vain.
	if c.TestOnly && !c.keeps() {
		rule, c.Model.PredictOnly = forTesting(rule), true
	}
	compact := steps && c.compact(rule)
	learner, err := newLearner(rule, r.tally.Loss, compact)
	if err != nil {
		return nil, err
	}
	if compact {
		c.startConstantOf(learner)
	} else { // vw draws the initial weights before it loads a model over them.
		c.startWeights(learner.Weights(), learner.Stride(), rule)
		c.startConstant(learner.Weights(), learner.Stride())
	}
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

// onlineConfig returns the settings of a stage of online learning. The model must be loaded
// before, since it sets the base of the sums.
func (r *runner) onlineConfig(rule sgd.Config, passes int) sgdstage.OnlineConfig {
	return sgdstage.OnlineConfig{
		Read: r.read, Tally: r.tally, Job: r.job, Audit: r.audit, Models: r.models,
		Rule: rule, Base: r.models.Base, Length: r.cfg.passLength(), Bare: r.cfg.Model.PredictOnly, Passes: passes,
		Threads: r.cfg.threads(), Replicas: r.replicas(),
		Reweighed: len(r.cfg.Data.ClassWeights) > 0 && r.cfg.FTRL.Rule == ftrl.None,
	}
}

// replicas returns the replicas of SGD.Threads. A test has none: it changes no weights, so that threads may share them.
func (r *runner) replicas() sgdstage.Replicas {
	c := &r.cfg
	if c.SGD.Threads <= 1 || c.TestOnly {
		return sgdstage.Replicas{}
	}
	v := sgdstage.Replicas{N: c.SGD.Threads, Blank: r.initial == nil && c.Model.Start == (sgd.Start{}) && c.Features.Constant == 0 && c.SGD.InitialT.Or(0) == 0}
	switch _, every := c.Average.amounts(new(usage.Faults)); {
	case every.Amount.N > 0:
		v.Every = every.Amount.N
	case c.Average.Every != "":
		v.Every = math.MaxInt // pass
	}
	return v
}

// threads returns the number of threads that share one table of weights.
func (c *Config) threads() int {
	if c.TestOnly {
		return max(c.SGD.Hogwild, c.SGD.Threads)
	}
	return c.SGD.Hogwild
}

// load reads the loaded model, if there is one, into a learner, and its counters into the run.
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

// goOn continues from the sums of the loaded model and its --initial_t and, with
// --preserve_performance_counters, also from its counters.
func (r *runner) goOn() {
	if !r.initial.resume {
		return
	}
	r.models.Base = r.initial.base
	r.models.InitialT = &r.initial.dec.Resume.InitialT
	if r.cfg.Model.PreserveCounters && !r.cfg.TestOnly {
		r.tally.Preserve(r.initial.dec.Resume)
	}
}

// classes returns the stage of one against all by SGD, for training or testing.
func (r *runner) classes() (*sgdstage.Classes, error) {
	c, rule := &r.cfg, r.rule
	if c.TestOnly && !c.keeps() {
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
	c.startConstant(whole.Weights(), whole.Stride())
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

// chooser returns a chooser with these learners, whose weights lie in table.
func (r *runner) chooser(o *sgdstage.OnlineConfig, learner *oaa.Learner, table output.Weighted) *sgdstage.Chooser {
	c := &r.cfg
	m := sgdstage.NewChooser(o, sgdstage.ChooserConfig{
		Probabilities: c.OAA.Probabilities, Scores: c.OAA.Scores, Linked: c.Loss.Link != "identity", Sampled: c.OAA.Subsample > 0,
	}, learner, table, c.classLabels(feature.ClassLabels, c.OAA.Classes))
	r.fromZero = m.FromZero
	return m
}

// weights returns the weights at which a batch solver starts: those of the loaded model, the
// centres of the regulariser, or those that are drawn (0 by default). As in vw, batch solvers
// ignore --constant.
func (r *runner) weights() ([]float32, error) {
	c := &r.cfg
	w := make([]float32, 1<<c.Features.Bits)
	const pitch = 4 // floats per weight in vw's bfgs.cc, by which it draws weights
	c.Model.Start.Seed = c.Model.Start.Fill(w, 1, pitch)
	if r.initial == nil {
		copy(w, r.prior.Mean)
		return w, nil
	}
	err := r.initial.weights(model.View{Data: w})
	(&model.Regressor{Resume: r.initial.dec.Resume, Weights: model.View{Data: w}}).Settle()
	return w, err
}

// batch returns the stage of L-BFGS or conjugate gradients. It starts at the weights w and
// changes them.
func (r *runner) batch(w []float32, passes int) (*batchstage.Batch, error) {
	c := &r.cfg
	b := batchstage.BatchConfig{
		Read: r.read, Tally: r.tally, Job: r.job, Console: r.console, Models: r.models,
		Config: c.solver(r.prior), Passes: passes,
	}
	if check := c.CheckMemory; check != nil {
		b.Room = func(weights int) error { return check(Total(c.batchTables(4 * uint64(weights)))) }
	}
	if c.regularizes() {
		b.Keeps = &training.Regularizers{Prior: r.prior, L2: float32(c.Reg.L2), Mixes: c.Batch.ConjugateGradient, Hessian: c.keepsHessian()}
	}
	return batchstage.NewBatch(b, w)
}

// second makes the second stage of the hybrid. The hybrid is equivalent to two runs of vw: SGD,
// then L-BFGS from its model. Only the weights and the label range pass from one to the other.
// If left is nil, a state with both follows.
func (r *runner) second(left trainer.Stage) (trainer.Stage, error) {
	w := make([]float32, 1<<r.cfg.Features.Bits)
	if left != nil {
		out, err := left.Finish()
		if err != nil {
			return nil, err
		}
		w = plain(out.Model)
		// plain returns the table itself if a weight is one float. L-BFGS would change it.
		if r.job.Keep && out.Model.Weights.Stride <= 1 {
			w = slices.Clone(w) // other ranks may still ask for the results of the last step
		}
	}
	r.tally.ForgetBest()
	if err := r.console.Print(optim.AppendHeader(nil)); err != nil {
		return nil, err
	}
	return r.batch(w, r.cfg.Hybrid.LBFGSPasses)
}

// ftrl returns the stage of the FTRL family, for training or testing.
func (r *runner) ftrl() (*sgdstage.FTRL, error) {
	c := &r.cfg
	f := ftrl.Config{Rule: c.FTRL.Rule, Bits: c.Features.Bits, FreeGrad: c.FTRL.FreeGrad}
	f.FreeGrad.Wealth = cmp.Or(f.FreeGrad.Wealth, 1)
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
			learner.SetSums(ftrl.Sums{Norm: r.models.Base.Nsx, TotalWeight: r.models.Base.TotalWeight})
		}
	}
	o := r.onlineConfig(r.rule, c.Passes)
	if classes == nil {
		return sgdstage.NewFTRL(o, learner, nil), r.console.OpenTable()
	}
	return sgdstage.NewFTRL(o, learner, r.chooser(&o, classes.Learner, classes.Whole)), r.console.OpenTable()
}
