// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/learn/internal/vwtext"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/sgd"
	"github.com/gvw-project/gvw/optim/vector"
)

// Run trains, or tests, as cfg says. When it returns without error, every file
// that cfg names is complete under its name; when it returns an error, none
// that it wrote is there. On a cluster every rank gets the same root cause. A
// *allreduce.FinishedError says that the job has ended without this attempt of the rank:
// with Config.Cluster.RunDir, all that it owes is there then. A *allreduce.LateError says that the job
// goes on without this rank, which owes nothing.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r, err := newRunner(cfg.withDefaults())
	if err != nil {
		return nil, err
	}
	report, err := r.take(ctx)
	return report, errors.Join(err, r.close())
}

// take joins the job and runs. A rank that comes when all is over has less to do.
func (r *runner) take(ctx context.Context) (*Report, error) {
	if err := r.join(ctx); err != nil {
		_, err = r.late(err)
		return nil, err
	}
	if s := r.session; s.late {
		err := error(&allreduce.LateError{Job: s.cfg.Cluster.Join.Job, Rank: s.rank})
		if len(r.owes()) > 0 { // what the others will have come to
			_, err = r.late(s.group.Ready(ctx, allreduce.Shard{}))
		}
		return nil, err
	}
	report, err := r.run(ctx)
	if err == nil {
		return report, nil
	}
	over, err := r.late(err)
	if !over {
		r.session.group.Fail(ctx, parting(err))
	}
	return nil, err
}

// parting is err as the group is told. A file system that hangs here may work on another
// host: in a job that recovers this is the loss of an attempt.
func parting(err error) error {
	if errors.Is(err, hdfsio.ErrHung) {
		return hungError{err}
	}
	return err
}

type hungError struct{ error }

func (e hungError) Unwrap() error        { return e.error }
func (e hungError) Is(target error) bool { return target == allreduce.ErrLeaving }

// runner is a run from its first line of talk to its last.
type runner struct {
	session *session
	rule    sgd.Config
	logLoss float64  // of --oaa --probabilities; NaN: none
	initial *initial // the loaded model; nil: none

	prior                   descent.Penalty // --input_feature_regularizer; zero: none
	model                   trained         // what the run ends with
	regularizers            *regularizers   // likewise; nil: none
	modelFile, readableFile Output          // where it goes; nil: nowhere
	invertedFile            Output          // --invert_hash; nil: nowhere
	metricsFile             Output          // --metrics_file; nil: none
	extraMetricsFile        Output          // --extra_metrics; nil: none
	followed                ftrl.Sums       // what a learner of the FTRL family ends with, or a tested model has

	regularizerFile, regularizerText Output
	unheld                           bool // output regularisers have switched the holdout set off
}

func newRunner(cfg Config) (_ *runner, err error) {
	if cfg.Diagnostics.Log == nil {
		cfg.Diagnostics.Log = slog.New(slog.DiscardHandler)
	}
	held := &hold{job: cfg.Cluster.Join != nil}
	cfg.Diagnostics.Log = held.logger(cfg.Diagnostics.Log)
	r := &runner{logLoss: math.NaN(), session: &session{log: cfg.Diagnostics.Log, hold: held, group: cfg.Cluster.Group}}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	basis := newBasis()
	if cfg.Model.Initial != "" || cfg.Model.FeatureMask != "" {
		if r.initial, err = loadModel(&cfg, basis); err != nil {
			return nil, err
		}
	}
	var labels *loss.Range // of what is loaded
	if r.initial != nil {
		labels = &r.initial.labels
	}
	if cfg.Reg.Input != "" {
		var seen loss.Range
		if r.prior, seen, err = loadRegularizer(&cfg, basis); err != nil {
			return nil, err
		}
		labels = &seen
	}
	if err = cfg.loadDictionaries(); err != nil {
		return nil, err
	}
	r.unheld = cfg.settle()
	s := r.session
	s.cfg, s.basis = cfg, basis
	s.lease()
	if s.loss, err = cfg.newLoss(); err != nil {
		return nil, err
	}
	s.odd = cfg.newOddLabels(s.loss)
	if s.link, err = loss.NewLink(cfg.Loss.Link); err != nil {
		return nil, err
	}
	s.seen, s.fixed = cfg.labelRange(s.loss, labels)
	s.stats = vwtext.NewStats()
	s.holdout = newHoldout(&cfg)
	s.begun = time.Now()
	if r.rule, err = cfg.updateRule(); err != nil {
		return nil, err
	}
	if cfg.CheckMemory != nil {
		need, err := cfg.Tables()
		if err == nil {
			err = cfg.CheckMemory(need)
		}
		if err != nil {
			return nil, err
		}
	}
	talk, progress := cfg.Diagnostics.Writer, cfg.Diagnostics.Progress
	if cfg.Diagnostics.Quiet {
		talk, progress = nil, ""
	}
	if s.table, err = vwtext.NewTable(talk, progress); err != nil {
		return nil, usage("--progress", "%v", err)
	}
	s.audit = newAudit(&cfg, r.rule.Adaptive && !cfg.TestOnly && cfg.FTRL.Rule == ftrl.None)
	if s.data, err = stream.NewDataset(dataset(&cfg)); err != nil {
		return nil, err
	}
	if s.measures, err = newMeasures(&cfg); err != nil {
		return nil, err
	}
	if s.valid, err = newValidation(&cfg); err != nil {
		return nil, err
	}
	if cfg.Output.Predictions != "" {
		if s.preds, err = newPredictions(s.cfg.Output.Create, cfg.Output.Predictions); err != nil {
			return nil, err
		}
	}
	if cfg.Output.RawPredictions != "" {
		if s.raw, err = newPredictions(s.cfg.Output.Create, cfg.Output.RawPredictions); err != nil {
			return nil, err
		}
	}
	if err = r.openModels(); err != nil {
		return nil, err
	}
	return r, nil
}

// join makes this process a rank of its job.
func (r *runner) join(ctx context.Context) (err error) {
	s := r.session
	if s.cfg.Cluster.Join == nil {
		s.group = allreduce.Local()
		s.total = 1
		return nil
	}
	c := s.cfg.member(r.rule)
	s.rank, s.total = c.Rank, c.Total
	if keep := s.cfg.Cluster.RunDir; keep != nil {
		if err := keep.Begin(fmt.Sprintf("total=%d %s", c.Total, c.Options)); err != nil {
			return err
		}
	}
	if s.group == nil { // else it has joined before
		s.group, err = allreduce.Join(ctx, c)
	}
	s.late = err == nil && s.group.Late()
	return err
}

// member is how a process joins the job.
func (c *Config) member(rule sgd.Config) allreduce.Config {
	m := *c.Cluster.Join
	m.Options = c.options(rule)
	if m.Log == nil {
		m.Log = c.Diagnostics.Log
	}
	return m
}

// settle applies the precedence of options, which is vw's, once those of a loaded model
// are known. Without a holdout option the hybrid holds nothing out, and a validation set
// takes the place of the holdout set. settle reports whether, as in vw, output
// regularisers switch a holdout set off.
func (c *Config) settle() (unheld bool) {
	if c.OAA.Classes > 0 && c.OAA.Probabilities {
		c.OAA.Scores, c.Loss.Link = false, "identity"
	}
	if c.OAA.Subsample >= c.OAA.Classes {
		c.OAA.Subsample = 0
	}
	if c.Hybrid != nil && !c.Holdout.Asked || len(c.Holdout.Valid) > 0 {
		c.Holdout.Off = true
	}
	unheld = c.regularizes() && newHoldout(c).on
	c.Holdout.Off = c.Holdout.Off || unheld
	return unheld
}

// maxPasses is how many passes there are, if none stops early.
func (c *Config) maxPasses() int {
	if c.Hybrid != nil {
		return c.Hybrid.SGDPasses + c.Hybrid.LBFGSPasses
	}
	return c.Passes
}

// dataset says how the data is to be read.
func dataset(cfg *Config) stream.Config {
	d := stream.Config{
		Feature:   cfg.features(),
		Format:    cfg.DataFormat(),
		Cache:     cfg.Data.Cache,
		Mode:      cfg.Data.CacheMode,
		Calls:     cfg.Data.CacheCalls,
		KillCache: cfg.Data.KillCache,
		Passes:    cfg.maxPasses(),
	}
	for _, in := range cfg.Data.Inputs {
		d.Sources = append(d.Sources, in.source())
	}
	return d
}

func (r *runner) run(ctx context.Context) (*Report, error) {
	s := r.session
	s.otherLoss = r.otherLoss()
	if !s.cfg.TestOnly {
		s.noteLoss()
	}
	if err := r.banner().print(s.table.Out); err != nil {
		return nil, err
	}
	if err := errors.Join(r.train(ctx), s.audit.flush()); err != nil {
		return nil, err
	}
	return r.end(ctx)
}

// train leaves the model in r.
func (r *runner) train(ctx context.Context) error {
	if r.initial != nil {
		r.followed = ftrl.Sums{Norm: r.initial.base.Nsx, TotalWeight: r.initial.base.TotalWeight}
	}
	if r.session.cfg.follows() {
		return r.follow(ctx)
	}
	m, err := r.course()
	if err != nil {
		return err
	}
	if err := r.session.group.Run(ctx, m); err != nil {
		return err
	}
	return m.stage.finish(r)
}

// course is the machine that does what is asked for.
func (r *runner) course() (*course, error) {
	s := r.session
	switch {
	case s.cfg.Hybrid != nil && !s.cfg.TestOnly:
		m, err := r.online(s.cfg.Hybrid.SGDPasses)
		return newCourse(s, m, r.second), err
	case s.cfg.Batch.BFGS && !s.cfg.TestOnly:
		w, err := r.weights()
		if err != nil {
			return nil, err
		}
		m, err := r.batch(w, s.cfg.Passes)
		return newCourse(s, m, nil), err
	case s.cfg.OAA.Classes > 0:
		m, err := r.classes()
		return newCourse(s, m, nil), err
	}
	m, err := r.online(s.cfg.Passes)
	return newCourse(s, m, nil), err
}

// end delivers what the run owes, and sums it up.
func (r *runner) end(ctx context.Context) (*Report, error) {
	s := r.session
	if s.group.Stream() {
		if err := s.shareStats(ctx); err != nil {
			return nil, err
		}
	}
	digest, err := r.deliver(ctx)
	if err != nil {
		return nil, err
	}
	report := &Report{
		Stats: s.all.Stats, Passes: s.passes, Digest: digest,
		Holdout: s.holdout.on, HoldoutLoss: math.NaN(), Loss: s.loss, LogLoss: r.logLoss, Range: s.seen,
		NoBestConstant: s.cfg.Diagnostics.NoBestConstant && s.cfg.OAA.Classes == 0,
	}
	if m := s.measures.last; m != nil {
		report.Measures = m.Values
	}
	if s.holdout.known {
		report.HoldoutLoss = s.holdout.best
	}
	if err := s.sayValid(); err != nil {
		return nil, err
	}
	err = s.say([]byte(report.Summary()))
	s.hold.release()
	if err != nil {
		return nil, err
	}
	if err := s.say(s.trainingSummary()); err != nil {
		return nil, err
	}
	if err := s.say(s.measures.summary()); err != nil {
		return nil, err
	}
	s.noteLoss()
	return report, nil
}

// online is training by SGD, or testing.
func (r *runner) online(passes int) (*online, error) {
	s := r.session
	rule := r.rule
	if s.cfg.TestOnly && !s.cfg.keeps() {
		rule, s.cfg.Model.PredictOnly = forTesting(rule), true
	}
	learner, err := sgd.New(rule, s.loss)
	if err != nil {
		return nil, err
	}
	s.cfg.startWeights(learner.Weights(), learner.Stride(), rule)
	s.cfg.startConstant(learner.Weights(), learner.Stride())
	if r.initial != nil {
		if err := r.initial.intoLearner(learner, s, rule); err != nil {
			return nil, err
		}
	}
	s.cfg.startStates(learner)
	if !s.cfg.Batch.BFGS {
		if err := s.openTable(); err != nil {
			return nil, err
		}
	}
	m := &online{s: s, learner: learner, rule: rule, passes: passes, use: learner.Use, kept: new(keptTables)}
	m.made = func() trained { return onlineModel(s, learner, rule) }
	m.judge = s.judgeBy(m.predict)
	return m, nil
}

// weights are where a batch solver starts: at the loaded model, at the weights drawn, or
// at zero. As in vw it has no use for --constant.
func (r *runner) weights() ([]float32, error) {
	w := make([]float32, 1<<r.session.cfg.Features.Bits)
	const pitch = 4 // of vw's L-BFGS
	c := &r.session.cfg
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
	s := r.session
	if i := vector.FirstWild(w); i >= 0 {
		return nil, s.divergence(fmt.Errorf("%s cannot start at a weight of %v (number %d): the training before it diverged; repeat it with a lower --learning_rate",
			s.cfg.solverName(), w[i], i))
	}
	solver, err := s.cfg.newSolver(w, passes, r.prior)
	if err != nil {
		return nil, err
	}
	s.table.Next = math.Inf(1) // no rows of progress: the trace takes their place
	return &batch{
		s: s, solver: solver, passes: passes, prior: r.prior,
		acc: summation{s: s}, hessian: s.cfg.keepsHessian(),
	}, nil
}

// second is the hybrid's second stage, which makes it vw's two calls in one
// process: SGD, then L-BFGS from its weights. Nothing but the weights and the
// label range goes from one to the other. left nil: a state with them follows.
func (r *runner) second(left stage) (stage, error) {
	s := r.session
	w := make([]float32, 1<<s.cfg.Features.Bits)
	if left != nil {
		if err := left.finish(r); err != nil {
			return nil, err
		}
		w = r.model.plain()
		if s.keep && r.model.reg.Weights.Stride == 1 {
			w = slices.Clone(w) // others may still ask for the results of the last step
		}
		r.model = trained{}
	}
	s.silent = true // -p has phase 1's progressive predictions
	s.holdout = newHoldout(&s.cfg)
	if s.valid != nil {
		s.valid.stop = newStop(&s.cfg)
	}
	if err := s.say(optim.AppendHeader(nil)); err != nil {
		return nil, err
	}
	return r.batch(w, s.cfg.Hybrid.LBFGSPasses)
}

// close ends the group and removes what a failed run has written.
func (r *runner) close() error {
	s := r.session
	s.hold.release()
	var err error
	if s.group != nil {
		err = s.group.Close() // first: others wait for this rank, and the file system may hang
	}
	s.preds.abort()
	s.raw.abort()
	r.abortModels()
	return err
}
