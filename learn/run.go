// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature/stream"
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
// that it wrote is there. On a cluster every rank gets the same root cause.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r, err := newRunner(ctx, cfg.withDefaults())
	if err != nil {
		return nil, err
	}
	report, err := r.run(ctx)
	if err != nil {
		r.session.group.Fail(ctx, err)
	}
	return report, errors.Join(err, r.close())
}

// runner is a run from its first line of talk to its last.
type runner struct {
	session *session
	rule    sgd.Config
	logLoss float64  // of --oaa --probabilities; NaN: none
	initial *initial // the loaded model; nil: none

	prior                   descent.Penalty    // --input_feature_regularizer; zero: none
	model                   trained            // what the run ends with
	regularizer             *model.Regularizer // likewise; nil: not asked for
	modelFile, readableFile Output             // where it goes; nil: nowhere
	invertedFile            Output             // --invert_hash; nil: nowhere
	metricsFile             Output             // --metrics_file; nil: none

	regularizerFile, regularizerText Output
}

func newRunner(ctx context.Context, cfg Config) (_ *runner, err error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	r := &runner{logLoss: math.NaN(), session: &session{log: cfg.Log}}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if cfg.InitialModel != "" || cfg.FeatureMask != "" {
		if r.initial, err = loadModel(&cfg); err != nil {
			return nil, err
		}
	}
	var labels *loss.Range // of what is loaded
	if r.initial != nil {
		labels = &r.initial.labels
	}
	if cfg.InputRegularizer != "" {
		var seen loss.Range
		if r.prior, seen, err = loadRegularizer(&cfg); err != nil {
			return nil, err
		}
		labels = &seen
	}
	if (cfg.Hybrid != nil || cfg.keepsHessian()) && !cfg.HoldoutAsked {
		cfg.HoldoutOff = true
	}
	if len(cfg.Valid) > 0 {
		cfg.HoldoutOff = true // one set to stop by is enough
	}
	s := r.session
	s.cfg = cfg
	if s.loss, err = cfg.newLoss(); err != nil {
		return nil, err
	}
	s.odd = newOddLabels(s.loss)
	if s.link, err = loss.NewLink(cfg.Link); err != nil {
		return nil, err
	}
	s.seen, s.fixed = cfg.labelRange(s.loss, labels)
	s.stats = newStats()
	s.holdout = newHoldout(&cfg)
	s.begun = time.Now()
	if r.rule, err = cfg.updateRule(); err != nil {
		return nil, err
	}
	talk := cfg.Talk
	if cfg.Quiet {
		talk = nil
	}
	if s.table, err = newTable(talk, cfg.Progress); err != nil {
		return nil, err
	}
	s.audit = newAudit(&cfg, r.rule.Adaptive && !cfg.TestOnly && cfg.FTRL == ftrl.None)
	if s.data, err = stream.NewDataset(dataset(&cfg)); err != nil {
		return nil, err
	}
	if s.measures, err = newMeasures(&cfg); err != nil {
		return nil, err
	}
	if s.valid, err = newValidation(&cfg); err != nil {
		return nil, err
	}
	if cfg.Predictions != "" {
		if s.preds, err = newPredictions(cfg.Create, cfg.Predictions); err != nil {
			return nil, err
		}
	}
	if cfg.RawPredictions != "" {
		if s.raw, err = newPredictions(cfg.Create, cfg.RawPredictions); err != nil {
			return nil, err
		}
	}
	if err = r.openModels(); err != nil {
		return nil, err
	}
	if err = r.join(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// join makes this process a rank of its job.
func (r *runner) join(ctx context.Context) (err error) {
	s := r.session
	if s.cfg.Cluster == nil {
		s.group = allreduce.Local()
		return nil
	}
	c := *s.cfg.Cluster
	c.Options = s.cfg.options(r.rule)
	if c.Log == nil {
		c.Log = s.log
	}
	s.group, err = allreduce.Join(ctx, c)
	return err
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
		Cache:     cfg.Cache,
		KillCache: cfg.KillCache,
		Passes:    cfg.maxPasses(),
	}
	for _, in := range cfg.Inputs {
		d.Sources = append(d.Sources, in.source())
	}
	return d
}

func (r *runner) run(ctx context.Context) (*Report, error) {
	s := r.session
	if err := r.banner().print(s.table.out); err != nil {
		return nil, err
	}
	var err error
	switch {
	case s.cfg.Hybrid != nil && !s.cfg.TestOnly:
		err = r.hybrid(ctx)
	case s.cfg.BFGS && !s.cfg.TestOnly:
		var w []float32
		if w, err = r.weights(); err == nil {
			err = r.batch(ctx, w, s.cfg.Passes)
		}
	case s.cfg.FTRL != ftrl.None:
		err = r.follow(ctx)
	case s.cfg.OAA > 0:
		err = r.classes(ctx)
	default:
		err = r.online(ctx, s.cfg.Passes)
	}
	if err := errors.Join(err, s.audit.flush()); err != nil {
		return nil, err
	}
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
		Holdout: s.holdout.on, HoldoutLoss: math.NaN(), Loss: s.loss, LogLoss: r.logLoss,
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
	if err := s.say([]byte(report.Summary())); err != nil {
		return nil, err
	}
	return report, s.say(s.measures.summary())
}

// online trains by SGD, or tests.
func (r *runner) online(ctx context.Context, passes int) error {
	s := r.session
	rule := r.rule
	if s.cfg.TestOnly && !s.cfg.keeps() {
		rule, s.cfg.PredictOnly = forTesting(rule), true
	}
	learner, err := sgd.New(rule, s.loss)
	if err != nil {
		return err
	}
	s.cfg.startWeights(learner.Weights(), learner.Stride(), rule)
	s.cfg.startConstant(learner.Weights(), learner.Stride())
	if r.initial != nil {
		if err := r.initial.intoLearner(learner, s, rule); err != nil {
			return err
		}
	} else {
		s.cfg.startStates(learner)
	}
	if !s.cfg.BFGS {
		if err := s.table.head(); err != nil {
			return err
		}
	}
	m := &online{s: s, learner: learner, rule: rule, passes: passes}
	m.made = func() trained { return onlineModel(s, learner, rule) }
	m.judge = s.judgeBy(m.predict)
	if err := s.group.Run(ctx, m); err != nil {
		return err
	}
	r.model = m.finish()
	return nil
}

// weights are where a batch solver starts: at the loaded model, or at zero.
func (r *runner) weights() ([]float32, error) {
	w := make([]float32, 1<<r.session.cfg.Bits)
	const pitch = 4 // of vw's L-BFGS
	c := &r.session.cfg
	c.Start.Seed = c.Start.Fill(w, 1, pitch)
	c.startConstant(w, 1)
	if r.initial == nil {
		copy(w, r.prior.Mean)
		return w, nil
	}
	return w, r.initial.weights(model.View{Data: w})
}

// batch trains by L-BFGS or conjugate gradients from the weights w, which it
// changes.
func (r *runner) batch(ctx context.Context, w []float32, passes int) error {
	s := r.session
	if i := vector.FirstWild(w); i >= 0 {
		return s.divergence(fmt.Errorf("%s cannot start at a weight of %v (number %d): the training before it diverged; repeat it with a lower --learning_rate",
			s.cfg.solverName(), w[i], i))
	}
	solver, err := s.cfg.newSolver(w, passes, r.prior)
	if err != nil {
		return err
	}
	s.table.next = math.Inf(1) // no rows of progress: the trace takes their place
	m := &batch{s: s, solver: solver, sums: solver.InPlace(), acc: summation{s: s}, hessian: s.cfg.keepsHessian()}
	if err := s.group.Run(ctx, m); err != nil {
		return err
	}
	if err := m.finish(); err != nil {
		return err
	}
	r.model = batchModel(s, solver.Weights())
	if s.cfg.keepsHessian() {
		r.regularizer = s.regularizer(solver.Weights(), m.sums.Diagonal, r.prior)
	}
	return nil
}

// hybrid is vw's two calls in one process: SGD, then L-BFGS from its weights.
// Nothing but the weights and the label range goes from one to the other.
func (r *runner) hybrid(ctx context.Context) error {
	s := r.session
	if err := r.online(ctx, s.cfg.Hybrid.SGDPasses); err != nil {
		return err
	}
	w := r.model.plain()
	r.model = trained{}
	s.silent = true // -p has phase 1's progressive predictions
	s.holdout = newHoldout(&s.cfg)
	if s.valid != nil {
		s.valid.stop = newStop(&s.cfg)
	}
	if err := s.say(optim.AppendHeader(nil)); err != nil {
		return err
	}
	return r.batch(ctx, w, s.cfg.Hybrid.LBFGSPasses)
}

// close ends the group and removes what a failed run has written.
func (r *runner) close() error {
	s := r.session
	s.preds.abort()
	s.raw.abort()
	r.abortModels()
	if s.group == nil {
		return nil
	}
	return s.group.Close()
}
