// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Steps is how far a rank is in the steps of its job, and what it needs to continue after a
// loss.
//
// A step is completed here if its exchange has returned before the epoch was sealed; both
// happen under mu. The server learns from Position and Seal how far every rank is, and resumes the
// job at the newest step that any of them has completed.
type Steps struct {
	cfg  Config
	job  Job
	work sync.WaitGroup // writes and removals of checkpoints
	acks acks

	recovers atomic.Bool     // set before the first epoch
	missing  *client.Missing // what this rank takes before anything else; nil: nothing. Of the runner

	state  sync.RWMutex  // held for writing by whatever changes the state, for reading by whatever copies it
	due    bool          // a step was committed of which no checkpoint was requested yet
	saving chan struct{} // full while a checkpoint is written, and when the job has finished
	// unwritten is the newest copy of the state that no checkpoint has yet.
	unwritten atomic.Pointer[checkpointCopy]
	// unfinished ends when the job has finished.
	unfinished context.Context
	finish     context.CancelCauseFunc // ends unfinished
	machine    State                   // nil: none yet
	live       members.Set             // the members of the last Shrink of the machine; nil: not known

	mu        sync.Mutex
	completed client.Point
	sealed    []protocol.Epoch // the epochs that are over for this rank, since it entered the current one
	worked    bool             // the contribution to the next step is ready
	begun     bool             // the next exchange has begun: the results of the last step may be gone
	done      uint64           // steps of a job that does not recover
	reading   time.Duration    // the first work, which reads the shard; 0: not done
	took      time.Duration    // the newest work
	invalid   bool             // the machine is reading a state, or has read one that the server does not know of
	arrived   client.Point     // with invalid: the step whose state was read as a whole; zero: none
	pause     *pause           // nil: the runner waits for nothing outside the collectives
}

var _ client.StepTracker = (*Steps)(nil)

// New returns the steps of a rank at the beginning of its job.
func New(cfg Config, job Job) *Steps {
	s := &Steps{cfg: cfg, job: job, saving: make(chan struct{}, 1)}
	s.unfinished, s.finish = context.WithCancelCause(context.Background())
	return s
}

// SetRank gives a spare the rank that the server has assigned to it, before the first epoch.
func (s *Steps) SetRank(rank int) { s.cfg.Rank = rank }

// SetRecovers states before the first epoch whether the job recovers from losses.
func (s *Steps) SetRecovers(recovers bool) { s.recovers.Store(recovers) }

// Recovers reports whether the job recovers from losses.
func (s *Steps) Recovers() bool { return s.recovers.Load() }

// SetState sets the machine whose state is kept, before its first step.
func (s *Steps) SetState(m State) {
	s.state.Lock()
	defer s.state.Unlock()
	s.machine = m
}

// Running reports whether SetState was called. A rank fetches what it lacks only for a machine.
func (s *Steps) Running() bool { return s.machine != nil }

// Wait waits until no checkpoint is written or removed any more.
func (s *Steps) Wait() { s.work.Wait() }

// Position returns how far this rank is.
func (s *Steps) Position() client.Position {
	waits := s.job.WaitsFor()
	s.mu.Lock()
	defer s.mu.Unlock()
	return client.Position{Completed: s.completed, Work: s.worked, WaitsFor: waits}
}

// Seal seals an epoch: a step that is not completed yet is not completed in it. It returns Position.
func (s *Steps) Seal(e protocol.Epoch) client.Position {
	s.mu.Lock()
	if !slices.Contains(s.sealed, e) {
		s.sealed = append(s.sealed, e) // several epochs may end before an exchange returns
	}
	s.mu.Unlock()
	return s.Position()
}

// Begin begins an epoch. A rank that lacks nothing is at the resume point, whose epoch may have
// another number on this rank. In an ending epoch the last one with collectives goes on, for
// ranks that take from others what they lack.
func (s *Steps) Begin(w *client.Wiring) {
	s.missing = w.Missing
	s.acks.begin(w)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = slices.DeleteFunc(s.sealed, func(e protocol.Epoch) bool { return w.Ending || e != w.Epoch })
	if !w.Ending && s.Recovers() && w.Missing == nil && w.Resume.Step > 0 {
		s.completed = w.Resume
	}
}

// Missing returns what this rank has to take before the next exchange; nil: nothing.
func (s *Steps) Missing() *client.Missing { return s.missing }

// complete completes a step, and reports false if its epoch is sealed.
func (s *Steps) complete(at client.Point, in protocol.Epoch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.sealed, in) {
		return false
	}
	s.completed, s.worked, s.begun, s.invalid = at, false, false, false
	return true
}

// invalidate notes that the machine begins to read a state, which replaces its own.
func (s *Steps) invalidate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.invalid, s.arrived, s.worked = true, client.Point{}, false
}

// setArrived notes that the machine has read the state of a step after its epoch was sealed.
func (s *Steps) setArrived(at client.Point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrived = at
}

// isInvalid reports whether the machine's state is not that of the completed step.
func (s *Steps) isInvalid() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.invalid
}

// hasArrived completes the resume point if its state has arrived too late for an earlier epoch,
// and reports whether it has. A rank that reported its position before it began to read that state
// counts as one that lacks only results. Its source waits until it has sent them, so the rank asks again.
func (s *Steps) hasArrived(w *client.Wiring) bool {
	if w.Missing.Payload == protocol.PayloadResults {
		return false
	}
	s.mu.Lock()
	fits := s.invalid && s.arrived == w.Resume && w.Resume != client.Point{}
	s.mu.Unlock()
	return fits && s.complete(w.Resume, w.Epoch)
}

// WorkDone notes that the work of the next step is done, and how long it took.
func (s *Steps) WorkDone(took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.worked, s.took = true, took
	if s.reading == 0 {
		s.reading = took
	}
}

// Pace returns the number of steps done, and the durations of the first work and of the newest
// one. The server finds stragglers with it.
func (s *Steps) Pace() (done uint64, reading, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.done, s.completed.Step), s.reading, s.took
}

// hasResults reports whether the results of the completed step are still there.
func (s *Steps) hasResults() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.begun
}

// at returns the newest completed step.
func (s *Steps) at() client.Point {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.completed
}

// Run exchanges and commits the step whose work is done. In a job that recovers it repeats the
// exchange in the next epochs, until the step is completed here or the results or the state of
// a later step are taken from another rank.
func (s *Steps) Run(ctx context.Context, m Step) error {
	for {
		err := s.try(ctx, m)
		if _, again := errors.AsType[*engine.InterruptedError](err); !again || !s.Recovers() || s.machine == nil {
			return err
		}
		if s.epochOver() || !s.ShrinkDue() {
			s.cfg.Log.Warn("the epoch is over, the job goes on", "rank", s.cfg.Rank, "step", s.at().Step, "cause", err)
		}
		if moved, err := s.resume(ctx); moved || err != nil {
			return err // the checkpoint of a state that was taken is its source's
		}
	}
}

// try makes one attempt at a step.
func (s *Steps) try(ctx context.Context, m Step) error {
	if err := s.awaitAcks(ctx); err != nil {
		return err
	}
	if err := s.shrink(); err != nil {
		return err
	}
	s.mu.Lock()
	s.begun = true
	s.mu.Unlock()
	if err := m.Exchange(ctx); err != nil {
		return err
	}
	if !s.Recovers() {
		s.mu.Lock()
		s.done++
		s.mu.Unlock()
		s.job.Inject(fault.Commit)
		return m.Commit()
	}
	s.state.Lock()
	defer s.state.Unlock()
	w, _ := s.job.Current()
	if !s.complete(client.Point{Epoch: w.Epoch, Step: s.at().Step + 1}, w.Epoch) {
		return s.job.EndError("completing a step")
	}
	s.job.Inject(fault.Commit)
	if err := m.Commit(); err != nil {
		return err
	}
	s.due = true
	return nil
}

// awaitAcks waits until the ranks that lack this rank's results have them. It has no limit of
// its own: a rank whose transfer stalls asks the server, which ends the epoch.
func (s *Steps) awaitAcks(ctx context.Context) error {
	w, _ := s.job.Current()
	if !s.Recovers() || w == nil {
		return nil
	}
	all := s.acks.done()
	select {
	case <-all:
		return nil
	default:
	}
	defer s.paused(func() string {
		return fmt.Sprintf("ranks %v, which take this rank's results of step %d", s.acks.ranks(), s.at().Step)
	})()
	ticker := time.NewTicker(engine.WatchTick)
	defer ticker.Stop()
	server := s.job.Server()
	for said := time.Now(); ; {
		select {
		case <-all:
			return nil
		case <-server.Ended(w):
			return s.job.EndError("sending results")
		case <-ctx.Done():
			return context.Cause(ctx)
		case now := <-ticker.C:
			if err := server.ServerErr(); err != nil {
				return fmt.Errorf("rank %d: sending results to ranks %v: %w", s.cfg.Rank, s.acks.ranks(), err)
			}
			if now.Sub(said) >= engine.LogInterval {
				said = now
				s.logWait()
			}
		}
	}
}

// shrink calls the machine's Shrink if the members have changed. All members are at the same step
// now, and none lacks this rank's results.
func (s *Steps) shrink() error {
	if !s.ShrinkDue() {
		return nil
	}
	_, live := s.job.Current()
	m, ok := s.machine.(shrinker)
	if !ok {
		return fmt.Errorf("rank %d: the job goes on with ranks %v, and this machine (%T) is no Shrinker", s.cfg.Rank, []int(live), s.machine)
	}
	if at := s.at().Step; at > 0 || !s.cfg.Elastic { // else the start of the job was logged
		s.cfg.Log.Warn("ranks are lost for good: the job goes on without them", "rank", s.cfg.Rank, "step", at, "left", []int(live), "of", s.cfg.Total)
	}
	s.state.Lock()
	defer s.state.Unlock()
	if err := m.Shrink(slices.Clone(live)); err != nil {
		return err
	}
	s.live = live
	return nil
}

// ShrinkDue reports whether the members have changed since the machine's last Shrink.
func (s *Steps) ShrinkDue() bool {
	if !s.Recovers() || s.machine == nil {
		return false
	}
	_, live := s.job.Current()
	if s.live == nil {
		return len(live) < s.cfg.Total
	}
	return !slices.Equal(s.live, live)
}

// resume enters the next epoch and takes what this rank lacks there. moved reports whether that
// has completed the step, and perhaps later ones.
func (s *Steps) resume(ctx context.Context) (moved bool, err error) {
	for {
		if s.epochOver() {
			w, _ := s.job.Current()
			w, err := s.job.Server().Next(ctx, w)
			if errors.Is(err, client.ErrClosed) {
				return false, engine.ErrClosed
			}
			if err != nil {
				return false, fmt.Errorf("rank %d: waiting for the job to go on: %w", s.cfg.Rank, err)
			}
			s.job.Enter(w)
		}
		if s.missing == nil {
			if s.isInvalid() {
				return false, &SourceLostError{fmt.Errorf("rank %d: the state that it was taking is lost with the ranks that had it", s.cfg.Rank)}
			}
			return false, nil
		}
		w, _ := s.job.Current()
		err := error(nil)
		if s.hasArrived(w) {
			s.cfg.Log.Info("this rank has what it lacked: it came after the end of the last epoch", "rank", s.cfg.Rank, "step", w.Resume.Step)
		} else {
			err = s.fetch(ctx, w)
		}
		_, uncommitted := errors.AsType[*commitError](err)
		switch {
		case err == nil:
			s.missing = nil
			return true, nil
		case uncommitted, !s.epochOver():
			return false, err
		}
	}
}

// epochOver reports whether the server has ended the current epoch.
func (s *Steps) epochOver() bool {
	w, _ := s.job.Current()
	select {
	case <-s.job.Server().Ended(w):
		return true
	default:
		return false
	}
}
