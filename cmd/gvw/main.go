// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/crash"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/run"
	"github.com/gvw-project/gvw/internal/train"
)

func main() {
	// After a crash the process aborts, so that the parent sees a signal and not exit code 2,
	// which means corrupt data. A core file is written only if it is wanted: crash.Abort
	// otherwise lowers the limit. A launcher must not lower it, since its children inherit it.
	launcher := len(os.Args) > 1 && slices.Contains([]string{"remote", "run", "search", "supervise"}, os.Args[1])
	crash.Abort(launcher || os.Getenv("GOTRACEBACK") == "crash")
	delayFirstGC(os.Getenv("GOGC"))
	p := &program{Process: &cli.Process{
		Name: os.Args[0], Args: os.Args[1:], Env: os.Environ(),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit,
		Rewrite: flags.WithOptions,
	}}
	os.Exit(p.main())
}

// program is a call of gvw.
type program struct{ *cli.Process }

// main runs the command and returns the exit code. If the command fails, the last line on
// stderr has the root cause, where it occurred, and the remedy.
func (p *program) main() int {
	t := commands()
	if c := t.Command("supervise"); len(p.Args) > 0 && p.Args[0] == c.Name {
		code, err := run.Supervise(p.Process, c, p.Args[1:])
		if err != nil {
			return p.fail(err)
		}
		return code
	}
	ctx, stop := cli.Interruptible(context.Background(), p.Process, p.signals())
	defer stop()
	if err := watchLauncher(p.Env, stop); err != nil {
		return p.fail(err)
	}
	err := p.run(ctx, t)
	if cerr := p.End(); err == nil {
		err = cerr
	}
	if err == nil {
		return 0
	}
	// After a signal, the errors of the run are consequences: print the signal only.
	if cause, ok := context.Cause(ctx).(*cli.Interruption); ok {
		err = cause
	}
	return p.fail(err)
}

// run runs the command that the first argument names, else the learner.
func (p *program) run(ctx context.Context, t *cli.Table) error {
	if len(p.Args) > 0 {
		if c := t.Command(p.Args[0]); c != nil && c.Run != nil {
			return c.Run(ctx, p.Process, c, p.Args[1:])
		}
	}
	if err := t.CheckCommand(p.Args); err != nil {
		return err
	}
	return train.Command(ctx, p.Process, t.Learner, p.Args)
}

// signals returns how this command handles signals. YARN kills a map task soon after
// SIGTERM, and may start another attempt of it. A worker that is started again leaves its job, too.
func (p *program) signals() cli.SignalPolicy {
	if len(p.Args) > 0 && p.Args[0] == "mapper" {
		return cli.SignalPolicy{Quick: true, Err: allreduce.ErrLeaving}
	}
	if p.Getenv(launch.EnvLeaves) == "1" {
		return cli.SignalPolicy{Err: allreduce.ErrLeaving}
	}
	return cli.SignalPolicy{}
}

// fail prints the lines of an error, the root cause last, and returns its exit code.
func (p *program) fail(err error) int {
	code := exitCode(err)
	for _, line := range flags.ErrorLines(err) {
		p.Note(slog.LevelError, line, "exit_code", code)
	}
	return code
}

// watchLauncher ends the run when the launcher that started this process dies, even by
// SIGKILL: the launcher's end of the inherited pipe is then closed by the system. This process leaves
// its job as a lost rank does, since the launcher of a single rank may itself be started again. Without a
// launcher it does nothing.
func watchLauncher(env []string, stop func(...*cli.Interruption)) error {
	for _, kv := range env {
		value, found := strings.CutPrefix(kv, launch.EnvLifeline+"=")
		if !found || value == "" {
			continue
		}
		fd, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return cli.Usagef("%s=%s is no file descriptor: unset this variable; only gvw run sets it", launch.EnvLifeline, value)
		}
		launch.Watch(os.NewFile(uintptr(fd), "launcher"), func() {
			stop(&cli.Interruption{Text: launch.ErrLauncherGone.Error() + ": ended, and left no file half written", Code: cli.ExitLost, Err: allreduce.ErrLeaving})
		})
	}
	return nil
}
