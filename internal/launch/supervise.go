// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// Supervised is one command that is started again when it dies, under a launcher
// that restarts nothing itself.
type Supervised struct {
	// Restarts is how often the command is started again; 0: never.
	Restarts int
	// Signals brings what the supervisor is told. Each is passed on; one that Ends
	// says is a wish to end means no further start. nil: none comes.
	Signals <-chan os.Signal
	// Ends reports whether a signal is a wish to end; nil: all are.
	Ends func(os.Signal) bool
	// Restarting hears of a new start after a pause; nil: nobody does.
	Restarting func(r Result, pause time.Duration)
}

// Run runs commands that next makes, each with its number in EnvAttempt, until one
// ends well or another would not do better. It returns how the last one ended. The
// command holds the supervisor's pipe, as descriptor 3, where the system has that.
func (s Supervised) Run(next func() *exec.Cmd) (last Result, err error) {
	lifeline, mine, err := os.Pipe()
	if err != nil {
		return Result{}, fmt.Errorf("launch: cannot make a pipe: %w", err)
	}
	defer func() { err = errors.Join(err, mine.Close(), lifeline.Close()) }()
	began := time.Now()
	for attempt := 1; ; attempt++ {
		cmd := next()
		cmd.Env = append(cmd.Environ(), EnvAttempt+"="+strconv.Itoa(attempt))
		if CanInherit {
			cmd.ExtraFiles = []*os.File{lifeline}
			cmd.Env = append(cmd.Env, EnvLifeline+"=3")
		}
		if err := cmd.Start(); err != nil {
			return Result{Attempt: attempt, Code: 126, Err: fmt.Errorf("cannot start: %w", err)}, nil
		}
		r, told := s.one(cmd, attempt)
		r.After = time.Since(began)
		if told || r.Err != nil || attempt > s.Restarts || !Curable(r.Code) {
			return r, nil
		}
		pause := pauseBefore(attempt)
		if s.Restarting != nil {
			s.Restarting(r, pause)
		}
		if s.sleep(pause) {
			return r, nil
		}
	}
}

// one waits for one attempt. told: it was to end.
func (s Supervised) one(cmd *exec.Cmd, attempt int) (r Result, told bool) {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }() // joined below
	for {
		select {
		case err := <-done:
			return result(0, attempt, cmd, err), told
		case sig := <-s.Signals:
			told = told || s.ends(sig)
			if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
				_ = cmd.Process.Kill() // a system without signals
			}
		}
	}
}

// sleep waits for the next start. told: there is to be none.
func (s Supervised) sleep(pause time.Duration) (told bool) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return false
		case sig := <-s.Signals:
			if s.ends(sig) {
				return true
			}
		}
	}
}

func (s Supervised) ends(sig os.Signal) bool { return s.Ends == nil || s.Ends(sig) }
