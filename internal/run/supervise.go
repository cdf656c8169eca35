// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/launch"
)

// Supervise runs gvw supervise and returns the exit code of the command. Signals are passed on
// to the command, so the handlers of the other commands are not installed.
func Supervise(p *cli.Process, c *cli.Command, args []string) (int, error) {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return 0, err
	}
	switch {
	case len(s.Words) > 0:
		return 0, cli.Usagef("%q: the command comes after --, as in: gvw supervise -- gvw -d train.vw", s.Words[0])
	case len(s.Rest) == 0:
		return 0, cli.Usagef("gvw supervise: the command is missing, as in: gvw supervise -- gvw -d train.vw ...")
	}
	restarts := defaultRestarts
	if s.Has("max_restarts") {
		restarts = int(s.Number("max_restarts"))
	}
	path, err := exec.LookPath(s.Rest[0])
	if err != nil {
		return 0, fmt.Errorf("gvw supervise: cannot run %s: %w", s.Rest[0], err)
	}
	// The buffer holds signals that arrive in the pause between two attempts.
	signals := make(chan os.Signal, 8)
	// A signal that is ignored, as SIGHUP under nohup, stays so, and the command ignores it, too.
	if taken := slices.DeleteFunc(slices.Clone(passedOn), signal.Ignored); len(taken) > 0 {
		signal.Notify(signals, taken...)
		defer signal.Stop(signals)
	}
	job := launch.Supervised{Restarts: restarts, Signals: signals, Ends: func(sig os.Signal) bool { return slices.Contains(endings, sig) }}
	if !s.Has("quiet") {
		job.Restarting = func(r launch.Result, pause time.Duration) {
			fmt.Fprintf(p.Stderr, "gvw supervise: the command has ended (%s); attempt %d of at most %d follows in %v\n", howEnded(r), r.Attempt+1, restarts+1, pause)
		}
	}
	r, err := job.Run(func() *exec.Cmd {
		cmd := exec.Command(path, s.Rest[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = p.Stdin, p.Stdout, p.Stderr, p.Env
		return cmd
	})
	if err == nil {
		err = r.Err
	}
	return r.Code, err
}

// endings are the signals after which the command is not restarted. The others, such as SIGUSR1,
// are only passed on.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
