// SPDX-License-Identifier: Apache-2.0

package epoch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/clock"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/link/netconn"
	"github.com/gvw-project/gvw/internal/link/poll"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// streamChunk is the number of bytes that vw sends at once (AR_BUF_SIZE in vw's allreduce.h). No
// byte of the stream depends on it.
const streamChunk = 64 << 10

// Connect opens the connections of the epoch's tree.
func (e *Epoch) Connect(ctx context.Context) error {
	e.Linked = true
	e.Inject(fault.Wiring)
	if err := e.open(ctx); err != nil {
		return err
	}
	if err := e.HandOver(ctx); err != nil {
		return err
	}
	e.Inject(fault.Wiring)
	return nil
}

// open opens the connections of the tree.
func (e *Epoch) open(ctx context.Context) error {
	within, rank := ctx, e.cfg.Rank
	var stop func()
	if e.Conns.Later {
		within, stop = e.watched(ctx)
	} else { // all ranks are ready
		within, stop = context.WithTimeoutCause(ctx, e.cfg.DialTimeout, fmt.Errorf("no answer within %v", e.cfg.DialTimeout))
	}
	defer stop()
	err := e.Conns.Connect(within)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, mesh.ErrClosed): // by Group.Close, or by the root cause of a failure
		return e.Err(ctx)
	case e.closing():
		return engine.ErrClosed
	case errors.Is(err, mesh.ErrOver):
		return e.OverError("wiring")
	case e.job.Recovers() && ctx.Err() == nil:
		e.Engine.Fail(&engine.Failure{Code: engine.FaultLost, By: rank, Rank: e.Conns.Unreachable(), Text: err.Error(), Err: err, Ask: protocol.EdgeBroke}, nil)
		return e.Err(ctx)
	}
	// Without the report the other ranks would only see that this rank is lost.
	e.report(&engine.Failure{Code: engine.FaultGaveUp, By: rank, Rank: rank, Text: err.Error(), Err: err})
	return err
}

// watched returns a context that ends when ctx ends, or when the server, which finds lost ranks, has been
// lost for Patience. stop releases it.
func (e *Epoch) watched(ctx context.Context) (within context.Context, stop func()) {
	within, cancel := context.WithCancelCause(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		own := clock.Clock{Tick: engine.WatchTick}
		ticker := time.NewTicker(own.Tick)
		defer ticker.Stop()
		var lostAt time.Time
		for {
			select {
			case <-within.Done():
				return
			case <-ticker.C:
			}
			now, _ := own.Read(time.Now())
			switch err := e.cfg.Server.ServerErr(); {
			case err == nil:
			case lostAt.IsZero():
				lostAt = now
			case now.Sub(lostAt) >= e.cfg.Patience:
				cancel(fmt.Errorf("the server is lost: %w", err))
				return
			}
		}
	})
	return within, func() {
		cancel(nil)
		work.Wait()
	}
}

// HandOver gives the connections to the engine, and starts its watchdog.
func (e *Epoch) HandOver(ctx context.Context) error {
	d, err := e.newDriver()
	if err != nil {
		e.Conns.End()
		return fmt.Errorf("rank %d: %w", e.cfg.Rank, err)
	}
	m, en := e.Conns, &e.Engine
	e.Plans = engine.NewPlans(m.Tree, m.Self, m.Members, e.Wiring.Stream)
	if !en.Wire(func() { e.configure(d) }) {
		d.Stop()
		d.Wait()
		return e.stopped(ctx, engine.ErrStopped)
	}
	if e.cfg.Encrypted && !e.Wiring.Stream {
		e.cfg.Log.Info("between ranks: TLS 1.3, by the net.Conn driver; those of a machine share memory all the same, unless that is off", "rank", e.cfg.Rank)
	}
	if err := m.HandOver(e.attach); err != nil {
		return e.stopped(ctx, err)
	}
	en.StartWatch(e.done)
	return nil
}

// configure connects the engine with the driver, the mesh and the server, under the engine's lock.
func (e *Epoch) configure(d link.Driver) {
	w, m, en := e.Wiring, e.Conns, &e.Engine
	en.Driver, en.Stream, en.Address = d, w.Stream, w.Address
	limit := e.cfg.DialTimeout
	if m.Later {
		limit = 0 // the rank may still be in Work; the server decides about connections that do not open
	}
	en.Reach = func(rank int) {
		m.Reach(rank, limit, func(err error) {
			en.Fail(&engine.Failure{
				Code: engine.FaultLost, By: e.cfg.Rank, Rank: rank, Host: w.Address(rank),
				Text: "it cannot be reached: " + err.Error(), Err: err, Ask: protocol.EdgeBroke,
			}, nil)
		})
	}
	if w.Stream {
		en.Part, en.Longest = streamChunk, e.job.LongestWork()
		return
	}
	en.Missing = m.WhyMissing
	if w.Epoch == (protocol.Epoch{}) {
		return
	}
	en.Away = e.cfg.Server.ServerErr
	en.OnNotEntered = func(rank int, detail string) {
		e.work.Go(func() { e.cfg.Server.Ask(e.quitting, rank, en.CallNumber(), protocol.EdgeStalls, detail) })
	}
}

// attach makes an edge of a connection. In vw's stream a neighbour's rank is not known.
func (e *Epoch) attach(rank int, c mesh.Conn) error {
	p := link.Peer{Conn: c.Conn, Rank: rank, Host: c.Host}
	switch {
	case e.Wiring.Stream:
		p.Rank = link.UnknownRank
	case e.cfg.Tagged:
		p.Tags = link.TagsOf(c.Exchange, c.Role)
	}
	return e.Engine.Attach(rank, p)
}

// newDriver returns the driver of the epoch's edges.
func (e *Epoch) newDriver() (link.Driver, error) {
	d, en := e.cfg.Driver, &e.Engine
	if d == Poll || d == Auto && !e.Wiring.Stream && e.Conns.Plain() {
		loop, err := poll.New(&en.Set, &en.Segments)
		if err == nil || d == Poll {
			return loop, err
		}
	}
	if e.Wiring.Stream {
		return en.StreamDriver(), nil
	}
	return netconn.New(&en.Set), nil
}

// stopped ends an epoch whose edges the engine did not accept, and returns the reason: the failure
// that has stopped the engine, if any, since the epoch may have ended after the edges opened;
// otherwise err.
func (e *Epoch) stopped(ctx context.Context, err error) error {
	en := &e.Engine
	e.Conns.End()
	en.Mu.Lock()
	failed := en.Failure != nil
	en.Mu.Unlock()
	if !failed {
		en.Finish()
		e.refused = fmt.Errorf("rank %d: %w", e.cfg.Rank, err)
	}
	return e.Err(ctx)
}
