// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Job says how a launcher treats its workers. The zero value is ready to use.
type Job struct {
	// Grace is the time between asking a worker to end and killing it; 0: 10 s.
	Grace time.Duration
	// Settle is the time that a symptom waits for its cause; 0: 2 s.
	Settle time.Duration
	// Symptom reports whether an exit code says that another worker was lost;
	// nil: none does.
	Symptom func(code int) bool
}

// Result is how one worker ended.
type Result struct {
	Rank   int
	Code   int           // 0: done; 128+s: ended by signal s
	Signal os.Signal     // that signal; nil: it exited
	Ended  bool          // on the launcher's wish
	After  time.Duration // since the start
	Err    error         // the worker could not be started, or waited for
}

func (r Result) failed() bool { return r.Code != 0 || r.Err != nil }

// Run starts the commands, rank i being cmds[i], and returns when all have
// ended. root is the rank that failed first, -1 if none did. When ctx ends, so
// do the workers. The commands' Stdin is taken: it is the launcher's pipe.
func (j Job) Run(ctx context.Context, cmds []*exec.Cmd) (results []Result, root int, err error) {
	if j.Grace == 0 {
		j.Grace = 10 * time.Second
	}
	if j.Settle == 0 {
		j.Settle = 2 * time.Second
	}
	if j.Symptom == nil {
		j.Symptom = func(int) bool { return false }
	}
	// Workers inherit the reading end; the writing end closes when exec does.
	lifeline, mine, err := os.Pipe()
	if err != nil {
		return nil, -1, fmt.Errorf("launch: cannot make a pipe: %w", err)
	}
	defer func() { err = errors.Join(err, mine.Close()) }()

	s := &supervisor{job: j, cmds: cmds, began: time.Now(), ended: make(chan Result, len(cmds))}
	s.start(lifeline)
	if err := lifeline.Close(); err != nil {
		s.end()
		s.wait(ctx)
		return s.results, s.root(), fmt.Errorf("launch: cannot close a pipe: %w", err)
	}
	s.wait(ctx)
	return s.results, s.root(), nil
}

// supervisor is the state of one Run.
type supervisor struct {
	job     Job
	cmds    []*exec.Cmd
	began   time.Time
	ended   chan Result
	running int

	results []Result // by rank
	order   []int    // ranks in the order of their ends
	ending  bool
	kill    <-chan time.Time // when patience ends
}

// start starts every worker; one that cannot start is a failed one.
func (s *supervisor) start(lifeline *os.File) {
	s.results = make([]Result, len(s.cmds))
	for rank, cmd := range s.cmds {
		cmd.Stdin = lifeline
		cmd.Env = append(cmd.Environ(), EnvLifeline+"=0")
		s.running++
		if err := cmd.Start(); err != nil {
			s.ended <- Result{Rank: rank, Code: 126, Err: fmt.Errorf("cannot start: %w", err)}
			continue
		}
		// Joined by wait, which takes one result per worker.
		go func() { s.ended <- result(rank, cmd, cmd.Wait()) }()
	}
}

func result(rank int, cmd *exec.Cmd, err error) Result {
	r := Result{Rank: rank, Code: cmd.ProcessState.ExitCode()}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.Code, r.Signal = 128+int(ws.Signal()), ws.Signal()
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		r.Err = err
	}
	return r
}

// wait takes the workers' ends as they come.
func (s *supervisor) wait(ctx context.Context) {
	interrupted := ctx.Done()
	var settled <-chan time.Time
	for s.running > 0 {
		select {
		case r := <-s.ended:
			s.running--
			r.After = time.Since(s.began)
			r.Ended = s.ending && (r.Signal != nil || r.Code == 128+int(syscall.SIGTERM))
			s.results[r.Rank] = r
			s.order = append(s.order, r.Rank)
			switch {
			case !r.failed():
			case !s.job.Symptom(r.Code):
				s.end()
			case settled == nil:
				settled = time.After(s.job.Settle)
			}
		case <-settled:
			settled = nil
			s.end()
		case <-interrupted:
			interrupted = nil
			s.end()
		case <-s.kill:
			s.kill = nil
			s.signal(os.Kill)
		}
	}
}

// end asks every worker to end, once.
func (s *supervisor) end() {
	if s.ending {
		return
	}
	s.ending = true
	s.kill = time.After(s.job.Grace)
	s.signal(syscall.SIGTERM)
}

func (s *supervisor) signal(sig os.Signal) {
	for _, cmd := range s.cmds {
		if cmd.Process == nil {
			continue
		}
		// One that has ended already is what we want; one that cannot be asked
		// (Windows has no SIGTERM) is killed.
		if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
			_ = cmd.Process.Kill()
		}
	}
}

// root is the rank whose failure came first, symptoms after causes.
func (s *supervisor) root() int {
	symptom := -1
	for _, rank := range s.order {
		r := s.results[rank]
		switch {
		case !r.failed() || r.Ended:
		case !s.job.Symptom(r.Code):
			return rank
		case symptom < 0:
			symptom = rank
		}
	}
	return symptom
}
