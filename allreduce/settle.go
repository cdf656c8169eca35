// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/recovery"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const (
	// serverItself is the rank of failures that the server has found.
	serverItself = -1
	// verdictWithin is how long a rank waits for the server to say who is to blame.
	verdictWithin = 2 * time.Second
	// detailWithin is how long a rank waits for the details of such a verdict.
	detailWithin = 200 * time.Millisecond
	// askAgain is after how long a rank tells the server again of an edge that fails.
	askAgain = 10 * time.Second
	// tellWithin is how long it tries to tell the server.
	tellWithin = time.Second
)

// settle finds the root cause of the first failure that this rank has seen,
// so that all ranks return the same one: the server's verdict, if there is one in
// time. Then it ends the edges.
func (e *epoch) settle(first *engine.Failure) {
	g, f := e.group, first
	switch {
	case f.Code == engine.FaultLeft, f.Code == engine.FaultOver:
	case g.steps.Recovers():
		f = e.judge(f)
	case f.By == g.cfg.Rank && f.Code != engine.FaultLost:
		// This rank has found it; the server tells everybody.
		e.tellServer(f)
		f = e.weigh(f)
	case !e.askVerdict(f):
		e.tellServer(f)
		f = e.weigh(f)
	default:
		f = e.weigh(f)
	}
	g.mu.Lock()
	e.verdict = f
	g.mu.Unlock()
	if e.conns != nil {
		e.conns.Close()
	}
	e.engine.Driver.Stop()
	if f.Code != engine.FaultOver {
		g.die()
	}
	close(e.settled)
}

// askVerdict asks the server about an edge that broke, which hears of both its ends and of
// the other edges that broke for that, and waits for the verdict.
func (e *epoch) askVerdict(f *engine.Failure) bool {
	if f.Ask != 0 && f.By == e.group.cfg.Rank && e.group.member != nil {
		ctx, cancel := context.WithTimeout(e.quitting, tellWithin)
		defer cancel()
		e.group.member.Ask(ctx, f.Rank, e.engine.CallNumber(), f.Ask, f.Reason())
	}
	return e.awaitVerdict(verdictWithin)
}

// judge is settle in a job that recovers: the server decides whether the epoch is
// over, or the job. What ails an edge is for it to judge, too; it is told again
// and again, since it may be away.
func (e *epoch) judge(f *engine.Failure) *engine.Failure {
	g := e.group
	if f.By == g.cfg.Rank && f.Ask == 0 {
		e.tellServer(f) // this rank cannot go on
		return e.weigh(f)
	}
	if e.awaitVerdict(detailWithin) {
		return e.serversVerdict()
	}
	peer := f.Rank
	if f.Ask == protocol.EdgeCorrupts {
		peer = f.Far
	}
	ctx, cancel := context.WithTimeout(e.quitting, g.cfg.patience())
	defer cancel()
	for ctx.Err() == nil && g.member.ServerErr() == nil {
		if f.Ask != 0 && !g.member.Ask(ctx, peer, e.engine.CallNumber(), f.Ask, f.Reason()) {
			g.log.Warn("the server does not say whether it looks after an edge that fails: it may be away", "rank", g.cfg.Rank, "edge to", peer, "fault", f.Reason())
		}
		if e.awaitVerdict(askAgain) || g.isClosed() {
			break
		}
	}
	if cause := context.Cause(e.quitting); cause != nil {
		f = &engine.Failure{Code: engine.FaultGaveUp, By: g.cfg.Rank, Rank: g.cfg.Rank, Text: cause.Error(), Err: cause}
	}
	if g.member.EndOf(e.wiring) == nil {
		e.tellServer(f) // nobody judges: the job must end
		return e.weigh(f)
	}
	return e.serversVerdict()
}

// patience is how long a rank waits for the server to end an epoch that has failed.
func (c Config) patience() time.Duration {
	if c.ServerTimeout == 0 {
		return defaultServerTimeout
	}
	return c.ServerTimeout
}

// tellServer reports a failure, and waits for the verdict that follows it.
func (e *epoch) tellServer(f *engine.Failure) {
	g := e.group
	if g.member == nil || e.isOver() {
		return
	}
	if g.cfg.OnLoss != Abort && (errors.Is(f.Err, ErrLeaving) || transport.Exhausted(f.Err)) {
		g.member.SetLeaveReason(f.Reason()) // Close says so
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellWithin)
	defer cancel()
	if err := g.member.Fail(ctx, f.Reason(), f.Detail()); err != nil {
		g.log.Warn("cannot tell the server why this rank gives up", "rank", g.cfg.Rank, "reason", f.Reason(), "error", err)
		return
	}
	e.awaitVerdict(tellWithin)
}

// isOver says that the server has ended the job.
func (e *epoch) isOver() bool {
	select {
	case <-e.group.member.Over():
		return true
	default:
		return false
	}
}

// awaitVerdict waits for the server's verdict. vw's own server gives none.
func (e *epoch) awaitVerdict(within time.Duration) bool {
	g := e.group
	if g.member == nil || e.wiring != nil && e.wiring.Epoch == (protocol.Epoch{}) {
		return false
	}
	ended := g.member.Over()
	if e.wiring != nil {
		ended = g.member.Ended(e.wiring)
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	case <-e.quitting.Done():
		return false
	case <-g.closing:
		return e.isOver()
	}
}

// weigh chooses between what was seen here, or heard from a neighbour, and the
// server's verdict. The verdict wins, unless it only repeats, with less detail, what
// was found by the rank from which this one has it.
func (e *epoch) weigh(f *engine.Failure) *engine.Failure {
	if e.group.member == nil || !e.isOver() {
		return f
	}
	v := verdictOf(e.group.member.Cause())
	if v.Code == engine.FaultGaveUp && v.Rank == f.By {
		return f
	}
	return v
}

// failed is the error that a collective returns after a failure: once the
// verdict stands and nothing touches the caller's memory any more.
func (g *Group) failed(ctx context.Context) error {
	e := g.epoch
	select {
	case <-e.settled: // soon; in a job that recovers the server may be away
	case <-ctx.Done():
		e.quit(context.Cause(ctx))
		<-e.settled // bounded: verdictWithin and tellWithin
	}
	en := &e.engine
	en.Join()
	g.mu.Lock()
	f := e.verdict
	g.mu.Unlock()
	en.Mu.Lock()
	w := en.Where
	en.Where = Where{Rank: w.Rank} // a later collective did not fail in this one
	en.Mu.Unlock()
	return f.Public(w)
}

// Fail tells the others that this rank gives up, and why: it is the root cause that
// they return. After a failure of the job it does nothing, nor if what this rank lacked
// is gone: then another attempt of it may go on.
func (g *Group) Fail(ctx context.Context, err error) {
	if g.member == nil || g.isClosed() || err == nil {
		return
	}
	if _, gone := errors.AsType[*recovery.SourceLostError](err); gone {
		return
	}
	e := g.now()
	f := &engine.Failure{Code: engine.FaultGaveUp, By: g.cfg.Rank, Rank: g.cfg.Rank, Text: err.Error(), Err: err}
	if e.wiring == nil || g.steps.Recovers() && e.over() {
		e.tellServer(f) // which tells those that wait for the job to start
		return
	}
	en := &e.engine
	en.Mu.Lock()
	ending := en.Ending && en.Failure == nil
	en.Mu.Unlock()
	if ending {
		e.tellServer(f) // the others wait for its FINISHED, and for nothing else
		return
	}
	en.Fail(f, nil)
	select {
	case <-e.settled:
	case <-ctx.Done():
	}
}
