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

// DefaultGrace is the default of Job.Grace.
const DefaultGrace = 10 * time.Second

// Job describes how a launcher treats its workers. The zero value is ready to use.
type Job struct {
	// Grace is the time between the signal to a worker and killing it; 0: DefaultGrace.
	Grace time.Duration
	// Settle is the time to wait for the cause of a symptom; 0: 2 s.
	Settle time.Duration
	// Symptom reports whether an exit code means that another worker was lost;
	// nil: none does.
	Symptom func(code int) bool

	// Secret is passed to each worker in a descriptor, whose number is in EnvSecret. At most
	// 4096 bytes; nil: none. It must be nil on systems without CanInherit.
	Secret []byte

	// EmptyStdin gives the workers an empty Stdin, for programs that may read it, and the
	// pipe as another descriptor, whose number is in EnvLifeline. false, and on systems
	// without CanInherit: Stdin is the pipe.
	EmptyStdin bool

	// Restarts is the number of restarts of a failed worker; 0: none.
	Restarts int
	// Curable reports whether another attempt may succeed after that exit code;
	// nil: the function Curable.
	Curable func(code int) bool
	// Again reports whether a failed worker should be restarted. It is called when the
	// worker has ended, and again after the delay before the restart;
	// nil: always.
	Again func(Result) bool
	// Without reports whether the other workers continue without a failed worker that is not
	// restarted. Its failure then does not end the job, as long as one of them succeeds.
	// nil: they never do.
	Without func(Result) bool
	// Missed delivers ranks for which Without was wrong: the others
	// cannot end without them. nil: none.
	Missed <-chan int
	// Restarting is called when a worker is about to be restarted after a delay; nil: not called.
	Restarting func(r Result, pause time.Duration)
	// Died is called for each failed worker before all other reactions,
	// for example to remove its temporary files; nil: not called.
	Died func(Result)
	// Hung delivers ranks whose process hangs, as another component has found. It is killed
	// and restarted. nil: none.
	Hung <-chan int
	// Kills delivers requests to treat a rank as one of Hung. nil: none.
	Kills <-chan Kill
	// Stopped delivers ranks whose process should end but does not. It gets Over, and SIGCONT,
	// since it may have been stopped and then handles no signal. nil: none.
	Stopped <-chan int
	// Over is a signal that tells the processes of Stopped that the job is over; nil: none.
	Over os.Signal
	// AtKill is called once, before the first worker starts, with a function that kills all
	// workers at once. A launcher calls that function, from any goroutine, if it has to end
	// before Run has returned. nil: not called.
	AtKill func(kill func())
}

// Kill is a request to kill the process of a rank.
type Kill struct {
	Rank   int
	Killed chan<- bool // receives whether there was a process; it has room for one value
}

// Result is the outcome of one worker.
type Result struct {
	Rank    int
	Attempt int           // from 1
	Pid     int           // 0: it did not start
	Code    int           // 0: success; 128+s: ended by signal s
	Signal  os.Signal     // that signal; nil: it exited
	Ended   bool          // ended by the launcher
	Hung    bool          // it hung and was killed
	Spared  bool          // it failed, and the others continued without it
	After   time.Duration // time since the start of the job
	CPU     time.Duration // processor time, with that of processes that it has waited for
	Err     error         // the worker could not be started, or waited for

	at      time.Time // of the end of the process; its output may end later
	copying bool      // the output is still being copied
}

func (r Result) failed() bool { return r.Code != 0 || r.Err != nil }

// Run starts the commands, of which cmds[i] is rank i, and returns when all have
// ended. A restarted command is a copy of the first, with another number
// in EnvAttempt. results has the last attempt of each rank; root is the rank that
// failed first, -1 if none did. The end of ctx ends the workers. Run sets the commands'
// Stdin: it is the launcher's pipe, or empty (EmptyStdin). Their WaitDelay bounds the reading of
// output after the end of a process, without the time for writing it to Stdout or Stderr. A writer
// that takes long delays a restart by a little more than WaitDelay at most, but it delays the
// return of Run until it has all output of the processes. The output of an attempt follows that of
// the one before.
func (j Job) Run(ctx context.Context, cmds []*exec.Cmd) (results []Result, root int, err error) {
	if j.Grace == 0 {
		j.Grace = DefaultGrace
	}
	if j.Settle == 0 {
		j.Settle = 2 * time.Second
	}
	if j.Symptom == nil {
		j.Symptom = func(int) bool { return false }
	}
	// Workers inherit the read end; the write end is closed by exec. The read end stays
	// open here for restarted workers.
	lifeline, mine, err := os.Pipe()
	if err != nil {
		return nil, -1, fmt.Errorf("launch: cannot make a pipe: %w", err)
	}
	defer func() { err = errors.Join(err, mine.Close(), lifeline.Close()) }()

	s := newSupervisor(j, cmds, lifeline)
	if j.AtKill != nil {
		j.AtKill(s.procs.kill)
	}
	for rank := range cmds {
		s.start(rank)
	}
	s.wait(ctx)
	return s.results, s.root(), nil
}

// supervisor is the state of one Run. Only the goroutine of Run changes it; the goroutines that
// wait for processes and timers send to ended and due, which have room for one value per rank.
type supervisor struct {
	job      Job
	lifeline *os.File
	first    []*exec.Cmd // by rank: the original command
	cmds     []*exec.Cmd // by rank: the running command
	procs    started
	began    time.Time
	ended    chan Result
	running  int
	copied   chan Result // results that were sent before their output was copied; Err is then that of copying
	copying  int         // their number
	outs     []outputs   // by rank: of the newest process

	results []Result // by rank, of the last attempt
	pauses  map[int]*time.Timer
	alive   []bool      // by rank: started, and its end not yet handled
	hung    map[int]int // by rank: the attempt that was killed because it hung
	due     chan int    // ranks whose delay is over
	ending  bool
	endedAt time.Time        // the time of the signal to all workers
	kill    <-chan time.Time // the end of the grace period
	settled <-chan time.Time // when a symptom counts as the cause
}

// newSupervisor returns the state of a run before its first process.
func newSupervisor(j Job, cmds []*exec.Cmd, lifeline *os.File) *supervisor {
	n := len(cmds)
	return &supervisor{
		job: j, lifeline: lifeline, first: cmds, cmds: make([]*exec.Cmd, n), procs: started{procs: map[int]*os.Process{}},
		began: time.Now(), ended: make(chan Result, n), copied: make(chan Result), outs: make([]outputs, n), results: make([]Result, n), pauses: map[int]*time.Timer{},
		hung: map[int]int{}, alive: make([]bool, n), due: make(chan int, n),
	}
}

// start starts the next attempt of a worker. A failure to start counts as a failed attempt, with
// exit code 126 as in a shell. An exec.Cmd cannot be started twice, so each attempt has a copy.
func (s *supervisor) start(rank int) {
	f := s.first[rank]
	attempt := s.results[rank].Attempt + 1
	cmd := &exec.Cmd{
		Path: f.Path, Args: f.Args, Dir: f.Dir, SysProcAttr: f.SysProcAttr,
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
	out, err := redirect(cmd)
	if err == nil {
		if err = s.startWithSecret(rank, cmd); err != nil {
			_ = out.close() // nothing was written
		}
	}
	if err != nil {
		s.ended <- Result{Rank: rank, Attempt: attempt, Code: 126, at: time.Now(), Err: fmt.Errorf("cannot start: %w", err)}
		return
	}
	s.alive[rank] = true
	out.start(s.outs[rank])
	s.outs[rank] = out
	go s.await(rank, attempt, cmd, out, f.WaitDelay) // wait receives one result per start
}

// await waits for the end of a process and of its output, and sends its result. If the reader of the output takes longer
// than the time delay, the result comes first, since the rank may have to be restarted, and the end of the output follows.
func (s *supervisor) await(rank, attempt int, cmd *exec.Cmd, out outputs, delay time.Duration) {
	err := cmd.Wait() // not for the output
	at := time.Now()
	copied := make(chan error, 1)
	go func() { copied <- out.wait(delay) }() // joined below
	var late <-chan time.Time
	if delay > 0 {
		late = time.After(delay + delay/4) // the output of a process that writes nothing has been closed by then
	}
	select {
	case oerr := <-copied:
		if err == nil {
			err = oerr
		}
		s.ended <- result(rank, attempt, cmd, at, err)
	case <-late:
		r := result(rank, attempt, cmd, at, err)
		r.copying = true
		s.ended <- r
		r.Err = <-copied
		s.copied <- r
	}
}

// startWithSecret starts a worker and passes the secret to it, if there is one. Each worker has a
// pipe of its own, since reading empties it.
func (s *supervisor) startWithSecret(rank int, cmd *exec.Cmd) error {
	if len(s.job.Secret) == 0 {
		return s.procs.start(rank, cmd)
	}
	r, err := handOver(s.job.Secret)
	if err != nil {
		return fmt.Errorf("cannot pass the secret: %w", err)
	}
	defer r.Close() // the worker has its own copy
	inherit(cmd, EnvSecret, r)
	return s.procs.start(rank, cmd)
}

// inherit passes a file to a command as its next descriptor, whose number is put into the variable.
func inherit(cmd *exec.Cmd, variable string, f *os.File) {
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", variable, 3+len(cmd.ExtraFiles)))
	cmd.ExtraFiles = append(cmd.ExtraFiles, f)
}

// result returns the outcome of a process that ended at a time. err is the error of cmd.Wait, or else of copying its output.
func result(rank, attempt int, cmd *exec.Cmd, at time.Time, err error) Result {
	r := Result{Rank: rank, Attempt: attempt, Pid: cmd.Process.Pid, Code: cmd.ProcessState.ExitCode(), at: at}
	r.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.Code, r.Signal = 128+int(ws.Signal()), ws.Signal()
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		r.Err = err
	}
	return r
}

// wait handles the ends of the workers until all have ended, and their output.
func (s *supervisor) wait(ctx context.Context) {
	interrupted := ctx.Done()
	for s.running+len(s.pauses)+s.copying > 0 {
		select {
		case r := <-s.ended:
			s.running--
			if r.copying {
				s.copying++
			}
			s.record(r)
		case r := <-s.copied:
			s.copying--
			// Output that cannot be written fails a worker that has succeeded.
			if last := s.results[r.Rank]; r.Err != nil && last.Attempt == r.Attempt && !last.failed() {
				s.record(r)
			}
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
		case k := <-s.job.Kills:
			k.Killed <- s.killHung(k.Rank)
		case rank := <-s.job.Stopped:
			s.wakeStopped(rank)
		case rank := <-s.job.Missed:
			s.miss(rank)
		}
	}
}

// record records the end of a worker.
func (s *supervisor) record(r Result) {
	r.After = r.at.Sub(s.began)
	r.Ended = s.ending && r.at.After(s.endedAt) && (r.Signal != nil || r.Code == 128+int(syscall.SIGTERM))
	r.Hung = r.Signal == os.Kill && s.hung[r.Rank] == r.Attempt
	s.alive[r.Rank] = false
	s.results[r.Rank] = r
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

// failed ends the job for a failure without a remedy.
func (s *supervisor) failed(r Result) {
	switch {
	case !s.ending && s.job.Without != nil && s.job.Without(r):
		s.results[r.Rank].Spared = true
	default:
		s.fatal(r)
	}
}

// fatal ends the job: at once for a cause, after Settle for a symptom.
func (s *supervisor) fatal(r Result) {
	switch {
	case !s.job.Symptom(r.Code):
		s.end()
	case s.settled == nil:
		s.settled = time.After(s.job.Settle)
	}
}

// miss ends the job if the rank was spared.
func (s *supervisor) miss(rank int) {
	if r := &s.results[rank]; r.Spared {
		r.Spared = false
		s.fatal(*r)
	}
}

// end signals all workers to end, once.
func (s *supervisor) end() {
	if s.ending {
		return
	}
	s.ending, s.endedAt = true, time.Now()
	s.cancelPauses()
	s.kill = time.After(s.job.Grace)
	s.signal(syscall.SIGTERM)
}

// signal sends a signal to all processes that were started.
func (s *supervisor) signal(sig os.Signal) {
	for _, cmd := range s.cmds {
		if cmd == nil || cmd.Process == nil {
			continue
		}
		// An error means that it has ended already, or that it cannot be signalled
		// (Windows has no SIGTERM); then it is killed later.
		if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
			_ = cmd.Process.Kill()
		}
		wake(cmd.Process)
	}
}

// root returns the rank that failed first, or -1. A cause comes before all symptoms, even
// earlier ones: the end of a rank that lost a peer may come before the end of the peer.
// A spared rank counts only if no rank has succeeded.
func (s *supervisor) root() int {
	symptom, spared := -1, -1
	done := slices.ContainsFunc(s.results, func(r Result) bool { return !r.failed() })
	order := slices.SortedStableFunc(slices.Values(s.results), func(a, b Result) int { return a.at.Compare(b.at) })
	for _, r := range order {
		switch {
		case !r.failed() || r.Ended:
		case r.Spared:
			if spared < 0 {
				spared = r.Rank
			}
		case !s.job.Symptom(r.Code):
			return r.Rank
		case symptom < 0:
			symptom = r.Rank
		}
	}
	if symptom < 0 && !done {
		return spared
	}
	return symptom
}
