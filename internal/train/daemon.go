// SPDX-License-Identifier: Apache-2.0

package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/background"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/serve/daemon"
	"github.com/gvw-project/gvw/internal/serve/engine"
	"github.com/gvw-project/gvw/learn"
)

// daemonOptions are the options of a daemon. Other than in a job, --checkpoint names one file.
var daemonOptions = []string{"daemon", "foreground", "port", "num_children", "pid_file", "port_file", "bind", "checkpoint", "checkpoint_every", "checkpoint_interval", "resume"}

// isDaemon reports whether the options start a daemon. As in vw --port and --pid_file imply it.
func isDaemon(s *cli.Settings) bool { return s.Has("daemon") || s.Has("port") || s.Has("pid_file") }

// defaultPort is vw's.
const defaultPort = "26542"

// loadWithin is the time for a background daemon to load its model and listen.
const loadWithin = 10 * time.Minute

// saveWithin is the time for a server to save its model after SIGTERM.
const saveWithin = 10 * time.Minute

// daemon runs gvw --daemon.
func (l *Learner) daemon(ctx context.Context, s *cli.Settings) error {
	// The checks of a training do not know the options of a daemon.
	learner := s.Clone()
	for _, name := range daemonOptions {
		learner.Set(name)
	}
	if s.Has("data") {
		learner.Set("data")
		if noting(s) {
			l.Note(cli.NoteLevel, "--data: not read, as in vw: the clients of a daemon send the examples")
		}
	}
	if err := errors.Join(Check(learner), checkDaemon(s)); err != nil {
		return err
	}
	stderr, _ := l.Stderr.(*os.File) // no file in tests
	self := background.Program{
		Variable: "GVW_DAEMON_READY", Args: append([]string{l.Name}, l.Args...), Env: l.Env, Stderr: stderr, Foreground: "--foreground", Within: loadWithin,
	}
	ready, child := self.Child()
	if !s.Has("foreground") && !child {
		code, _, err := self.Start()
		if err == nil && code != 0 {
			l.Exit(code) // the child has printed the error
		}
		return err
	}
	return learner.Dispatch(ctx, func(c *cli.Context) error { return l.serveDaemon(c, s, ready) })
}

// checkDaemon reports options that need others.
func checkDaemon(s *cli.Settings) error {
	errs := []error{checkCheckpoint(s)}
	for _, name := range []string{"cache", "cache_file", "valid", "audit", "log_json", "record", "otlp", "dry_run", "args"} {
		if s.Has(name) {
			errs = append(errs, cli.Usagef("--%s cannot go with --daemon: the examples of clients have no end", name))
		}
	}
	if s.Has("checkpoint") && s.Has("testonly") {
		errs = append(errs, cli.Usagef("--checkpoint cannot go with --testonly: nothing is learned"))
	}
	return errors.Join(errs...)
}

// checkCheckpoint reports options of a checkpoint without a file.
func checkCheckpoint(s *cli.Settings) error {
	var errs []error
	for _, name := range []string{"checkpoint_every", "checkpoint_interval", "resume"} {
		if s.Has(name) && !s.Has("checkpoint") {
			errs = append(errs, cli.Usagef("--%s would be ignored without --checkpoint: no state is kept", name))
		}
	}
	return errors.Join(errs...)
}

// serveDaemon loads the model and serves until a signal ends it.
func (l *Learner) serveDaemon(c *cli.Context, s *cli.Settings, ready func(port int, log *os.File)) (err error) {
	cfg, err := Config(c)
	if err != nil {
		return err
	}
	log := l.Logger(cli.LogLevel(cfg.Diagnostics.Quiet, c.String("log_level")), true)
	fsys := files.Watched(c, l.files.System(c.String, cfg.Diagnostics.Quiet), false, log)
	e, err := l.engine(c, s, cfg, fsys, log)
	if err != nil {
		return err
	}
	l.AllowCleanup(saveWithin)
	listens := false
	defer func() { err = errors.Join(err, endEngine(c.Context, e, listens)) }()
	kind := engine.Text
	switch {
	case cfg.Data.Format == learn.FormatJSON:
		kind = engine.JSON
	case cfg.Data.Strict:
		kind = engine.Strict
	}
	server, err := daemon.New(daemon.Config{Engine: e, Kind: kind, Limits: engine.Limits{MaxLine: cfg.Data.MaxLine}, Log: log})
	if err != nil {
		return err
	}
	listener, number, err := listen(s, "", defaultPort)
	if err != nil {
		return err
	}
	// A script that finds the port finds the process, too.
	if err := errors.Join(writeNumber(c.Context, s, "pid_file", os.Getpid()), writeNumber(c.Context, s, "port_file", number)); err != nil {
		return errors.Join(err, listener.Close())
	}
	log.Info("daemon listens", "port", number, "pid", os.Getpid(), "learns", !cfg.TestOnly)
	listens = true
	ready(number, nil)
	background.IgnoreBrokenPipes()
	err = server.Serve(c.Context, listener)
	log.Info("daemon ends", "predictions", e.Metrics.Answers.Load(), "errors", e.Metrics.Faults.Load())
	return err
}

// endEngine ends the engine of a server. Only a server that listens, and so may have learned, saves its model.
func endEngine(ctx context.Context, e *engine.Engine, listens bool) error {
	if !listens {
		return e.Discard()
	}
	return e.Close(context.WithoutCancel(ctx))
}

// engine loads the model of a server. Saved models go through the file system of the options.
func (l *Learner) engine(c *cli.Context, s *cli.Settings, cfg learn.Config, fsys *hdfsio.Watched, log *slog.Logger) (*engine.Engine, error) {
	create := l.create(context.WithoutCancel(c.Context), fsys)
	cfg.Model.Open = files.Opener(context.WithoutCancel(c.Context), fsys)
	cfg.Model.Loaded = checkLoaded(l.Process, c)
	cfg.Features.DictionaryPath = files.DictionaryPath(c.StringSlice("dictionary_path"), l.Getenv("PATH"))
	cfg.Diagnostics.Log = log
	cfg.CheckMemory = func(bytes uint64) error { return CheckRoom(bytes, 1) }
	final := cfg.Model.Final
	cfg.Model.Final = ""
	checkpoint := s.Get("checkpoint")
	if s.Has("resume") {
		switch f, err := cfg.Model.Open(checkpoint); {
		case err == nil:
			if err := f.Close(); err != nil {
				return nil, err
			}
			cfg.Model.Initial = checkpoint
			log.Info("continuing from the checkpoint", "file", checkpoint)
		case !errors.Is(err, fs.ErrNotExist): // a new model would replace a file that cannot be read now
			return nil, fmt.Errorf("--resume: %w", err)
		}
	}
	if !cfg.TestOnly && final == "" && checkpoint == "" {
		log.Warn("what is learned is lost at the end, unless a client sends save_NAME: -f or --checkpoint keeps it")
	}
	ec := engine.Config{
		Load:  func(ctx context.Context) (*learn.Live, error) { return learn.Open(ctx, cfg) },
		Final: final, Checkpoint: checkpoint, Every: int(s.Number("checkpoint_every")), Parallel: int(s.Number("num_children")), Log: log,
		Save: func(_ context.Context, name string, write func(io.Writer) error) error {
			if slices.Contains(files.StdoutNames, name) {
				return fmt.Errorf("%s is no file", name)
			}
			out, err := create(name)
			if err != nil {
				return err
			}
			if err := write(out); err != nil {
				return errors.Join(err, out.Abort())
			}
			return out.Commit()
		},
	}
	if text := s.Get("checkpoint_interval"); text != "" {
		var err error
		if ec.Interval, err = time.ParseDuration(text); err != nil {
			return nil, err
		}
	}
	return engine.New(c.Context, ec)
}

// bindHost returns the host of --bind without brackets, or a default.
func bindHost(s *cli.Settings, host string) string {
	return strings.Trim(cmp.Or(s.Get("bind"), host), "[]")
}

// listen listens at --bind and --port, or at defaults, and returns the port.
func listen(s *cli.Settings, host, port string) (net.Listener, int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(bindHost(s, host), cmp.Or(s.Get("port"), port)))
	if err != nil {
		return nil, 0, fmt.Errorf("cannot listen for clients: %w; choose another port with --port", err)
	}
	return l, l.Addr().(*net.TCPAddr).Port, nil
}

// writeNumber writes a line with a number, for scripts, to the file that an option names. Without the option it
// does nothing.
func writeNumber(ctx context.Context, s *cli.Settings, option string, value int) error {
	name := s.Get(option)
	if name == "" {
		return nil
	}
	f, err := hdfsio.Local{Perm: 0o644}.Create(ctx, name)
	if err == nil {
		if _, err = io.WriteString(f, strconv.Itoa(value)+"\n"); err != nil {
			err = errors.Join(err, f.Abort())
		} else {
			err = f.Commit()
		}
	}
	if err != nil {
		return fmt.Errorf("--%s: %w", option, err)
	}
	return nil
}
