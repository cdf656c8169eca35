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
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/learn/internal/vwtext"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/sgd"
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
	if r.job.late {
		err := error(&allreduce.LateError{Job: r.cfg.Cluster.Join.Job, Rank: r.job.rank})
		if len(r.owes()) > 0 { // what the others will have come to
			_, err = r.late(r.job.group.Ready(ctx, allreduce.Shard{}))
		}
		return nil, err
	}
	report, err := r.run(ctx)
	if err == nil {
		return report, nil
	}
	over, err := r.late(err)
	if !over {
		r.job.group.Fail(ctx, parting(err))
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
	cfg    Config                            // with defaults, and with what the loaded model brought
	create func(name string) (Output, error) // of the configuration, not subject to the lease

	read    *reader
	tally   *Tally
	job     *Job
	console *console
	files   *predictionFiles
	audit   *audit // --audit and --invert_hash; nil: neither
	models  *modelSource
	origin  origin

	rule          sgd.Config
	initial       *initial        // the loaded model; nil: none
	prior         descent.Penalty // --input_feature_regularizer; zero: none
	otherLossNote string          // a note that the loaded model was trained with another loss; "": none
	unheld        bool            // output regularisers have switched the holdout set off
	outcome       outcome         // what the run ends with

	modelFile, readableFile Output // where the model goes; nil: nowhere
	invertedFile            Output // --invert_hash; nil: nowhere
	metricsFile             Output // --metrics_file; nil: none
	extraMetricsFile        Output // --extra_metrics; nil: none

	regularizerFile, regularizerText Output
}

func newRunner(cfg Config) (_ *runner, err error) {
	if cfg.Diagnostics.Log == nil {
		cfg.Diagnostics.Log = slog.New(slog.DiscardHandler)
	}
	held := &hold{job: cfg.Cluster.Join != nil}
	cfg.Diagnostics.Log = held.logger(cfg.Diagnostics.Log)
	r := &runner{
		create:  cfg.Output.Create,
		job:     &Job{group: cfg.Cluster.Group, log: cfg.Diagnostics.Log},
		console: &console{hold: held},
		files:   &predictionFiles{},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	r.origin.basis = newBasis()
	if cfg.Model.Initial != "" || cfg.Model.FeatureMask != "" {
		if r.initial, err = loadModel(&cfg, r.origin.basis); err != nil {
			return nil, err
		}
	}
	var labels *loss.Range // of what is loaded
	if r.initial != nil {
		labels = &r.initial.labels
	}
	if cfg.Reg.Input != "" {
		var seen loss.Range
		if r.prior, seen, err = loadRegularizer(&cfg, r.origin.basis); err != nil {
			return nil, err
		}
		labels = &seen
	}
	if err = cfg.loadDictionaries(); err != nil {
		return nil, err
	}
	r.unheld = cfg.settle()
	cfg.Output.Create = underLease(cfg.Output.Create, r.job.lease)
	r.cfg = cfg
	if err = r.newTally(labels); err != nil {
		return nil, err
	}
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
	if r.console.table, err = vwtext.NewTable(talk, progress); err != nil {
		return nil, usage("--progress", "%v", err)
	}
	r.audit = cfg.newAudit(r.rule.Adaptive && !cfg.TestOnly && cfg.FTRL.Rule == ftrl.None)
	if r.origin.data, err = stream.NewDataset(dataset(&cfg)); err != nil {
		return nil, err
	}
	if r.tally.measures, err = cfg.newMeasures(r.tally.holdout); err != nil {
		return nil, err
	}
	if r.tally.valid, err = cfg.newValidation(); err != nil {
		return nil, err
	}
	r.read = r.newReader(r.origin.data)
	r.job.shard, r.job.admit = r.origin.data.Shard, r.admit
	r.models = &modelSource{cfg: &r.cfg, job: r.job, tally: r.tally, create: r.create}
	if cfg.Output.Predictions != "" {
		if r.files.predictions, err = newPredictions(cfg.Output.Create, cfg.Output.Predictions); err != nil {
			return nil, err
		}
	}
	if cfg.Output.RawPredictions != "" {
		if r.files.raw, err = newPredictions(cfg.Output.Create, cfg.Output.RawPredictions); err != nil {
			return nil, err
		}
	}
	if err = r.openModels(); err != nil {
		return nil, err
	}
	return r, nil
}

// newTally sets r.tally, but for the metrics. labels is the label range of what is loaded;
// nil: nothing is.
func (r *runner) newTally(labels *loss.Range) (err error) {
	c := &r.cfg
	held := newHoldoutSet(c)
	t := &Tally{
		testOnly: c.TestOnly, binary: c.Loss.Binary, holdout: held.on, classWeights: c.Data.ClassWeights,
		calls: calls{predictsFirst: c.predictsFirst()},
		log:   c.Diagnostics.Log, console: r.console, files: r.files, job: r.job,
		stats:  vwtext.NewStats(),
		stop:   earlyStop{on: held.on, patience: c.Holdout.EarlyTerminate},
		passed: passLog{out: c.Metrics.PassLog, begun: time.Now()},
	}
	if t.loss, err = c.newLoss(); err != nil {
		return err
	}
	t.odd = c.newOddLabels(t.loss)
	if t.link, err = loss.NewLink(c.Loss.Link); err != nil {
		return err
	}
	t.seen, t.fixed = c.labelRange(t.loss, labels)
	r.tally = t
	return nil
}

// newReader returns the reader of the run's data.
func (r *runner) newReader(data *stream.Dataset) *reader {
	c := &r.cfg
	read := &reader{
		data: data, name: c.dataName(), holdout: newHoldoutSet(c), log: c.Diagnostics.Log,
		limit: c.passLength().limit(c.Data.Examples),
		flush: func() error { return errors.Join(r.files.flush(), r.audit.flush()) },
	}
	if c.Data.Shuffle {
		read.shuffle = &shuffleConfig{seed: c.Data.ShuffleSeed, memory: c.Data.ShuffleMemory, rank: func() int { return r.job.rank }}
	}
	if c.Diagnostics.Watch != nil {
		read.watch = func(read, of int) {
			c.Diagnostics.Watch(Progress{Pass: r.tally.passes + 1, Passes: c.maxPasses(), Examples: read, Of: of})
		}
	}
	return read
}

// join makes this process a rank of its job.
func (r *runner) join(ctx context.Context) (err error) {
	j := r.job
	if r.cfg.Cluster.Join == nil {
		j.group = allreduce.Local()
		j.total = 1
		return nil
	}
	c := r.cfg.member(r.rule)
	j.rank, j.total = c.Rank, c.Total
	if keep := r.cfg.Cluster.RunDir; keep != nil {
		if err := keep.Begin(fmt.Sprintf("total=%d %s", c.Total, c.Options)); err != nil {
			return err
		}
	}
	if j.group == nil { // else it has joined before
		j.group, err = allreduce.Join(ctx, c)
	}
	j.late = err == nil && j.group.Late()
	return err
}

// admit says whether the job that has just been wired is one to take part in.
func (r *runner) admit() error {
	if err := r.over(); err != nil || !r.job.group.Stream() {
		return err
	}
	return r.cfg.checkStream()
}

// checkStream refuses what vw's sequence of calls has no place for.
func (c *Config) checkStream() error {
	switch {
	case len(c.Metrics.Measures) > 0:
		return usage("--metrics", "a job with vw workers has no place for them in its sequence of calls: measure the model afterwards, with -t -i")
	case len(c.Holdout.Valid) > 0:
		return usage("--valid", "a job with vw workers has no place for it in its sequence of calls: use the holdout options")
	}
	if c.Hybrid != nil {
		return usage("--hybrid", "a job with vw workers cannot run both phases in one process, since vw cannot: "+
			"run --passes P -f m first, then --bfgs --passes Q -i m, as with vw")
	}
	if c.regularizes() && c.Batch.BFGS {
		return usage("--output_feature_regularizer_binary", "a job with vw workers cannot: vw adds something else there at the end of each pass; let gvw workers alone do it")
	}
	return nil
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

func (r *runner) run(ctx context.Context) (*Report, error) {
	r.otherLossNote = r.otherLoss()
	if !r.cfg.TestOnly {
		r.noteLoss()
	}
	if err := r.banner().print(r.console.table.Out); err != nil {
		return nil, err
	}
	if err := errors.Join(r.train(ctx), r.audit.flush()); err != nil {
		return nil, err
	}
	return r.end(ctx)
}

// train leaves the outcome in r.
func (r *runner) train(ctx context.Context) error {
	if r.cfg.follows() {
		m, err := r.leader()
		if err != nil {
			return err
		}
		if err := r.job.group.Run(ctx, m); err != nil {
			return err
		}
		r.outcome = m.finish()
		return nil
	}
	m, err := r.course()
	if err != nil {
		return err
	}
	if err := r.job.group.Run(ctx, m); err != nil {
		return err
	}
	return r.finish(m.stage)
}

// finish ends the training whose last stage is given. A tested model of the FTRL family
// keeps its sums.
func (r *runner) finish(last stage) (err error) {
	r.outcome, err = last.finish()
	if r.initial != nil {
		r.outcome.followed = ftrl.Sums{Norm: r.initial.base.Nsx, TotalWeight: r.initial.base.TotalWeight}
	}
	return err
}

// end delivers what the run owes, and sums it up.
func (r *runner) end(ctx context.Context) (*Report, error) {
	t := r.tally
	if r.job.group.Stream() {
		if err := r.job.shareStats(ctx); err != nil {
			return nil, err
		}
	}
	digest, err := r.deliver(ctx)
	if err != nil {
		return nil, err
	}
	report := &Report{
		Stats: r.job.all.Stats, Passes: t.passes, Digest: digest,
		Holdout: t.holdout, HoldoutLoss: math.NaN(), Loss: t.loss, LogLoss: r.outcome.logLoss, Range: t.seen,
		NoBestConstant: r.cfg.Diagnostics.NoBestConstant && r.cfg.OAA.Classes == 0,
	}
	if m := t.measures.last; m != nil {
		report.Measures = m.Values
	}
	if t.stop.known {
		report.HoldoutLoss = t.stop.best
	}
	if err := t.sayValid(); err != nil {
		return nil, err
	}
	err = r.console.say([]byte(report.Summary()))
	r.console.hold.release()
	if err != nil {
		return nil, err
	}
	if err := r.console.say(t.trainingSummary(r.cfg.Hybrid != nil && !r.cfg.TestOnly)); err != nil {
		return nil, err
	}
	if err := r.console.say(t.measures.summary()); err != nil {
		return nil, err
	}
	r.noteLoss()
	return report, nil
}

// close ends the group and removes what a failed run has written.
func (r *runner) close() error {
	r.console.hold.release()
	var err error
	if r.job.group != nil {
		err = r.job.group.Close() // first: others wait for this rank, and the file system may hang
	}
	r.files.abort()
	r.abortModels()
	return err
}

// otherLoss is a note that the loaded model was trained with a loss that is not the one of
// this run, and that no loss was asked for; "" if there is nothing to note. A model does
// not keep its loss, as in vw. It keeps the range of predictions, which the logistic and the
// Poisson loss fix.
func (r *runner) otherLoss() string {
	c := &r.cfg
	if c.Model.Initial == "" || r.initial == nil || c.given.loss || c.OAA.Classes > 0 {
		return ""
	}
	trained, err := loss.New("logistic")
	if err != nil {
		panic("BUG: learn: " + err.Error())
	}
	if own, _ := loss.DefaultRange(trained); r.initial.labels != own {
		return ""
	}
	return fmt.Sprintf("%s was trained with --loss_function logistic or poisson, by its range of predictions, and the losses shown are of the %s loss: give --loss_function as for training", c.Model.Initial, c.Loss.Function)
}

// noteLoss logs the note on the loss, once, if there were labels to which it applies.
func (r *runner) noteLoss() {
	if r.otherLossNote != "" && (!r.cfg.TestOnly || r.job.all.Stats.Labeled > 0) {
		r.cfg.Diagnostics.Log.Warn(r.otherLossNote)
		r.otherLossNote = ""
	}
}
