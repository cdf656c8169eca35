// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
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

	// Secret is handed to every worker as a descriptor, of which EnvSecret tells, at most
	// 4096 bytes; nil: nothing is. Where a system cannot (CanInherit) it must be nil.
	Secret []byte

	// EmptyStdin gives the workers an empty Stdin, for programs that may read it, and the
	// pipe as a further descriptor, of which EnvLifeline tells. False, and where a system
	// cannot hand one over (CanInherit): Stdin is the pipe.
	EmptyStdin bool

	// Restarts is how often a worker that has failed is started again; 0: never.
	Restarts int
	// Curable reports whether another attempt may do better than one with that exit code;
	// nil: the function Curable.
	Curable func(code int) bool
	// Again reports whether a new start of a worker that has failed makes sense. It is
	// asked when the worker has ended, and again when the pause before the start is
	// over; nil: always.
	Again func(Result) bool
	// Without reports whether the others go on without a worker that has failed and is not
	// started again: then that ends nothing, as long as one of them is done in the end.
	// nil: they never do.
	Without func(Result) bool
	// Missed brings ranks that Without has taken for dispensable too early: the others
	// cannot end without them. nil: nobody does.
	Missed <-chan int
	// Restarting hears of a worker that is started again after a pause; nil: nobody does.
	Restarting func(r Result, pause time.Duration)
	// Died hears of every worker that has failed, before anything else is done about
	// it: it may remove what that one left. nil: nobody does.
	Died func(Result)
	// Hung brings ranks whose process is to be killed, and started again: somebody
	// else has found that it hangs. nil: nobody does.
	Hung <-chan int
	// Stopped brings ranks whose process has nothing left to do but to end, and does not:
	// should it be stopped, it is woken. nil: nobody does.
	Stopped <-chan int
}

// Result is how one worker ended.
type Result struct {
	Rank    int
	Attempt int           // from 1
	Pid     int           // 0: it did not start
	Code    int           // 0: done; 128+s: ended by signal s
	Signal  os.Signal     // that signal; nil: it exited
	Ended   bool          // on the launcher's wish
	Hung    bool          // it did nothing any more, and was killed for it
	Spared  bool          // it failed, and the others went on without it
	After   time.Duration // since the start of the job
	Err     error         // the worker could not be started, or waited for
}

func (r Result) failed() bool { return r.Code != 0 || r.Err != nil }

// Run starts the commands, rank i being cmds[i], and returns when all have
// ended. A command that is started again is a copy of the first, with another number
// in EnvAttempt. results has the last attempt of each rank; root is the rank that
// failed first, -1 if none did. When ctx ends, so do the workers. The commands'
// Stdin is taken: it is the launcher's pipe, or empty (EmptyStdin).
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
	// Workers inherit the reading end; the writing end closes when exec does. It stays
	// open here for those that are started later.
	lifeline, mine, err := os.Pipe()
	if err != nil {
		return nil, -1, fmt.Errorf("launch: cannot make a pipe: %w", err)
	}
	defer func() { err = errors.Join(err, mine.Close(), lifeline.Close()) }()

	s := newSupervisor(j, cmds, lifeline)
	for rank := range cmds {
		s.start(rank)
	}
	s.wait(ctx)
	return s.results, s.root(), nil
}

// supervisor is the state of one Run.
type supervisor struct {
	job      Job
	lifeline *os.File
	first    []*exec.Cmd // what each rank was to run
	cmds     []*exec.Cmd // what it runs
	began    time.Time
	ended    chan Result
	running  int

	results []Result // by rank, of the last attempt
	order   []int    // ranks in the order of their last ends
	pauses  map[int]*time.Timer
	alive   []bool      // by rank: a process that has started and whose end is not taken yet
	hung    map[int]int // the attempt of a rank that was killed for hanging
	due     chan int    // ranks whose pause is over
	ending  bool
	kill    <-chan time.Time // when patience ends
	settled <-chan time.Time // when a symptom is taken for the cause
}

func newSupervisor(j Job, cmds []*exec.Cmd, lifeline *os.File) *supervisor {
	n := len(cmds)
	return &supervisor{
		job: j, lifeline: lifeline, first: cmds, cmds: make([]*exec.Cmd, n), began: time.Now(), ended: make(chan Result, n),
		results: make([]Result, n), pauses: map[int]*time.Timer{}, hung: map[int]int{}, alive: make([]bool, n), due: make(chan int, n),
	}
}

// start starts a worker's next attempt; one that cannot start is a failed one.
func (s *supervisor) start(rank int) {
	f := s.first[rank]
	attempt := s.results[rank].Attempt + 1
	cmd := &exec.Cmd{
		Path: f.Path, Args: f.Args, Dir: f.Dir, SysProcAttr: f.SysProcAttr, WaitDelay: f.WaitDelay,
		Stdout: f.Stdout, Stderr: f.Stderr, Env: f.Environ(),
	}
	if s.job.EmptyStdin && CanInherit {
		inherit(cmd, EnvLifeline, s.lifeline)
	} else {
		cmd.Stdin = s.lifeline
		cmd.Env = append(cmd.Env, EnvLifeline+"=0")
	}
	if s.job.Restarts > 0 {
		cmd.Env = append(cmd.Env, EnvAttempt+"="+strconv.Itoa(attempt))
	}
	s.cmds[rank] = cmd
	s.running++
	if err := s.startWithSecret(cmd); err != nil {
		s.ended <- Result{Rank: rank, Attempt: attempt, Code: 126, Err: fmt.Errorf("cannot start: %w", err)}
		return
	}
	s.alive[rank] = true
	// Joined by wait, which takes one result per start.
	go func() { s.ended <- result(rank, attempt, cmd, cmd.Wait()) }()
}

// startWithSecret starts a worker, and hands it the secret if there is one.
func (s *supervisor) startWithSecret(cmd *exec.Cmd) error {
	if len(s.job.Secret) == 0 {
		return cmd.Start()
	}
	r, err := handOver(s.job.Secret)
	if err != nil {
		return fmt.Errorf("cannot hand over the secret: %w", err)
	}
	defer r.Close() // the worker has its own
	inherit(cmd, EnvSecret, r)
	return cmd.Start()
}

// inherit hands a file to a command as its next descriptor, which the variable names.
func inherit(cmd *exec.Cmd, variable string, f *os.File) {
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", variable, 3+len(cmd.ExtraFiles)))
	cmd.ExtraFiles = append(cmd.ExtraFiles, f)
}

func result(rank, attempt int, cmd *exec.Cmd, err error) Result {
	r := Result{Rank: rank, Attempt: attempt, Pid: cmd.Process.Pid, Code: cmd.ProcessState.ExitCode()}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.Code, r.Signal = 128+int(ws.Signal()), ws.Signal()
	}
	// A process that it has left behind may hold its output open: that is no failure.
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited && !errors.Is(err, exec.ErrWaitDelay) {
		r.Err = err
	}
	return r
}

// wait takes the workers' ends as they come.
func (s *supervisor) wait(ctx context.Context) {
	interrupted := ctx.Done()
	for s.running+len(s.pauses) > 0 {
		select {
		case r := <-s.ended:
			s.running--
			s.took(r)
		case rank := <-s.due:
			s.resume(rank)
		case <-s.settled:
			s.settled = nil
			s.end()
		case <-interrupted:
			interrupted = nil
			s.end()
		case <-s.kill:
			s.kill = nil
			s.signal(os.Kill)
		case rank := <-s.job.Hung:
			s.killHung(rank)
		case rank := <-s.job.Stopped:
			s.wakeStopped(rank)
		case rank := <-s.job.Missed:
			s.miss(rank)
		}
	}
}

// took notes how a worker has ended.
func (s *supervisor) took(r Result) {
	r.After = time.Since(s.began)
	r.Ended = s.ending && (r.Signal != nil || r.Code == 128+int(syscall.SIGTERM))
	r.Hung = r.Signal == os.Kill && s.hung[r.Rank] == r.Attempt
	s.alive[r.Rank] = false
	s.results[r.Rank] = r
	s.order = append(slices.DeleteFunc(s.order, func(rank int) bool { return rank == r.Rank }), r.Rank)
	if !r.failed() {
		return
	}
	if s.job.Died != nil {
		s.job.Died(r)
	}
	if !s.pause(r) {
		s.failed(r)
	}
}

// failed ends the job for a failure that nothing is done about.
func (s *supervisor) failed(r Result) {
	switch {
	case !s.ending && s.job.Without != nil && s.job.Without(r):
		s.results[r.Rank].Spared = true
	default:
		s.fatal(r)
	}
}

// fatal ends the job: at once for a cause, a little later for a symptom.
func (s *supervisor) fatal(r Result) {
	switch {
	case !s.job.Symptom(r.Code):
		s.end()
	case s.settled == nil:
		s.settled = time.After(s.job.Settle)
	}
}

// miss ends the job for a rank that was spared, if it was.
func (s *supervisor) miss(rank int) {
	if r := &s.results[rank]; r.Spared {
		r.Spared = false
		s.fatal(*r)
	}
}

// end asks every worker to end, once.
func (s *supervisor) end() {
	if s.ending {
		return
	}
	s.ending = true
	s.cancelPauses()
	s.kill = time.After(s.job.Grace)
	s.signal(syscall.SIGTERM)
}

func (s *supervisor) signal(sig os.Signal) {
	for _, cmd := range s.cmds {
		if cmd == nil || cmd.Process == nil {
			continue
		}
		// One that has ended already is what we want; one that cannot be asked
		// (Windows has no SIGTERM) is killed.
		if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
			_ = cmd.Process.Kill()
		}
		wake(cmd.Process)
	}
}

// root returns the rank whose failure came first, symptoms after causes. One that was spared
// counts where nobody is done.
func (s *supervisor) root() int {
	symptom, spared := -1, -1
	done := slices.ContainsFunc(s.results, func(r Result) bool { return !r.failed() })
	for _, rank := range s.order {
		r := s.results[rank]
		switch {
		case !r.failed() || r.Ended:
		case r.Spared:
			if spared < 0 {
				spared = rank
			}
		case !s.job.Symptom(r.Code):
			return rank
		case symptom < 0:
			symptom = rank
		}
	}
	if symptom < 0 && !done {
		return spared
	}
	return symptom
}
