// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"log/slog"
	"time"

	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/namespaces"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/learn/internal/vwtext"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// newRunner prepares a run: it loads the models, opens the data and starts the output files. It
// joins no job and reads no examples. Faults of the configuration are found here, before other
// ranks wait for this one.
func newRunner(cfg Config) (_ *runner, err error) {
	if cfg.Diagnostics.Log == nil {
		cfg.Diagnostics.Log = slog.New(slog.DiscardHandler)
	}
	held := &output.Hold{Job: cfg.Cluster.Join != nil}
	cfg.Diagnostics.Log = held.Logger(cfg.Diagnostics.Log)
	r := &runner{
		create:  cfg.Output.Create,
		job:     &job.Job{Group: cfg.Cluster.Group, Log: cfg.Diagnostics.Log},
		console: &output.Console{Hold: held},
		files:   &output.PredictionFiles{},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	// Loaded files come first: their options change the rest of the configuration.
	r.provenance.Basis = job.NewBasis()
	loaded, err := cfg.load(r.provenance.Basis)
	if err != nil {
		return nil, err
	}
	r.initial, r.prior = loaded.initial, loaded.prior
	r.unheld = cfg.applyPrecedence()
	// Only the server's lease lets an attempt write the files of the end. The model source keeps the plain function,
	// since all attempts save the same bytes after each pass.
	cfg.Output.Create = output.UnderLease(cfg.Output.Create, r.job.Lease)
	r.cfg = cfg
	if err = r.newTally(loaded.labels); err != nil {
		return nil, err
	}
	if r.rule, err = cfg.updateRule(); err != nil {
		return nil, err
	}
	// A run that cannot fit is refused here, before it allocates a table or joins a job.
	if cfg.CheckMemory != nil {
		need, err := cfg.Tables()
		if err == nil {
			err = cfg.CheckMemory(need)
		}
		if err != nil {
			return nil, err
		}
	}
	diagnostics, progress := cfg.Diagnostics.Writer, cfg.Diagnostics.Progress
	if cfg.Diagnostics.Quiet {
		diagnostics, progress = nil, ""
	}
	if r.console.Table, err = vwtext.NewTable(diagnostics, progress); err != nil {
		return nil, usage.New("Diagnostics.Progress", "%v", err)
	}
	r.audit = cfg.newAudit(r.rule.Adaptive && !cfg.TestOnly && cfg.FTRL.Rule == ftrl.None)
	if r.provenance.Data, err = stream.NewDataset(dataset(&cfg)); err != nil {
		return nil, err
	}
	if r.tally.Measures, err = cfg.newMeasures(r.tally.Holdout); err != nil {
		return nil, err
	}
	if r.tally.Valid, err = cfg.newValidation(); err != nil {
		return nil, err
	}
	r.read = r.newReader(r.provenance.Data)
	r.job.Shard, r.job.Admit = r.provenance.Data.Shard, r.admit
	r.models = r.newModelSource()
	if err = r.openPredictions(); err != nil {
		return nil, err
	}
	if err = r.openModels(); err != nil {
		return nil, err
	}
	return r, nil
}

// openPredictions starts the files of predictions.
func (r *runner) openPredictions() (err error) {
	o := &r.cfg.Output
	if o.Predictions != "" {
		if r.files.Predictions, err = output.NewPredictions(o.Create, o.Predictions); err != nil {
			return err
		}
	}
	if o.RawPredictions != "" {
		r.files.Raw, err = output.NewPredictions(o.Create, o.RawPredictions)
	}
	return err
}

// loadDictionaries reads the dictionaries, after the options of the loaded model are merged.
func (c *Config) loadDictionaries() error {
	return c.Features.Namespaces.Load(c.features(), namespaces.Files{Path: c.Features.DictionaryPath, Open: c.Model.Open})
}

// newTally sets r.tally, except the metrics. labels is the range of predictions of a loaded
// model or regulariser; nil: none is loaded.
func (r *runner) newTally(labels *loss.Range) (err error) {
	c := &r.cfg
	held := newHoldoutSet(c)
	t := &tally.Tally{
		TestOnly: c.TestOnly, Binary: c.Loss.Binary, Holdout: held.On, ClassWeights: c.Data.ClassWeights,
		Calls: tally.Calls{PredictsFirst: c.predictsFirst()},
		Log:   c.Diagnostics.Log, Console: r.console, Files: r.files, Job: r.job,
		Stats:  vwtext.NewStats(),
		Stop:   tally.EarlyStop{On: held.On, Patience: c.Holdout.EarlyTerminate},
		Passed: tally.PassLog{Out: c.Metrics.PassLog, Begun: time.Now()},
	}
	if t.Loss, err = c.Loss.function(); err != nil {
		return err
	}
	t.Odd = c.newOddLabels(t.Loss)
	if t.Link, err = loss.NewLink(c.Loss.Link); err != nil {
		return err
	}
	t.Seen, t.Fixed = c.labelRange(t.Loss, labels)
	r.tally = t
	return nil
}

// newReader returns the reader of the run's data. It flushes predictions and the audit before
// it waits for input, so that a user who types examples sees their predictions.
func (r *runner) newReader(data *stream.Dataset) *examples.Reader {
	c := &r.cfg
	read := &examples.Reader{
		Data: data, Name: c.dataName(), Holdout: newHoldoutSet(c), Log: c.Diagnostics.Log,
		Limit: c.passLength().Limit(c.Data.Examples), Waited: c.Diagnostics.Waited,
		Flush: func() error { return errors.Join(r.files.Flush(), r.audit.Flush()) },
	}
	if c.Data.Shuffle {
		read.Shuffle = &examples.ShuffleConfig{Seed: c.Data.ShuffleSeed, Memory: c.Data.ShuffleMemory, Rank: func() int { return r.job.Rank }}
	}
	if c.Diagnostics.Watch != nil {
		read.Watch = func(read, of int) {
			c.Diagnostics.Watch(Progress{Pass: r.tally.RunPasses() + 1, Passes: c.maxPasses(), Examples: read, Of: of, Loss: r.tally.CurrentLoss()})
		}
	}
	return read
}
