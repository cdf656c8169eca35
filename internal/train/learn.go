// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/cli"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature/cache"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
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
		if cfg.Cluster.Join, err = joinflags.Config(c, at); err != nil {
			return err
		}
		if l.group == nil { // otherwise Guard was called before it joined; a secret can be read only once
			if err := joinflags.Guard(l.Process, c, cfg.Cluster.Join); err != nil {
				return err
			}
		}
		if c.IsSet("shard") {
			kind, err := hdfsio.ParseKind(c.String("shard"))
			if err != nil {
				return cli.Usagef("--shard: %w", err)
			}
			shard = l.shardOf(kind, at)
		}
	}
	level := cli.LogLevel(cfg.Diagnostics.Quiet, c.String("log_level"))
	ctx, fsys := c.Context, files.Watched(c, l.files.System(c.String, cfg.Diagnostics.Quiet), isRank, l.Logger(level, isRank))
	// From here on files are opened, by a file system that reports calls that take too long.
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
		if cfg.Data.Inputs, err = files.NoExamples(ctx, fsys, kept); err != nil {
			return err
		}
	} else if cfg.Data.Inputs, err = l.files.Inputs(ctx, fsys, data, kept, shard); err != nil {
		return err
	}
	if cfg.Holdout.Valid, err = files.ValidInputs(ctx, fsys, c.StringSlice("valid"), at); err != nil {
		return err
	}
	cfg.Model.Open = files.Opener(ctx, fsys)
	cfg.Features.DictionaryPath = files.DictionaryPath(c.StringSlice("dictionary_path"), l.Getenv("PATH"))
	cfg.Output.Create = l.create(ctx, fsys)
	// A dry run needs the inputs for their sizes, and must stop before anything is written.
	if c.Bool("dry_run") {
		if cfg.Cluster.Join != nil {
			l.takeCheckpoints(c, cfg.Cluster.Join, nil)
		}
		return dryRun(ctx, l.Process, fsys, c.StringSlice("data"), &cfg, c.String("checkpoint"))
	}
	if name := c.String("log_json"); name != "" {
		log, oerr := l.files.PassLog(hdfsio.Local{Perm: cfg.Data.CacheMode}, name)
		if oerr != nil {
			return oerr
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		cfg.Metrics.PassLog = log
	}
	// The line of progress is only for a person at a terminal. Diagnostics go through it, so that
	// their text appears above the line.
	if f, ok := l.Stderr.(*os.File); ok && files.Terminal(f) && !cfg.Diagnostics.Quiet {
		left := newRemaining(l.Stderr, time.Now, textSize(ctx, fsys, c.StringSlice("data")))
		defer left.end()
		for i, in := range cfg.Data.Inputs {
			cfg.Data.Inputs[i] = left.count(in)
		}
		cfg.Diagnostics.Watch = left.watch
		l.Stderr = left
		defer func() { l.Stderr = f }()
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
	if c.Bool("audit") {
		if slices.Contains(files.StdoutNames, cfg.Output.Predictions) || slices.Contains(files.StdoutNames, cfg.Output.RawPredictions) {
			return cli.Usagef("--audit writes to stdout: write the predictions to a file")
		}
		cfg.Output.Audit = l.Stdout
	}
	cfg.Diagnostics.Log = l.Logger(level, isRank) // above the progress line of a terminal
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
