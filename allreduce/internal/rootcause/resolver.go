// SPDX-License-Identifier: Apache-2.0

package rootcause

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const (
	// causeTimeout limits the wait for the root cause from the server.
	causeTimeout = 2 * time.Second
	// DetailTimeout limits the wait for a neighbour's more detailed report of the same cause.
	DetailTimeout = 200 * time.Millisecond
	// askInterval is the interval at which the fault of an edge is reported again.
	askInterval = 10 * time.Second
	// reportTimeout limits one report to the server.
	reportTimeout = time.Second
)

// Server is the part of the server's client that a Resolver uses.
type Server interface {
	// Over returns a channel that is closed when the job has ended, by Cause.
	Over() <-chan struct{}
	Cause() error
	// Ended returns a channel that is closed when an epoch has ended, by EndOf; nil: it has not.
	Ended(w *client.Wiring) <-chan struct{}
	EndOf(w *client.Wiring) error
	// ServerErr returns why the server is lost for good; nil: it is not.
	ServerErr() error
	// Ask reports the fault of an edge, and reports whether the server has acknowledged it.
	Ask(ctx context.Context, peer int, collective uint64, fault protocol.EdgeFault, detail string) bool
	// Fail ends the job for a reason. detail is for the programs of other ranks.
	Fail(ctx context.Context, reason, detail string) error
	// SetLeaveReason sets the reason with which this attempt leaves, while the job continues.
	SetLeaveReason(why string)
}

// Resolver finds the root causes of failures in one epoch of a job. It has no state.
type Resolver struct {
	// Rank is this process's number.
	Rank int
	// Recovers means that the job continues after the loss of a rank.
	Recovers bool
	// OnLoss is the policy of the job. Some jobs with Wait or Shrink do not recover.
	OnLoss protocol.OnLoss
	// Server reports and decides; nil: there is no server.
	Server Server
	// Wiring is that of the epoch; nil: the job is not wired yet.
	Wiring *client.Wiring
	// Call returns the number of the collective under way, for reports.
	Call func() uint64
	// Patience limits the wait for the server to end the epoch of a job that recovers.
	Patience time.Duration
	// Closing is closed when this rank leaves the job.
	Closing <-chan struct{}
	// Log receives reports that have not reached the server.
	Log *slog.Logger
}

// Resolve returns the root cause of the first failure that this rank has seen. The end of ctx ends
// the waits, and its cause becomes the reason why this rank gives up.
func (r *Resolver) Resolve(ctx context.Context, seen *engine.Failure) *engine.Failure {
	switch actionFor(seen, r.Rank, r.Recovers) {
	case accept:
		return seen
	case arbitrate:
		return r.arbitrate(ctx, seen)
	case ask:
		if r.askServer(ctx, seen) {
			break
		}
		fallthrough
	case report:
		r.Report(ctx, seen)
	}
	return r.choose(seen)
}

// askServer reports an edge that broke, and reports whether the server answers in time. The server
// has the reports of both ends, and of all other edges that broke for the same reason.
func (r *Resolver) askServer(ctx context.Context, f *engine.Failure) bool {
	if f.Ask != 0 && f.By == r.Rank && r.Server != nil {
		within, cancel := context.WithTimeout(ctx, reportTimeout)
		defer cancel()
		r.Server.Ask(within, f.Rank, r.Call(), f.Ask, f.Reason())
	}
	return r.await(ctx, causeTimeout)
}

// arbitrate is Resolve in a job that recovers. The server decides whether the epoch or the job is
// over, also for the fault of an edge. The fault is reported repeatedly, since the server may be
// restarting.
func (r *Resolver) arbitrate(ctx context.Context, f *engine.Failure) *engine.Failure {
	if r.await(ctx, DetailTimeout) {
		return r.FromServer()
	}
	peer := f.Rank
	if f.Ask == protocol.EdgeCorrupts {
		peer = f.Far
	}
	within, cancel := context.WithTimeout(ctx, r.Patience)
	defer cancel()
	for within.Err() == nil && r.Server.ServerErr() == nil {
		if f.Ask != 0 && !r.Server.Ask(within, peer, r.Call(), f.Ask, f.Reason()) {
			r.Log.Warn("the server has not acknowledged the report of a failed edge: it may be restarting", "rank", r.Rank, "edge to", peer, "fault", f.Reason())
		}
		if r.await(within, askInterval) || r.leaves() {
			break
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		f = &engine.Failure{Code: engine.FaultGaveUp, By: r.Rank, Rank: r.Rank, Text: cause.Error(), Err: cause}
	}
	if r.Server.EndOf(r.Wiring) == nil { // no decision
		if context.Cause(ctx) == nil && r.leaves() {
			r.Server.SetLeaveReason(f.Reason()) // the others wait for the decision
		} else {
			r.Report(ctx, f) // the job must end
		}
		return r.choose(f)
	}
	return r.FromServer()
}

// Report reports to the server that this rank gives up because of f, and waits briefly for the end
// of the job that follows. The end of ctx ends only the latter wait.
func (r *Resolver) Report(ctx context.Context, f *engine.Failure) {
	if r.Server == nil || r.over() {
		return
	}
	continues := r.OnLoss != protocol.Abort && (r.Wiring == nil || !r.Wiring.Stream) // with vw workers LEAVE is the end of a rank's work
	if continues && (f.Err == engine.ErrClosed || errors.Is(f.Err, engine.ErrLeaving) || transport.Exhausted(f.Err)) {
		r.Server.SetLeaveReason(f.Reason()) // Close sends it: the rank leaves, the job continues
		return
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTimeout)
	defer cancel()
	if err := r.Server.Fail(within, f.Reason(), f.Detail()); err != nil {
		r.Log.Warn("failed to report to the server why this rank gives up", "rank", r.Rank, "reason", f.Reason(), "error", err)
		return
	}
	r.await(ctx, reportTimeout)
}

// FromServer returns why the server has ended the epoch.
func (r *Resolver) FromServer() *engine.Failure {
	if cause := r.Server.Cause(); cause != nil {
		return failureOf(cause)
	}
	f := failureOf(r.Server.EndOf(r.Wiring))
	f.Code = engine.FaultOver
	return f
}

// choose returns the server's cause if the job is over, and f otherwise.
func (r *Resolver) choose(f *engine.Failure) *engine.Failure {
	if r.Server == nil || !r.over() {
		return f
	}
	return choose(f, r.Server.Cause())
}

// over reports whether the server has ended the job.
func (r *Resolver) over() bool {
	select {
	case <-r.Server.Over():
		return true
	default:
		return false
	}
}

// leaves reports whether this rank leaves the job.
func (r *Resolver) leaves() bool {
	select {
	case <-r.Closing:
		return true
	default:
		return false
	}
}

// await waits until the server ends the epoch or the job, and reports whether it has. vw's own server
// never does.
func (r *Resolver) await(ctx context.Context, within time.Duration) bool {
	if r.Server == nil || r.Wiring != nil && r.Wiring.Epoch == (protocol.Epoch{}) {
		return false
	}
	ended := r.Server.Over()
	if r.Wiring != nil {
		ended = r.Server.Ended(r.Wiring)
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	case <-ctx.Done():
		return false
	case <-r.Closing:
		return r.over()
	}
}
