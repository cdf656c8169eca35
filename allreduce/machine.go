// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/recovery"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/timeline"
)

// Machine is training as a sequence of steps, the same on all ranks. A step is one
// pass over the data, in three parts:
//
//	Work      makes this rank's contribution from the state and the shard
//	Exchange  makes results from the contributions of all ranks: the collectives
//	Commit    makes the next state from the results
//
// The parts keep a contract. It lets a job repeat the step in which a rank was lost
// while no surviving rank repeats its Work:
//
//   - Work and Exchange never write the state. Exchange never writes the contribution
//     either, so scaled copies belong to the results. (If the loss of a rank ends the
//     job, all parts may work in place.)
//   - Work is local. Its context ends when the job fails.
//   - Exchange calls the same collectives in the same order on all ranks. The last one
//     is AllGatherV of the ranks' records, except in a job with vw workers.
//   - Commit is local and deterministic: equal states and results become equal states
//     on all ranks. All ranks therefore make the same decisions in it.
//   - The solver's variables, line search included, are part of the state. Only Run
//     owns the loop.
type Machine interface {
	// Next names the next step for messages, such as "SGD pass 3 of 10". more is false
	// after the last step, which is the same step on all ranks.
	Next() (step string, more bool)
	Work(ctx context.Context) error
	Exchange(ctx context.Context, g *Group) error
	Commit() error
}

// Recoverable is a Machine whose steps can be repeated after the loss of a rank.
//
// Exchange may be called again for the same step if the epoch ended during it. The
// contribution is the same, and all results are made again. Work is called once for
// each step, unless ReadState has voided it.
type Recoverable interface {
	Machine
	// Keep is called before the first step. If recovers is true, the job recovers from
	// losses, and Work and Exchange must not change the state. Otherwise all parts may
	// work in place.
	Keep(recovers bool)
	// WriteState writes the state from which the next step starts: the part that all
	// ranks share, and the records of all ranks. Another goroutine may call it during
	// Work or Exchange, never during Commit or ReadState. After Keep(false) it is only
	// called between Commit and Work.
	WriteState(w io.Writer) error
	// ReadState replaces the state by one that WriteState wrote on another rank. This
	// rank's contribution, if any, is void. The machine continues as if it had done all
	// steps itself, with Next. After an error only ReadState may be called again.
	ReadState(r io.Reader) error
	// WriteResults writes the results that Exchange made in the last completed step. It
	// may be called from the end of Exchange until the next Exchange begins, also during
	// Commit and Work. A machine that reached the step by ReadState has no results, and
	// returns ErrNoResults: the source then sends its state instead.
	WriteResults(w io.Writer) error
	// ReadResults reads the results instead of an Exchange. Commit follows.
	ReadResults(r io.Reader) error
}

// Shrinker is a Recoverable that can continue without ranks that are lost for good.
type Shrinker interface {
	Recoverable
	// Shrink sets the remaining ranks, in order, by the numbers that they had at the
	// start. It does nothing if a state from ReadState already has the same ranks.
	//
	// It is called between a Commit and the first Exchange without the lost ranks. From
	// then on the group's Size is len(live), and AllGatherV returns one record for each
	// live rank, in that order. Rank does not change. If the change voids a part of Work,
	// the machine repeats that part within the next Exchange.
	Shrink(live []int) error
}

// Run drives m until it has no more steps. An error from m ends Run on this rank only;
// the caller passes it to the other ranks with Fail.
//
// If the job recovers from losses (Config.OnLoss), m must be Recoverable. If the job may
// continue or start with fewer ranks (Shrink, Config.Elastic), m must be a Shrinker. A
// step whose epoch ends is then repeated in the next epoch with the same contribution,
// and a replacement rank reads the state of another rank. Such a program calls no collective
// before or after Run: a replacement lacks the state until Run has fetched it, and the other
// ranks may have completed all steps by then. Its collective returns an error in both cases. A
// job has one machine: step numbers count from its first step.
func (g *Group) Run(ctx context.Context, m Machine) error {
	s := g.steps
	if r, ok := m.(Recoverable); ok {
		keep := g.cfg.OnLoss != Abort && g.cfg.Total > 1
		if _, ok := m.(Shrinker); keep && (g.cfg.OnLoss == Shrink || g.cfg.Elastic) && !ok {
			return fmt.Errorf("allreduce: rank %d: OnLoss is %v, Elastic %v, which needs a machine that is a Shrinker, and this one (%T) is not", g.cfg.Rank, g.cfg.OnLoss, g.cfg.Elastic, m)
		}
		r.Keep(keep)
		if keep {
			s.SetState(r)
		}
	} else if g.cfg.OnLoss != Abort && g.cfg.Total > 1 {
		return fmt.Errorf("allreduce: rank %d: OnLoss is %v, which needs a machine that is Recoverable, and this one (%T) is not", g.cfg.Rank, g.cfg.OnLoss, m)
	}
	rest := recovery.Step{
		Exchange: func(ctx context.Context) error {
			defer g.timeline.Span(timeline.Steps, "exchange", g.timeline.Now(), 0)
			return m.Exchange(ctx, g)
		},
		Commit: func() error {
			defer g.timeline.Span(timeline.Steps, timeline.Commit, g.timeline.Now(), 0)
			return m.Commit()
		},
	}
	for {
		step, more := m.Next()
		if !more {
			return nil
		}
		began := time.Now()
		work := g.events.Begin(events.Event{Kind: events.Step, Name: "work", Peer: -1}, began)
		if err := g.stepWork(ctx, m); err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
		g.events.End(work)
		s.WorkDone(time.Since(began))
		g.timeline.Span(timeline.Steps, timeline.Work, began, 0)
		if err := s.Run(ctx, rest); err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
		s.Save()
	}
}

// stepWork calls a step's Work, whose context ends if the job or the epoch fails. It returns
// only after the goroutine that watches for the failure has ended.
func (g *Group) stepWork(ctx context.Context, m Machine) error {
	en := &g.epoch.Engine
	en.StartWork()
	defer en.EndWork()
	defer g.epoch.Inject(fault.Work)()
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-g.dead:
			cancel(engine.ErrStopped)
		case <-done:
		}
	}()
	err := m.Work(work)
	close(done)
	<-watched
	switch {
	case err == nil || context.Cause(work) != engine.ErrStopped:
		return err
	case g.epoch.Wiring == nil: // the server has ended the job before it was wired
		return fmt.Errorf("rank %d: the job does not start: %w", g.cfg.Rank, engine.FromServer(g.cfg.Rank, g.member.Cause()))
	case g.steps.Recovers():
		return g.epoch.OverError("at work")
	}
	return g.epoch.Err(ctx) // the root cause, not the cancellation
}
