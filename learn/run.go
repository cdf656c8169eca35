// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/modelsource"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/internal/trainer"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/learn/internal/vwtext"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/sgd"
)

type (
	// Report is the outcome of a run.
	Report = vwtext.Report
	// Stats are vw's running sums over the examples of a run, on one rank or over
	// all of them. Weighted sums are sums of importance weights.
	Stats = vwtext.Stats

	// UsageError is a fault of a Config: fields that contradict each other, or that do not
	// fit the model. Its message names fields as in learn.Config.Reg.L2, and a value of a field
	// as in learn.Config.Loss.Function=logistic. A program with a command line can replace these
	// by its options.
	UsageError = usage.Error
	// DataError is a fault in an input: a model that another program has written, for example,
	// or data without examples.
	DataError = examples.DataError
	// ProvenanceError means that a state was made from other data than this rank has read, or
	// from another initial model.
	ProvenanceError = job.ProvenanceError
)

// Run trains or tests as cfg specifies. If it returns no error, every file that cfg names is
// complete under its final name. If it returns an error, it leaves no file behind. On a cluster
// every rank returns the same root cause.
//
// A *allreduce.FinishedError means that the job has ended without this attempt of the rank.
// With Config.Cluster.RunDir, all files that the attempt owed have been copied then. A
// *allreduce.ExcludedError means that the job continues without this rank, which owes nothing.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r, err := newRunner(cfg.withDefaults())
	if err != nil {
		return nil, err
	}
	report, err := r.attempt(ctx)
	return report, errors.Join(err, r.close())
}

// attempt joins the job and runs. A late attempt only copies the files that it owes.
func (r *runner) attempt(ctx context.Context) (*Report, error) {
	if err := r.join(ctx); err != nil {
		_, err = r.delivery().Copy(err, r.owes())
		return nil, err
	}
	if r.job.Late {
		err := error(&allreduce.ExcludedError{Job: r.cfg.Cluster.Join.Job, Rank: r.job.Rank})
		if all := r.owes(); len(all) > 0 { // wait for the end of the job, which delivers the files to copy
			_, err = r.delivery().Copy(r.job.Group.Ready(ctx, allreduce.Shard{}), all)
		}
		return nil, err
	}
	report, err := r.run(ctx)
	if err == nil {
		return report, nil
	}
	over, err := r.delivery().Copy(err, r.owes())
	if !over {
		r.job.Group.Fail(ctx, reported(err))
	}
	return nil, err
}

// runner is one run, from its first line of diagnostics to its last.
type runner struct {
	cfg    Config                            // with defaults and the options of the loaded model
	create func(name string) (Output, error) // from the configuration, without the lease

	read       *examples.Reader
	tally      *tally.Tally
	job        *job.Job
	console    *output.Console
	files      *output.PredictionFiles
	audit      *output.Audit // --audit and --invert_hash; nil: none
	models     *modelsource.Source
	fromZero   func() bool // whether the labels of classes have turned out to count from 0; nil: labels are not classes
	provenance job.Provenance

	rule          sgd.Config
	initial       *initial         // the loaded model; nil: none
	prior         descent.Penalty  // --input_feature_regularizer; zero: none
	otherLossNote string           // warning that the loaded model was trained with another loss; empty: none
	serves        bool             // the run is a Live, whose examples have no end
	unheld        bool             // output regularisers have switched the holdout set off
	outcome       training.Outcome // of the last stage

	modelFile, readableFile Output // the model and its text; nil: none
	invertedFile            Output // --invert_hash; nil: none
	metricsFile             Output // --metrics_file; nil: none
	extraMetricsFile        Output // --extra_metrics; nil: none

	regularizerFile, regularizerText Output // output regularisers and their text; nil: none
}

// run prints the settings, trains and delivers.
func (r *runner) run(ctx context.Context) (*Report, error) {
	r.otherLossNote = r.otherLoss()
	if !r.cfg.TestOnly {
		r.noteLoss()
	}
	if err := r.banner().print(r.console.Table.Out); err != nil {
		return nil, err
	}
	if err := errors.Join(r.train(ctx), r.audit.Flush()); err != nil {
		return nil, err
	}
	return r.end(ctx)
}

// train runs the training and stores its outcome in r.
func (r *runner) train(ctx context.Context) error {
	if r.cfg.follows() {
		m, err := r.ftrl()
		if err != nil {
			return err
		}
		if err := r.job.Group.Run(ctx, m); err != nil {
			return err
		}
		r.outcome = m.Finish()
		return nil
	}
	m, err := r.trainer()
	if err != nil {
		return err
	}
	defer m.Close()
	if err := r.job.Group.Run(ctx, m); err != nil {
		return err
	}
	return r.finish(m.Stage())
}

// finish ends the training whose last stage is given. In a test, a model of the FTRL family
// keeps its sums.
func (r *runner) finish(last trainer.Stage) (err error) {
	r.outcome, err = last.Finish()
	if r.initial != nil {
		r.outcome.Followed = ftrl.Sums{Norm: r.initial.base.Nsx, TotalWeight: r.initial.base.TotalWeight}
	}
	return err
}

// end delivers the files that the run owes, and prints the summary.
func (r *runner) end(ctx context.Context) (*Report, error) {
	t := r.tally
	// vw sums its statistics at the end of the job, where gvw has them in the records.
	if r.job.Group.Stream() {
		if err := r.job.ShareStats(ctx); err != nil {
			return nil, err
		}
	}
	digest, err := r.deliver(ctx)
	if err != nil {
		return nil, err
	}
	report := &Report{
		Stats: r.job.All.Stats, Passes: t.Passes, Digest: digest,
		Holdout: t.Holdout, HoldoutLoss: math.NaN(), Loss: t.Loss, LogLoss: r.outcome.LogLoss, Range: t.Seen,
		NoBestConstant: r.cfg.Diagnostics.NoBestConstant && r.cfg.labels() == feature.SimpleLabels || r.cfg.LDA.Topics > 0,
	}
	report.Shard.Examples, report.Shard.Bytes, report.Shard.CRC = r.provenance.Data.Shard()
	if m := t.Measures.Last; m != nil {
		report.Measures = m.Values
	}
	// vw shows the best holdout loss, also where the last pass was worse.
	if t.Stop.Known {
		report.HoldoutLoss = t.Stop.Best
	}
	if err := t.PrintValid(); err != nil {
		return nil, err
	}
	err = r.console.Print([]byte(report.Summary()))
	r.console.Hold.Release()
	if err != nil {
		return nil, err
	}
	if err := r.console.Print(t.TrainingSummary(r.cfg.Hybrid != nil && !r.cfg.TestOnly)); err != nil {
		return nil, err
	}
	if err := r.console.Print(t.Measures.Summary()); err != nil {
		return nil, err
	}
	r.noteLoss()
	return report, nil
}

// close ends the group and removes what a failed run has written.
func (r *runner) close() error {
	r.console.Hold.Release()
	var err error
	if r.job.Group != nil {
		err = r.job.Group.Close() // first: other ranks wait for this one, and the file system may hang
	}
	r.files.Abort()
	r.abortModels()
	return err
}

// otherLoss returns a warning if the loaded model was trained with another loss than this run
// uses and the caller has given no loss. It returns "" otherwise. As in vw a model does not
// keep its loss. It keeps the range of predictions, which the logistic and the Poisson loss
// fix.
func (r *runner) otherLoss() string {
	c := &r.cfg
	if c.Model.Initial == "" || r.initial == nil || c.given.loss || c.labels() != feature.SimpleLabels {
		return ""
	}
	trained, err := loss.New("logistic")
	if err != nil {
		panic("BUG: learn: " + err.Error())
	}
	if own, _ := loss.DefaultRange(trained); r.initial.labels != own {
		return ""
	}
	return fmt.Sprintf("%s was trained with learn.Config.Loss.Function=logistic or poisson, by its range of predictions, and the losses shown are of the %s loss: give learn.Config.Loss.Function as for training", c.Model.Initial, c.Loss.Function)
}

// noteLoss logs that warning once, if there are labels to which it applies.
func (r *runner) noteLoss() {
	if r.otherLossNote != "" && (!r.cfg.TestOnly || r.job.All.Stats.Labeled > 0) {
		r.cfg.Diagnostics.Log.Warn(r.otherLossNote)
		r.otherLossNote = ""
	}
}
