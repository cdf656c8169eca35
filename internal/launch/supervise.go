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

// Supervised is one command that is restarted when it dies, under a launcher
// without restarts.
type Supervised struct {
	// Restarts is the number of restarts; 0: none.
	Restarts int
	// Signals delivers the signals to the supervisor. Each is passed on to the command. After
	// one for which Ends is true there is no restart. nil: none.
	Signals <-chan os.Signal
	// Ends reports whether a signal is a request to end; nil: all are.
	Ends func(os.Signal) bool
	// Restarting is called before a restart after a delay; nil: not called.
	Restarting func(r Result, pause time.Duration)
}

// Run runs commands from next, each with its number in EnvAttempt, until one
// succeeds or another attempt is useless. It returns the result of the last one. The
// command has the supervisor's pipe as descriptor 3, on systems with CanInherit.
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

// one waits for the end of one attempt, and passes signals on to it. told is true if one of them
// was a request to end.
func (s Supervised) one(cmd *exec.Cmd, attempt int) (r Result, told bool) {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }() // joined below
	for {
		select {
		case err := <-done:
			return result(0, attempt, cmd, time.Now(), err), told
		case sig := <-s.Signals:
			told = told || s.ends(sig)
			if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
				_ = cmd.Process.Kill() // on a system without signals
			}
		}
	}
}

// sleep waits for the time of the next restart. It returns early, with told set, at a signal
// that is a request to end.
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
