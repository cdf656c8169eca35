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
)

// Machine is training as a sequence of steps, the same on all ranks. A step is one
// pass over the data, in three parts:
//
//	Work      makes this rank's contribution from the state and the shard
//	Exchange  makes results from the contributions of all ranks: the collectives
//	Commit    makes the next state from the results
//
// The parts keep to a contract, so that a step can be taken up again after the
// loss of a rank without anybody else's Work:
//
//   - Work and Exchange never write the state; Exchange never writes the
//     contribution, so scaled copies belong to the results. (A job that ends
//     with the loss of a rank may do all in place.)
//   - Work is local. Its context ends when the job fails.
//   - Exchange calls the same collectives in the same order on all ranks. The last
//     one, but in a job with vw workers, is AllGatherV of the ranks' records.
//   - Commit is local and deterministic: equal states and results become equal
//     states on all ranks. What is decided there is decided alike everywhere.
//   - The solver's variables, line search included, are part of the state.
//     Nobody but Run owns the loop.
type Machine interface {
	// Next names the next step, for messages: "SGD pass 3 of 10". more is false
	// when there is none; all ranks say so after the same step.
	Next() (step string, more bool)
	Work(ctx context.Context) error
	Exchange(ctx context.Context, g *Group) error
	Commit() error
}

// Recoverable is a Machine whose steps can be taken up again after the loss of a
// rank.
//
// Exchange may then be called again for the same step: the epoch ended inside it.
// It has the same contribution and makes the results anew. Work is called once
// for each step, unless ReadState has voided it.
type Recoverable interface {
	Machine
	// Keep says before the first step whether the job recovers from losses: then
	// Work and Exchange leave the state whole. Otherwise all may be done in place.
	Keep(recovers bool)
	// WriteState writes what the next step starts from: the part that all ranks
	// share, and the records of all ranks. Another goroutine may call it while Work
	// or Exchange is under way, never during Commit or ReadState. Where nothing is
	// kept it is for the time between Commit and Work.
	WriteState(w io.Writer) error
	// ReadState takes over what WriteState wrote on another rank. What this rank had
	// of Work is void. The machine goes on as if it had done all steps itself: its
	// Next comes next. After an error it may be called again; the machine is of no use
	// for anything else.
	ReadState(r io.Reader) error
	// WriteResults writes the results of the step completed last: what Exchange
	// made. It is valid from Exchange's end until the next Exchange begins, also
	// during Commit and Work. A machine that came to the step by ReadState has no
	// results, and says so with ErrNoResults: its state serves as well.
	WriteResults(w io.Writer) error
	// ReadResults takes them over in place of an Exchange; Commit follows.
	ReadResults(r io.Reader) error
}

// Shrinker is a Recoverable that can go on without ranks that are lost for good.
type Shrinker interface {
	Recoverable
	// Shrink says which ranks are left, by the numbers they had at the start, in
	// order. If the machine knows that already, from a state that it took over, it does
	// nothing. It comes between a Commit and the first Exchange without the others: from
	// there on the group's Size is their number, and AllGatherV returns one record for
	// each of them, in that order; Rank stays what it was. What of Work is void the
	// machine does again by itself, within that Exchange.
	Shrink(live []int) error
}

// Run drives m until it has no more steps. An error of a machine's own ends it on
// this rank only: Fail tells the others.
//
// Where the job recovers from losses (Config.OnLoss), m must be Recoverable, and a
// Shrinker where it goes on without lost ranks or starts without some. Then a
// step whose epoch ends is taken up again in the next one, with the contribution
// that is there; a rank that comes anew gets the state of another one. A job has one
// machine: step numbers count from its first step.
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
	rest := recovery.Step{Exchange: func(ctx context.Context) error { return m.Exchange(ctx, g) }, Commit: m.Commit}
	for {
		step, more := m.Next()
		if !more {
			return nil
		}
		began := time.Now()
		if err := g.stepWork(ctx, m); err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
		s.WorkDone(time.Since(began))
		if err := s.Run(ctx, rest); err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
		s.Save()
	}
}

// stepWork does a step's Work, unless the job fails meanwhile.
func (g *Group) stepWork(ctx context.Context, m Machine) error {
	en := &g.engine
	en.StartWork()
	defer en.EndWork()
	defer g.inject(fault.Work)()
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
	case g.steps.Recovers():
		return g.overError("at work")
	}
	return g.failed(ctx) // why Work was ended, not that it was
}
