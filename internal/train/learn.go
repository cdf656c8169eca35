// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature/cache"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/statusline"
	"github.com/gvw-project/gvw/learn"
)

// Learn trains or predicts, in one process or as one rank of a job. It fills in the
// configuration in the order in which its parts depend on each other: the rank, then its shard
// and its cache, then inputs and outputs. Faults are armed before any file is opened.
func (l *Learner) Learn(c *cli.Context) (err error) {
	cfg, err := Config(c)
	if err != nil {
		return err
	}
	at, isRank, err := joinflags.Place(l.Process, c)
	if err != nil {
		return err
	}
	if err := joinflags.ArmFaults(l.Process, at, c.Uint64("generation"), isRank && c.String("shm") != "off", l.replaces); err != nil {
		return err
	}
	l.rank = at.Rank
	shard := hdfsio.Shard{}
	if isRank {
		if shard, err = l.takeJob(c, &cfg, at); err != nil {
			return err
		}
	}
	// From here on files are opened, by a file system that reports calls that take too long.
	level := cli.LogLevel(cfg.Diagnostics.Quiet, c.String("log_level"))
	fsys := files.Watched(c, l.files.System(c.String, cfg.Diagnostics.Quiet), isRank, l.Logger(level, isRank))
	if err := l.takeData(c, &cfg, fsys, shard, at); err != nil {
		return err
	}
	cfg.Model.Open = files.Opener(c.Context, fsys)
	if err := takeGraph(&cfg); err != nil {
		return err
	}
	cfg.Features.DictionaryPath = files.DictionaryPath(c.StringSlice("dictionary_path"), l.Getenv("PATH"))
	cfg.Output.Create = l.create(c.Context, fsys)
	// A dry run needs the inputs for their sizes, and must stop before anything is written.
	if c.Bool("dry_run") {
		if cfg.Cluster.Join != nil {
			l.takeCheckpoints(c, cfg.Cluster.Join, nil)
		}
		return dryRun(c.Context, l.Process, fsys, c.StringSlice("data"), &cfg, c.String("checkpoint"))
	}
	end, err := l.takeDiagnostics(c, &cfg, fsys)
	defer func() { err = errors.Join(err, end()) }()
	if err != nil {
		return err
	}
	rec, err := l.takeRecord(c, &cfg, fsys)
	if err != nil {
		return err
	}
	defer func() { rec.end(l.report, err, cfg.Diagnostics.Log) }()
	traces, err := l.takeTraces(c, &cfg)
	if err != nil {
		return err
	}
	defer func() { l.endTraces(c.Context, traces, err, cfg.Diagnostics.Log) }()
	cfg.Diagnostics.Log = rec.log(l.Logger(level, isRank), l.rank) // above the progress line of a terminal
	fsys.Log = cfg.Diagnostics.Log
	if shard.Kind == hdfsio.Bytes {
		files.WarnOfPrefixes(cfg.Diagnostics.Log, fsys, c.StringSlice("data"))
	}
	if cfg.Cluster.Join != nil {
		l.takeCheckpoints(c, cfg.Cluster.Join, cfg.Diagnostics.Log)
	}
	if err := l.takeRunDir(c, &cfg, fsys); err != nil {
		return err
	}
	// A map task may change any setting, so it is asked last.
	if l.Task != nil {
		if err := l.Task.Prepare(&cfg); err != nil {
			return err
		}
	}
	cfg.Cluster.Group = l.group
	cfg.CheckMemory = func(bytes uint64) error { return CheckRoom(bytes, 1) }
	// Map tasks of an elastic job share one folder. If rank 0 is missing, another rank must write
	// the model, and only one may.
	cfg.Cluster.SingleWriter = l.Task != nil && isRank && cfg.Cluster.Join.Elastic && cfg.Cluster.Join.OnLoss == allreduce.Wait
	l.report, err = learn.Run(c.Context, cfg)
	return notNeeded(err, cfg.Diagnostics.Log)
}

// takeJob sets the job of a rank, and returns the rank's part of the data. Without --shard that is
// all of its files.
func (l *Learner) takeJob(c *cli.Context, cfg *learn.Config, at launch.Place) (shard hdfsio.Shard, err error) {
	if cfg.Cluster.Join, err = joinflags.Config(c, at); err != nil {
		return shard, err
	}
	joinflags.TakeServerLog(l.Process, c, cfg.Cluster.Join)
	if l.group == nil { // otherwise Guard was called before it joined; a secret can be read only once
		if err := joinflags.Guard(l.Process, c, cfg.Cluster.Join); err != nil {
			return shard, err
		}
	} else { // the job of shared vectors needs them
		j := cfg.Cluster.Join
		j.Credentials, j.NoTags, j.Allow, j.Owner = l.guard.Credentials, l.guard.NoTags, l.guard.Allow, l.guard.Owner
	}
	if !c.IsSet("shard") {
		return shard, nil
	}
	kind, err := hdfsio.ParseKind(c.String("shard"))
	if err != nil {
		return shard, cli.Usagef("--shard: %w", err)
	}
	return l.shardOf(kind, at), nil
}

// takeData sets the inputs, their cache and the validation set.
func (l *Learner) takeData(c *cli.Context, cfg *learn.Config, fsys *hdfsio.Watched, shard hdfsio.Shard, at launch.Place) (err error) {
	ctx := c.Context
	cfg.Data.CacheMode = files.FileMode(c.String("mode"))
	cfg.Data.CacheCalls = func(ctx context.Context, name string) cache.Calls { return fsys.Calls(ctx, name) }
	if cfg.Data.Cache, err = files.CacheName(c, shard); err != nil {
		return err
	}
	kept := cfg.Data.Cache
	if cfg.Data.KillCache {
		kept = "" // -k: the cache is written again, from stdin if no data is given, as in vw
	}
	data := c.StringSlice("data")
	if c.Bool("no_stdin") && len(data) == 0 {
		cfg.Data.Inputs, err = files.NoExamples(ctx, fsys, kept)
	} else if c.Bool("parquet") {
		cfg.Data.Inputs, err = l.files.ParquetInputs(ctx, fsys, data, kept, shard)
	} else {
		cfg.Data.Inputs, err = l.files.Inputs(ctx, fsys, data, kept, shard)
	}
	if err != nil {
		return err
	}
	if c.Bool("parquet") {
		cfg.Holdout.Valid, err = files.ValidParquetInputs(ctx, fsys, c.StringSlice("valid"), at)
		return err
	}
	cfg.Holdout.Valid, err = files.ValidInputs(ctx, fsys, c.StringSlice("valid"), at)
	return err
}

// takeDiagnostics sets the outputs for the user: the log of passes, the progress line, the table
// and the audit. The caller calls end after the run, also if there is an error.
func (l *Learner) takeDiagnostics(c *cli.Context, cfg *learn.Config, fsys hdfsio.FS) (end func() error, err error) {
	var ends []func() error
	end = func() (err error) {
		for _, f := range slices.Backward(ends) {
			err = errors.Join(err, f())
		}
		return err
	}
	if name := c.String("log_json"); name != "" {
		log, err := l.files.PassLog(hdfsio.Local{Perm: cfg.Data.CacheMode}, name)
		if err != nil {
			return end, err
		}
		ends = append(ends, log.Close)
		cfg.Metrics.PassLog = log
	}
	if name := c.String("timeline"); name != "" && cfg.Cluster.Join != nil {
		t, err := l.files.Timeline(hdfsio.Local{Perm: cfg.Data.CacheMode}, name)
		if err != nil {
			return end, err
		}
		ends = append(ends, t.Close)
		cfg.Cluster.Join.Timeline = t
	}
	// The line of progress is only for a person at a terminal. Diagnostics go through it, so that
	// their text appears above the line.
	if out := l.Stderr; files.ShowsProgress(out, c.String("progress_bar"), cfg.Diagnostics.Quiet) {
		left := newRemaining(statusline.New(out, statusline.Width(out)), time.Now, textSize(c.Context, fsys, c.StringSlice("data")))
		if j := cfg.Cluster.Join; j != nil {
			left.ranks = fmt.Sprintf("rank %d of %d  ", l.rank, j.Total)
		}
		for i, in := range cfg.Data.Inputs {
			cfg.Data.Inputs[i] = left.count(in)
		}
		cfg.Diagnostics.Watch = left.watch
		l.Stderr = left
		ends = append(ends, func() error {
			left.End()
			l.Stderr = out
			return nil
		})
	}
	// The options in a loaded model are not known yet: Loaded checks them when they are.
	cfg.Model.Loaded = checkLoaded(l.Process, c)
	switch {
	case c.Bool("driver_output_off"):
		cfg.Diagnostics.Writer = io.Discard // not nil: as in vw the model keeps the state of the table
	case c.String("driver_output") == "stdout":
		cfg.Diagnostics.Writer = l.Stdout
	default:
		cfg.Diagnostics.Writer = l.Stderr
	}
	if !c.Bool("audit") {
		return end, nil
	}
	if slices.Contains(files.StdoutNames, cfg.Output.Predictions) || slices.Contains(files.StdoutNames, cfg.Output.RawPredictions) {
		return end, cli.Usagef("--audit writes to stdout: write the predictions to a file")
	}
	cfg.Output.Audit = l.Stdout
	return end, nil
}

// notNeeded logs and drops the error of an attempt that was not needed: a standby of a finished
// job, or a late attempt.
func notNeeded(err error, log *slog.Logger) error {
	if e, ok := errors.AsType[*protocol.FinishedError](err); ok {
		log.Info(e.Error())
		return nil
	}
	if e, ok := errors.AsType[*protocol.ExcludedError](err); ok {
		log.Info(e.Error())
		return nil
	}
	return err
}
