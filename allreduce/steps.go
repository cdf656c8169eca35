// SPDX-License-Identifier: Apache-2.0

package allreduce

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

// steps is how far a rank is in the steps of its job, and what it needs to go on after
// a loss.
//
// A step is completed here when Exchange has returned before the epoch was fenced;
// both happen under mu. The server learns from At and Fence how far every rank is, and
// sends all that live to the newest step that any of them has completed.
type steps struct {
	group    *Group
	recovers bool

	state  sync.RWMutex  // held by who changes the state (Commit and its like), and by who sends it
	due    bool          // a step was committed that no checkpoint was asked of yet
	saving chan struct{} // full while a checkpoint is written, and when the job has finished
	// unwritten is the newest copy of the state that no checkpoint has yet.
	unwritten atomic.Pointer[copied]
	machine   Recoverable // whose state it is; nil: none yet
	live      members.Set // the ranks that the machine was told of last; nil: not known

	mu        sync.Mutex
	completed client.Point
	fenced    protocol.Epoch // that is over for this rank
	work      bool           // the contribution to the next step is in hand
	begun     bool           // so has its Exchange: the results of the last step may be gone
	done      uint64         // steps, also where nobody counts on it
	reading   time.Duration  // the first Work, which reads the shard; 0: not done
	took      time.Duration  // the newest Work
	spoilt    bool           // the machine is reading a state, or has read one, of which the server does not know
	whole     client.Point   // then: the step whose state it has read; the zero Point: none
	pause     *pause         // nil: the runner waits for nothing outside the collectives
}

var _ client.StepTracker = (*steps)(nil)

// At says how far this rank is.
func (s *steps) Position() client.Position {
	waits := s.group.waiting().Rank
	s.mu.Lock()
	defer s.mu.Unlock()
	return client.Position{Completed: s.completed, Work: s.work, WaitsFor: waits}
}

// Fence ends an epoch: what is not completed yet is not completed in it.
func (s *steps) Seal(e protocol.Epoch) client.Position {
	s.mu.Lock()
	s.fenced = e
	s.mu.Unlock()
	return s.Position()
}

// enter begins an epoch. A rank that lacks nothing is where the others are, which may
// be numbered otherwise. In the ending the epoch that is over goes on, for those who
// take from others what they lack.
func (s *steps) enter(w *client.Wiring) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case w.Ending:
		s.fenced = protocol.Epoch{}
	case s.recovers && w.Missing == nil && w.Resume.Step > 0:
		s.completed = w.Resume
	}
}

// complete notes that a step is completed, unless its epoch is over.
func (s *steps) complete(at client.Point, in protocol.Epoch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fenced == in {
		return false
	}
	s.completed, s.work, s.begun, s.spoilt = at, false, false, false
	return true
}

// spoil notes that the machine begins to read a state: what it had is gone.
func (s *steps) spoil() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spoilt, s.whole, s.work = true, client.Point{}, false
}

// arrived notes that the machine has read the state of a step after its epoch was fenced.
func (s *steps) arrived(at client.Point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole = at
}

// isSpoilt reports whether the machine's state is not that of the completed step.
func (s *steps) isSpoilt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spoilt
}

// has reports whether the state that came too late for its epoch is where the new one begins.
func (s *steps) has(w *client.Wiring) bool {
	s.mu.Lock()
	fits := s.spoilt && s.whole == w.Resume && w.Resume != client.Point{}
	s.mu.Unlock()
	return fits && s.complete(w.Resume, w.Epoch)
}

// inHand notes that Work is done, and how long it took.
func (s *steps) inHand(took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work, s.took = true, took
	if s.reading == 0 {
		s.reading = took
	}
}

// pace is how many steps are done, and how long the first Work and the newest one took.
// The server finds from it who is slow.
func (s *steps) pace() (done uint64, reading, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.done, s.completed.Step), s.reading, s.took
}

// begin notes that the next Exchange begins.
func (s *steps) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = true
}

// hasResults says that the results of the step completed last are still there.
func (s *steps) hasResults() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.begun
}

// at is the newest completed step.
func (s *steps) at() client.Point {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.completed
}

// follow exchanges and commits the step whose Work is done, as often as it takes: a
// loss in between costs the lost rank's Work and nobody else's.
func (s *steps) follow(ctx context.Context, m Machine) error {
	for {
		err := s.exchange(ctx, m)
		if _, again := errors.AsType[*InterruptedError](err); !again || !s.recovers || s.machine == nil {
			return err
		}
		if s.group.over() || !s.unaware() {
			s.group.log.Warn("the epoch is over, the job goes on", "rank", s.group.cfg.Rank, "step", s.at().Step, "cause", err)
		}
		if moved, err := s.resume(ctx); moved || err != nil {
			return err // a state that was taken is kept by who had it
		}
	}
}

// exchange is one attempt.
func (s *steps) exchange(ctx context.Context, m Machine) error {
	g := s.group
	if err := s.payDebts(ctx); err != nil {
		return err
	}
	if err := s.shrink(); err != nil {
		return err
	}
	s.begin()
	if err := m.Exchange(ctx, g); err != nil {
		return err
	}
	if !s.recovers {
		s.mu.Lock()
		s.done++
		s.mu.Unlock()
		g.strike(fault.Commit)
		return m.Commit()
	}
	s.state.Lock()
	defer s.state.Unlock()
	if !s.complete(client.Point{Epoch: g.wiring.Epoch, Step: s.at().Step + 1}, g.wiring.Epoch) {
		return g.overError("completing a step")
	}
	g.strike(fault.Commit)
	if err := m.Commit(); err != nil {
		return err
	}
	s.due = true
	return nil
}

// payDebts waits until those that lack this rank's results have got them. It has no time
// limit of its own: a rank that gets nothing asks the server, which ends the epoch.
func (s *steps) payDebts(ctx context.Context) error {
	e := s.group.epoch
	if !s.recovers || e.wiring == nil {
		return nil
	}
	select {
	case <-e.debts.paid:
		return nil
	default:
	}
	g := s.group
	defer s.paused(func() string {
		return fmt.Sprintf("ranks %v, which take this rank's results of step %d", e.debts.owed(), s.at().Step)
	})()
	ticker := time.NewTicker(engine.WatchTick)
	defer ticker.Stop()
	for said := time.Now(); ; {
		select {
		case <-e.debts.paid:
			return nil
		case <-g.member.Ended(e.wiring):
			return e.overError("sending results")
		case <-ctx.Done():
			return context.Cause(ctx)
		case now := <-ticker.C:
			if err := g.member.ServerErr(); err != nil {
				return fmt.Errorf("rank %d: sending results to ranks %v: %w", g.cfg.Rank, e.debts.owed(), err)
			}
			if now.Sub(said) >= engine.SayEvery {
				said = now
				g.log.Info(s.waits())
			}
		}
	}
}

// shrink tells the machine of ranks that the job goes on without. All that live are at the
// same step now, and nobody lacks its results any more.
func (s *steps) shrink() error {
	g := s.group
	if !s.unaware() {
		return nil
	}
	m, ok := s.machine.(Shrinker)
	if !ok {
		return fmt.Errorf("rank %d: the job goes on with ranks %v, and this machine (%T) is no Shrinker", g.cfg.Rank, []int(g.live), s.machine)
	}
	if at := s.at().Step; at > 0 || !g.cfg.Elastic { // else that has been said
		g.log.Warn("ranks are lost for good: the job goes on without them", "rank", g.cfg.Rank, "step", at, "left", []int(g.live), "of", g.cfg.Total)
	}
	s.state.Lock()
	defer s.state.Unlock()
	if err := m.Shrink(slices.Clone(g.live)); err != nil {
		return err
	}
	s.live = g.live
	return nil
}

// unaware says that ranks are gone of which the machine has not been told.
func (s *steps) unaware() bool {
	g := s.group
	if !s.recovers || s.machine == nil {
		return false
	}
	if s.live == nil {
		return len(g.live) < g.cfg.Total
	}
	return !slices.Equal(s.live, g.live)
}

// resume goes over to the next epoch. moved: the step is behind this rank, since
// others had completed it, and perhaps further ones.
func (s *steps) resume(ctx context.Context) (moved bool, err error) {
	g := s.group
	for {
		if g.over() {
			w, err := g.member.Next(ctx, g.wiring)
			if err != nil {
				return false, fmt.Errorf("rank %d: waiting for the job to go on: %w", g.cfg.Rank, err)
			}
			g.turn(w)
		}
		if g.lack == nil {
			if s.isSpoilt() {
				return false, &goneError{fmt.Errorf("rank %d: the state that it was taking is lost with the ranks that had it", g.cfg.Rank)}
			}
			return false, nil
		}
		err := error(nil)
		if s.has(g.wiring) {
			g.log.Info("this rank has what it lacked: it came after the end of the last epoch", "rank", g.cfg.Rank, "step", g.wiring.Resume.Step)
		} else {
			err = s.take(ctx, g.wiring)
		}
		switch {
		case err == nil:
			g.mu.Lock()
			g.lack = nil
			g.mu.Unlock()
			return true, nil
		case !g.over():
			return false, err
		}
	}
}
