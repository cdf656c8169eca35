// SPDX-License-Identifier: Apache-2.0

package epoch

import (
	"context"
	"fmt"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/rootcause"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// resolver returns the resolver of the epoch's failures.
func (e *Epoch) resolver() *rootcause.Resolver {
	return &rootcause.Resolver{
		Rank: e.cfg.Rank, Recovers: e.job.Recovers(), OnLoss: e.cfg.OnLoss, Server: e.cfg.Server, Wiring: e.Wiring,
		Call: e.Engine.CallNumber, Patience: e.cfg.Patience, Closing: e.job.Closing(), Log: e.cfg.Log,
	}
}

// resolve determines the root cause of the first failure that this rank has seen, and closes the
// connections.
func (e *Epoch) resolve(first *engine.Failure) {
	f := e.resolver().Resolve(e.quitting, first)
	e.cause = f
	if e.Conns != nil {
		e.Conns.Close()
	}
	e.Engine.Driver.Stop()
	if f.Code != engine.FaultOver {
		e.job.Failed()
	}
	close(e.resolved)
}

// report reports to the server that this rank gives up.
func (e *Epoch) report(f *engine.Failure) {
	f.RecordIn(e.cfg.Events, e.cfg.Rank)
	e.resolver().Report(e.quitting, f)
}

// watchEnd fails the engine when the server ends the epoch.
func (e *Epoch) watchEnd() {
	en := &e.Engine
	select {
	case <-e.cfg.Server.Ended(e.Wiring):
	case <-e.done:
		return
	}
	en.Mu.Lock()
	// At the end of a job with vw workers ranks leave one by one. The connections show
	// every loss that matters.
	stream := en.Stream
	leaving := stream && en.Leaving
	en.Mu.Unlock()
	if leaving {
		return
	}
	f := e.resolver().FromServer()
	if f.Code == engine.FaultGaveUp && !stream {
		// The rank that gave up has sent its neighbours a more detailed report.
		timer := time.NewTimer(rootcause.DetailTimeout)
		defer timer.Stop()
		select {
		case <-en.Failed:
		case <-timer.C:
		case <-e.done:
		}
	}
	en.Fail(f, nil)
}

// Err returns the error of a collective that the engine has stopped. After a failure it waits for the
// root cause, and until no driver uses the caller's memory any more.
func (e *Epoch) Err(ctx context.Context) error {
	if err := e.ended(); err != nil {
		return err
	}
	select {
	case <-e.resolved: // soon; in a job that recovers the server may be away
	case <-ctx.Done():
		e.quit(context.Cause(ctx))
		<-e.resolved // bounded: see package rootcause
	}
	en := &e.Engine
	en.Join()
	en.Mu.Lock()
	w := en.Where
	en.Where = engine.Where{Rank: w.Rank} // a later collective did not fail in this one
	en.Mu.Unlock()
	return e.cause.Public(w)
}

// ended returns the error of a collective after the engine has ended without a failure, so that it did
// not begin; nil: there is a failure, or one will follow.
func (e *Epoch) ended() error {
	en := &e.Engine
	en.Mu.Lock()
	failed, ending := en.Failure != nil, en.Ending
	en.Mu.Unlock()
	switch {
	case failed:
		return nil
	case e.closing(): // the engine may end only now
		return engine.ErrClosed
	case e.refused != nil:
		return e.refused
	case ending:
		return fmt.Errorf("rank %d: the job is ending: no collective may be called after Finish or Done", e.cfg.Rank)
	}
	return nil
}

// OverError returns why the epoch is over, for a caller without a collective under way: the job's
// root cause, or an *InterruptedError if the job continues.
func (e *Epoch) OverError(doing string) error {
	if cause := e.cfg.Server.Cause(); cause != nil {
		return fmt.Errorf("rank %d: %s: %w", e.cfg.Rank, doing, engine.FromServer(e.cfg.Rank, cause))
	}
	return &engine.InterruptedError{Where: engine.Where{Rank: e.cfg.Rank}, Err: engine.FromServer(e.cfg.Rank, e.cfg.Server.EndOf(e.Wiring))}
}

// Fail ends the epoch because this rank gives up for a reason, and waits for the root cause or the
// end of ctx.
func (e *Epoch) Fail(ctx context.Context, err error) {
	f := &engine.Failure{Code: engine.FaultGaveUp, By: e.cfg.Rank, Rank: e.cfg.Rank, Text: err.Error(), Err: err}
	if e.Wiring == nil || e.job.Recovers() && e.Over() {
		e.report(f) // also to ranks that wait for the start of the job
		return
	}
	en := &e.Engine
	en.Fail(f, nil)
	en.Mu.Lock()
	failed := en.Failure != nil
	en.Mu.Unlock()
	if !failed { // Ending is set
		e.report(f) // the others only wait for its FINISHED
		return
	}
	select {
	case <-e.resolved:
	case <-ctx.Done():
	}
}

// Waits returns what this rank waits for, for the heartbeats to the server. Rank -1: it waits for no
// rank.
func (e *Epoch) Waits() client.Waits {
	w := client.Waits{Rank: -1}
	if e.Conns != nil {
		if w = e.Conns.Waits(); w.Rank >= 0 {
			return w
		}
	}
	en := &e.Engine
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if !en.Active {
		return w
	}
	w.Collective = en.Call.ID.Seq
	// The neighbour, at once: the server follows the chain of waiting ranks by their heartbeats.
	if first, far := en.WaitsFor(); first != nil && !en.Stream {
		w.Rank = first.Rank
	} else if far.Rank >= 0 && !en.Stream {
		w.Rank = int(far.Rank)
	}
	if time.Since(en.Call.Started) >= engine.WatchTick {
		w.Text = en.Here().String()
	}
	return w
}
