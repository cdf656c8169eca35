// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/launch"
)

// catSupervise is the category of what gvw supervise takes.
const catSupervise = "Supervision"

// superviseFlags are the options of `gvw supervise`, before the "--".
var superviseFlags = []*spec{
	{name: "max_restarts", kind: integer, max: 1000, category: catSupervise, arg: "N", def: "3", help: "new starts of a command that dies"},
	{name: "quiet", kind: boolean, category: catSupervise, help: "do not say that the command is started again"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}

// superviseHelp is the help of gvw supervise.
func superviseHelp() string {
	var b strings.Builder
	b.WriteString("gvw supervise starts a command again when it dies, under launchers that restart\n" +
		"nothing: Slurm, mpirun and their like. Put it before each rank's command.\n\n" +
		"  gvw supervise -- gvw -d part.3 --span_server gateway --total 8 --node 3 ...\n")
	writeOptions(&b, superviseFlags, true)
	b.WriteString("\nThe pause before a new start is 0.1 s, and twice as long each time, up to 5 s.\n" +
		"Exit codes 0, 1, 2, 6, 130 and 143 end it: another attempt would do no better, or was\n" +
		"not wanted. Signals are passed on; the exit code is the command's last one.\n")
	return b.String()
}

// superviseCommand is gvw supervise. It returns the exit code. What the command is
// told by signals is the command's business, so it runs without the handlers of
// the other commands.
func (p *program) superviseCommand(args []string) (int, error) {
	s, err := normalise(superviseFlags, args, p.Env, os.ReadFile)
	switch {
	case err != nil:
		return 0, err
	case s.has("help"):
		return 0, p.Print(superviseHelp())
	case len(s.words) > 0:
		return 0, cli.Usagef("%q: the command comes after --, as in: gvw supervise -- gvw -d train.vw", s.words[0])
	case len(s.rest) == 0:
		return 0, cli.Usagef("gvw supervise: what is to be run? As in: gvw supervise -- gvw -d train.vw ...")
	}
	restarts := defaultRestarts
	if s.has("max_restarts") {
		restarts = int(s.number("max_restarts"))
	}
	path, err := exec.LookPath(s.rest[0])
	if err != nil {
		return 0, fmt.Errorf("gvw supervise: cannot run %s: %w", s.rest[0], err)
	}
	told := make(chan os.Signal, 8)
	signal.Notify(told, passedOn...)
	defer signal.Stop(told)
	job := launch.Supervised{Restarts: restarts, Signals: told, Ends: func(sig os.Signal) bool { return slices.Contains(endings, sig) }}
	if !s.has("quiet") {
		job.Restarting = func(r launch.Result, pause time.Duration) {
			fmt.Fprintf(p.Stderr, "gvw supervise: the command has ended (%s); attempt %d of at most %d follows in %v\n", howEnded(r), r.Attempt+1, restarts+1, pause)
		}
	}
	r, err := job.Run(func() *exec.Cmd {
		cmd := exec.Command(path, s.rest[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = p.Stdin, p.Stdout, p.Stderr, p.Env
		return cmd
	})
	if err == nil {
		err = r.Err
	}
	return r.Code, err
}

// endings are the signals after which nothing is started again.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM}
