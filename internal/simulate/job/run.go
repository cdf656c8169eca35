// SPDX-License-Identifier: Apache-2.0

package job

import (
	"container/heap"
	"errors"
	"fmt"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Config describes a job.
type Config struct {
	// Ranks is the number of ranks, 1 to [MaxRanks]. Required.
	Ranks int
	// Spares is the number of attempts that wait for a lost rank. 0: none. Only with protocol.Wait.
	Spares int
	// Steps is the number of steps. Required.
	Steps int
	// Step is the time of a step, its all-reduce included. Required.
	Step time.Duration
	// Load is the time from the join of an attempt, or from the assignment of a rank to a spare, until it has loaded its
	// data. 0: none.
	Load time.Duration
	// Restart is the time from the end of an attempt until the launcher has started another one. 0: none.
	Restart time.Duration
	// Fetch is the time to copy the state from another rank. 0: none.
	Fetch time.Duration
	// Between is the mean time until an attempt ends. 0: none ends.
	Between time.Duration
	// Silent is the share of attempts that end without closing their connection, 0 to 1.
	Silent float64
	// LostAfter is the silence after which a rank is lost. 0: 10 s.
	LostAfter time.Duration
	// OnLoss is Wait or Shrink. 0: Wait.
	OnLoss protocol.OnLoss
	// Seed of the random numbers.
	Seed uint64
}

const (
	// MaxRanks is the limit of the ranks and spares of a job.
	MaxRanks = 10_000
	// maxTime is the virtual time after which a job has failed: it makes no progress.
	maxTime = 5 * 365 * 24 * time.Hour
	// maxWait is the virtual time without a start of a step after which a job has failed.
	maxWait = 4 * 24 * time.Hour
	// maxLosses is the number of losses after which a job is given up.
	maxLosses = 10_000
	heartbeat = time.Second
)

// Result is the outcome of a job.
type Result struct {
	// Time from the start of the job to the end of its last step.
	Time time.Duration
	// Lost is the part of Time that an undisturbed job does not need.
	Lost time.Duration
	// Losses is the number of attempts that held a rank and ended. Idle spares do not count.
	Losses int
	// Epochs is the number of epochs.
	Epochs int
	// Left is the number of ranks at the end.
	Left int
}

// Validate reports all faults of c.
func (c Config) Validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf("job: "+format, args...)) }
	if c.Ranks < 1 || c.Spares < 0 || c.Ranks > MaxRanks || c.Ranks+c.Spares > MaxRanks {
		fault("Ranks and Spares: got %d and %d, want 1 to %d together", c.Ranks, c.Spares, MaxRanks)
	}
	if c.Steps < 1 || c.Step <= 0 || c.Steps > 1e6 || c.Step > 24*time.Hour {
		fault("Steps and Step: got %d of %v, want up to 1,000,000 of up to a day", c.Steps, c.Step)
	}
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"Load", c.Load}, {"Restart", c.Restart}, {"Fetch", c.Fetch}, {"LostAfter", c.LostAfter}} {
		if f.value < 0 || f.value > 24*time.Hour {
			fault("%s: got %v, want 0 to a day", f.name, f.value)
		}
	}
	if c.Between < 0 || c.Between > 0 && c.Between < time.Minute {
		fault("Between: got %v, want 0, or a minute or more", c.Between)
	}
	if !(c.Silent >= 0 && c.Silent <= 1) {
		fault("Silent: got %g, want 0 to 1", c.Silent)
	}
	if c.OnLoss != 0 && c.OnLoss != protocol.Wait && c.OnLoss != protocol.Shrink || c.OnLoss == protocol.Shrink && c.Spares > 0 {
		fault("OnLoss: got %v with %d spares, want wait, or shrink without spares", c.OnLoss, c.Spares)
	}
	return errors.Join(errs...)
}

// Run simulates a job.
func Run(c Config) (*Result, error) {
	if c.OnLoss == 0 {
		c.OnLoss = protocol.Wait
	}
	if c.LostAfter == 0 {
		c.LostAfter = 10 * time.Second
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := newCluster(c)
	s.startAll()
	return s.run()
}

// run simulates until the last step is complete.
func (s *cluster) run() (*Result, error) {
	for !s.done {
		switch {
		case s.failed != "":
			return nil, errors.New("job: " + s.failed)
		case len(s.coming) == 0 && len(s.attempts) == 0 && s.OnLoss == protocol.Shrink:
			return nil, fmt.Errorf("job: the server has ended the job by %v: all ranks are lost", s.now) // no rank is left to be told
		case len(s.coming) == 0:
			return nil, errors.New("BUG: job: the ranks wait for ever")
		}
		e := heap.Pop(&s.coming).(timer)
		if s.now = e.at; s.now > maxTime || s.losses > maxLosses {
			return nil, fmt.Errorf("job: not done after %v and %d losses, at step %d of %d: the losses are too frequent", s.now, s.losses, s.step, s.Steps)
		}
		e.do()
	}
	return &Result{Time: s.now, Lost: s.now - s.Load - time.Duration(s.Steps)*s.Step, Losses: s.losses, Epochs: s.epochs, Left: len(s.members)}, nil
}

// timer is something that happens at a time. Of equal times the one that was added first comes first.
type timer struct {
	at  time.Duration
	seq uint64
	do  func()
}

// timers is a heap.
type timers []timer

func (q timers) Len() int { return len(q) }
func (q timers) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q timers) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *timers) Push(x any)   { *q = append(*q, x.(timer)) }
func (q *timers) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
