// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"

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
//     with the loss of a rank may do all in place; today every job does.)
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

// Run drives m until it has no more steps. An error of a machine's own ends it on
// this rank only: Fail tells the others.
func (g *Group) Run(ctx context.Context, m Machine) error {
	for {
		step, more := m.Next()
		if !more {
			return nil
		}
		if err := g.stepWork(ctx, m); err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
		if err := m.Exchange(ctx, g); err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
		g.strike(fault.Commit)
		if err := m.Commit(); err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
	}
}

// stepWork does a step's Work, unless the job fails meanwhile.
func (g *Group) stepWork(ctx context.Context, m Machine) error {
	en := &g.engine
	en.startWork()
	defer en.endWork()
	defer g.strike(fault.Work)()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-en.failed:
			cancel(errStopped)
		case <-done:
		}
	}()
	err := m.Work(ctx)
	close(done)
	<-watched
	if err != nil && context.Cause(ctx) == errStopped {
		return g.failed() // why Work was ended, not that it was
	}
	return err
}
