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
	// byServer is By and Rank of a failure that the server has found.
	byServer = -1
	// causeTimeout limits the wait for the root cause from the server.
	causeTimeout = 2 * time.Second
	// detailTimeout limits the wait for a neighbour's more detailed report of the same cause.
	detailTimeout = 200 * time.Millisecond
	// askInterval is the interval at which the fault of an edge is reported again.
	askInterval = 10 * time.Second
	// reportTimeout limits one report to the server.
	reportTimeout = time.Second
)

// resolve determines the root cause of the first failure that this rank has seen, and closes the
// edges. All ranks must return the same cause, so it is the server's, unless the server does not
// answer in time.
func (e *epoch) resolve(first *engine.Failure) {
	g, f := e.group, first
	switch {
	case f.Code == engine.FaultLeft, f.Code == engine.FaultOver:
	case g.steps.Recovers():
		f = e.arbitrate(f)
	case f.By == g.cfg.Rank && f.Code != engine.FaultLost:
		// This rank has found the failure; the server passes it to all others.
		e.reportFailure(f)
		f = e.chooseCause(f)
	case !e.askServer(f):
		e.reportFailure(f)
		f = e.chooseCause(f)
	default:
		f = e.chooseCause(f)
	}
	g.mu.Lock()
	e.cause = f
	g.mu.Unlock()
	if e.conns != nil {
		e.conns.Close()
	}
	e.engine.Driver.Stop()
	if f.Code != engine.FaultOver {
		g.die()
	}
	close(e.resolved)
}

// askServer reports an edge that broke, and reports whether the server answers in time. The server
// has the reports of both ends, and of all other edges that broke for the same reason.
func (e *epoch) askServer(f *engine.Failure) bool {
	if f.Ask != 0 && f.By == e.group.cfg.Rank && e.group.member != nil {
		ctx, cancel := context.WithTimeout(e.quitting, reportTimeout)
		defer cancel()
		e.group.member.Ask(ctx, f.Rank, e.engine.CallNumber(), f.Ask, f.Reason())
	}
	return e.awaitServer(causeTimeout)
}

// arbitrate is resolve in a job that recovers. The server decides whether the epoch or the job is
// over, also for the fault of an edge. The fault is reported repeatedly, since the server may be
// restarting.
func (e *epoch) arbitrate(f *engine.Failure) *engine.Failure {
	g := e.group
	if f.By == g.cfg.Rank && f.Ask == 0 {
		e.reportFailure(f) // this rank cannot go on
		return e.chooseCause(f)
	}
	if e.awaitServer(detailTimeout) {
		return e.serverFailure()
	}
	peer := f.Rank
	if f.Ask == protocol.EdgeCorrupts {
		peer = f.Far
	}
	ctx, cancel := context.WithTimeout(e.quitting, g.cfg.patience())
	defer cancel()
	for ctx.Err() == nil && g.member.ServerErr() == nil {
		if f.Ask != 0 && !g.member.Ask(ctx, peer, e.engine.CallNumber(), f.Ask, f.Reason()) {
			g.log.Warn("the server has not acknowledged the report of a failed edge: it may be restarting", "rank", g.cfg.Rank, "edge to", peer, "fault", f.Reason())
		}
		if e.awaitServer(askInterval) || g.isClosed() {
			break
		}
	}
	if cause := context.Cause(e.quitting); cause != nil {
		f = &engine.Failure{Code: engine.FaultGaveUp, By: g.cfg.Rank, Rank: g.cfg.Rank, Text: cause.Error(), Err: cause}
	}
	if g.member.EndOf(e.wiring) == nil {
		e.reportFailure(f) // no decision: the job must end
		return e.chooseCause(f)
	}
	return e.serverFailure()
}

// patience returns the limit of the wait for the server to end an epoch that has failed.
func (c Config) patience() time.Duration {
	if c.ServerTimeout == 0 {
		return defaultServerTimeout
	}
	return c.ServerTimeout
}

// reportFailure reports a failure to the server, and waits briefly for the end of the job that
// follows.
func (e *epoch) reportFailure(f *engine.Failure) {
	g := e.group
	if g.member == nil || e.isOver() {
		return
	}
	if g.cfg.OnLoss != Abort && (errors.Is(f.Err, ErrLeaving) || transport.Exhausted(f.Err)) {
		g.member.SetLeaveReason(f.Reason()) // Close sends it: the rank leaves, the job continues
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), reportTimeout)
	defer cancel()
	if err := g.member.Fail(ctx, f.Reason(), f.Detail()); err != nil {
		g.log.Warn("failed to report to the server why this rank gives up", "rank", g.cfg.Rank, "reason", f.Reason(), "error", err)
		return
	}
	e.awaitServer(reportTimeout)
}

// isOver reports whether the server has ended the job.
func (e *epoch) isOver() bool {
	select {
	case <-e.group.member.Over():
		return true
	default:
		return false
	}
}

// awaitServer waits until the server ends the epoch or the job, and reports whether it has. vw's
// own server never does.
func (e *epoch) awaitServer(within time.Duration) bool {
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

// watchEnd fails the engine when the server ends the epoch.
func (e *epoch) watchEnd() {
	g, en := e.group, &e.engine
	select {
	case <-g.member.Ended(e.wiring):
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
	v := e.serverFailure()
	if v.Code == engine.FaultGaveUp && !stream {
		// The rank that gave up has sent its neighbours a more detailed report.
		timer := time.NewTimer(detailTimeout)
		defer timer.Stop()
		select {
		case <-en.Failed:
		case <-timer.C:
		case <-e.done:
		}
	}
	en.Fail(v, nil)
}

// serverFailure returns why the server has ended the epoch.
func (e *epoch) serverFailure() *engine.Failure {
	m := e.group.member
	if cause := m.Cause(); cause != nil {
		return failureOf(cause)
	}
	v := failureOf(m.EndOf(e.wiring))
	v.Code = engine.FaultOver
	return v
}

// failureOf returns a cause from the server as a failure.
func failureOf(cause error) *engine.Failure {
	f := &engine.Failure{Code: engine.FaultGaveUp, By: byServer, Rank: byServer, Text: cause.Error(), Err: cause}
	if lost, ok := errors.AsType[*VerdictError](cause); ok {
		if told, err := engine.DecodeFailure([]byte(lost.Detail)); err == nil && lost.GaveUp {
			told.Err = cause
			return told
		}
		f.Rank, f.Host, f.Text = lost.Rank, lost.Host, lost.Why
		if !lost.GaveUp {
			f.Code = engine.FaultLost
		}
	}
	return f
}

// chooseCause returns the server's cause if the job is over, and f otherwise. If the server only
// repeats, with less detail, the report of the rank from which f comes, f is returned.
func (e *epoch) chooseCause(f *engine.Failure) *engine.Failure {
	if e.group.member == nil || !e.isOver() {
		return f
	}
	v := failureOf(e.group.member.Cause())
	if v.Code == engine.FaultGaveUp && v.Rank == f.By {
		return f
	}
	return v
}

// failed returns the error of a collective after a failure. It waits for the root cause, and until
// no driver uses the caller's memory any more.
func (g *Group) failed(ctx context.Context) error {
	e := g.epoch
	select {
	case <-e.resolved: // soon; in a job that recovers the server may be away
	case <-ctx.Done():
		e.quit(context.Cause(ctx))
		<-e.resolved // bounded: causeTimeout and reportTimeout
	}
	en := &e.engine
	en.Join()
	g.mu.Lock()
	f := e.cause
	g.mu.Unlock()
	en.Mu.Lock()
	w := en.Where
	en.Where = Where{Rank: w.Rank} // a later collective did not fail in this one
	en.Mu.Unlock()
	return f.Public(w)
}

// Fail reports that this rank gives up because of err, which becomes the root cause on all ranks.
// It does nothing after a failure of the job. It also does nothing if err means that the source
// of a state is lost: another attempt of the rank may then continue.
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
		e.reportFailure(f) // also to ranks that wait for the start of the job
		return
	}
	en := &e.engine
	en.Mu.Lock()
	ending := en.Ending && en.Failure == nil
	en.Mu.Unlock()
	if ending {
		e.reportFailure(f) // the others only wait for its FINISHED
		return
	}
	en.Fail(f, nil)
	select {
	case <-e.resolved:
	case <-ctx.Done():
	}
}
