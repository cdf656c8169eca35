// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/crash"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/learn"
)

func main() {
	// A launcher's children have the core limit that the user has set.
	launcher := len(os.Args) > 1 && slices.Contains([]string{"run", "supervise"}, os.Args[1])
	crash.Abort(launcher || os.Getenv("GOTRACEBACK") == "crash")
	p := &program{Process: &cli.Process{
		Args: os.Args[1:], Env: os.Environ(),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit,
	}}
	os.Exit(p.main())
}

// program is a call of gvw: its process, and the state that its commands share.
type program struct {
	*cli.Process
	rank     int              // for faults
	task     *mapper          // of Hadoop's; nil: none
	enlisted *allreduce.Group // of who has joined before it knows its inputs; nil: this has not
	live     []int            // then: who takes part; nil: all
	replaces bool             // it was a spare, and has the rank of one that is lost
	opened   []*hdfsio.URLs   // to be closed at the end
	report   *learn.Report    // of the training that has ended last
}

// main runs the command and returns the exit code. What it prints last, if the
// command fails, says what, where, why and what to do.
func (p *program) main() int {
	if len(p.Args) > 0 && p.Args[0] == "supervise" {
		code, err := p.superviseCommand(p.Args[1:])
		if err != nil {
			return p.fail(err)
		}
		return code
	}
	ctx, stop := cli.Interruptible(context.Background(), p.Process, p.signals(), underWay.remove)
	defer stop()
	if err := watchLauncher(p.Env, stop); err != nil {
		return p.fail(err)
	}
	err := p.run(ctx)
	if cerr := p.closeFiles(); err == nil {
		err = cerr
	}
	if err == nil {
		return 0
	}
	// What broke because the process was told to end is no news.
	if cause, ok := context.Cause(ctx).(*cli.Interruption); ok {
		err = cause
	}
	return p.fail(err)
}

// signals returns how this command handles signals. YARN kills a map task soon after
// SIGTERM, and may start another attempt of it.
func (p *program) signals() cli.SignalPolicy {
	if len(p.Args) > 0 && p.Args[0] == "mapper" {
		return cli.SignalPolicy{Quick: true, Err: allreduce.ErrLeaving}
	}
	return cli.SignalPolicy{}
}

func (p *program) fail(err error) int {
	for _, line := range cli.ErrorLines(err) {
		fmt.Fprintln(p.Stderr, "gvw: "+line)
	}
	return exitCode(err)
}

// watchLauncher ends the run when the launcher that started this process dies.
func watchLauncher(env []string, stop func(...*cli.Interruption)) error {
	for _, kv := range env {
		value, found := strings.CutPrefix(kv, launch.EnvLifeline+"=")
		if !found || value == "" {
			continue
		}
		fd, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return cli.Usagef("%s=%s is no file descriptor: gvw run sets this variable, nobody else should", launch.EnvLifeline, value)
		}
		launch.Watch(os.NewFile(uintptr(fd), "launcher"), func() {
			stop(&cli.Interruption{Text: launch.ErrLauncherGone.Error() + ": ended, and left no file half written", Code: cli.ExitLost})
		})
	}
	return nil
}
