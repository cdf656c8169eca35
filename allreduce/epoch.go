// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/link/netconn"
	"github.com/gvw-project/gvw/internal/link/poll"
	"github.com/gvw-project/gvw/internal/link/vwstream"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// epoch is one wiring of the job, from EPOCH_START to EPOCH_END: the edges and the engine that
// uses them. A job that does not recover from losses has one epoch.
type epoch struct {
	group  *Group
	wiring *client.Wiring // nil: not wired yet
	live   members.Set    // the ranks that take part
	conns  *mesh.Epoch    // nil: Local, or no edges are needed
	engine engine.Engine
	plans  engine.Plans
	linked bool // the tree's edges are open
	work   sync.WaitGroup
	ending sync.Once

	quitting context.Context // ends when this rank stops waiting for the root cause
	quit     context.CancelCauseFunc
	cause    *engine.Failure // the root cause, set before resolved is closed; under the group's lock
	resolved chan struct{}   // closed when cause is set, later than engine.Failed
	done     chan struct{}   // closed by end
}

func newEpoch(g *Group) *epoch {
	e := &epoch{group: g, live: members.All(g.cfg.Total), resolved: make(chan struct{}), done: make(chan struct{})}
	e.quitting, e.quit = context.WithCancelCause(context.Background())
	e.engine = engine.Engine{
		Set:      link.Set{Rank: g.cfg.Rank, NoSum: g.cfg.NoChecksum, Log: g.cfg.Log},
		Part:     g.cfg.Chunk,
		Limits:   engine.Limits{Stall: g.cfg.Stall, MaxWait: g.cfg.MaxWait, Server: g.cfg.patience()},
		Recorder: g.recorder,
		Segments: g.segments,
		OnFail: func(f *engine.Failure) {
			if !g.steps.Recovers() {
				g.die()
			}
			e.work.Go(func() { e.resolve(f) })
		},
	}
	e.engine.Init()
	return e
}

// enterEpoch ends the current epoch and makes the epoch of w current. It opens no edges: connect
// does. Only the goroutine that calls collectives calls it.
func (g *Group) enterEpoch(w *client.Wiring) {
	old, e := g.epoch, newEpoch(g)
	live := old.live
	if w.Members != nil {
		live = w.Members
	}
	if old.wiring != nil {
		old.end()
	}
	e.wiring, e.live = w, live // before other goroutines see e
	if !w.Ending {
		c := mesh.EpochConfig{Wiring: w, Members: live, Tree: topo.Binary(len(live)), Self: live.Position(g.cfg.Rank), Over: g.member.Ended(w)}
		if w.Stream {
			c.Members, c.Tree, c.Self = nil, vwstream.Tree{HasParent: w.Parent != "", Kids: w.Kids}, vwstream.Self
		}
		c.Later = old.wiring != nil
		if c.Later || g.steps.Recovers() {
			c.AskAfter = g.cfg.Stall
		}
		c.Ask = func(ctx context.Context, rank int, detail string) {
			g.member.Ask(ctx, rank, 0, protocol.EdgeStalls, detail)
		}
		e.conns = g.mesh.Epoch(c)
	}
	g.mu.Lock()
	g.epoch = e
	g.mu.Unlock()
	if !w.Stream {
		g.mesh.Accept()
	}
	g.steps.Begin(w)
	e.work.Go(e.watchEnd)
}

// connect opens the edges of the epoch's tree, then agrees on shared memory and on the
// transport, both by collectives along the tree.
func (g *Group) connect(ctx context.Context) error {
	e := g.epoch
	e.linked = true
	g.inject(fault.Wiring)
	within := ctx
	if !e.conns.Later { // all ranks are ready; in a later epoch some may still be in Work
		var cancel context.CancelFunc
		within, cancel = context.WithTimeoutCause(ctx, g.cfg.DialTimeout, fmt.Errorf("no answer within %v", g.cfg.DialTimeout))
		defer cancel()
	}
	if err := e.conns.Connect(within); err != nil {
		switch {
		case errors.Is(err, mesh.ErrOver):
			return e.overError("wiring")
		case g.steps.Recovers() && ctx.Err() == nil:
			e.engine.Fail(&engine.Failure{Code: engine.FaultLost, By: g.cfg.Rank, Rank: e.conns.Unreachable(), Text: err.Error(), Err: err, Ask: protocol.EdgeBroke}, nil)
			return g.failed(ctx)
		}
		// Without the report the other ranks would only see that this rank is lost.
		e.reportFailure(&engine.Failure{Code: engine.FaultGaveUp, By: g.cfg.Rank, Rank: g.cfg.Rank, Text: err.Error(), Err: err})
		return err
	}
	if err := e.start(ctx); err != nil {
		return err
	}
	g.inject(fault.Wiring)
	if err := g.share(ctx); err != nil {
		return err
	}
	return e.upgrade(ctx)
}

// overError returns why the epoch is over, for a caller without a collective under way: the
// job's root cause, or an *InterruptedError if the job continues.
func (e *epoch) overError(doing string) error {
	g := e.group
	if cause := g.member.Cause(); cause != nil {
		return fmt.Errorf("rank %d: %s: %w", g.cfg.Rank, doing, cause)
	}
	return &InterruptedError{Where: Where{Rank: g.cfg.Rank}, Err: g.member.EndOf(e.wiring)}
}

// over reports whether the server has ended the epoch.
func (e *epoch) over() bool {
	select {
	case <-e.group.member.Ended(e.wiring):
		return true
	default:
		return false
	}
}

// start gives the connections of a wired epoch to the engine, and starts its watchdog.
func (e *epoch) start(ctx context.Context) error {
	g, w, m, en := e.group, e.wiring, e.conns, &e.engine
	d, err := e.newDriver()
	if err != nil {
		m.End()
		return fmt.Errorf("rank %d: %w", g.cfg.Rank, err)
	}
	e.plans = engine.NewPlans(m.Tree, m.Self, m.Members, w.Stream)
	wired := en.Wire(func() {
		en.Stream, en.Peers = w.Stream, w.Peers
		if w.Stream {
			en.Part = streamChunk
			_, en.Longest, _ = g.steps.Pace()
		}
		en.Reach = func(rank int) {
			m.Reach(rank, g.cfg.DialTimeout, func(err error) {
				en.Fail(&engine.Failure{
					Code: engine.FaultLost, By: g.cfg.Rank, Rank: rank, Host: w.Peers[rank],
					Text: "it cannot be reached: " + err.Error(), Err: err, Ask: protocol.EdgeBroke,
				}, nil)
			})
		}
		if !w.Stream {
			en.Missing = m.WhyMissing
		}
		en.Driver = d
		if !w.Stream && w.Epoch != (protocol.Epoch{}) {
			en.Away = g.member.ServerErr
			en.OnNotEntered = func(rank int, detail string) {
				e.work.Go(func() {
					g.member.Ask(e.quitting, rank, en.CallNumber(), protocol.EdgeStalls, detail)
				})
			}
		}
	})
	if !wired {
		d.Stop()
		d.Wait()
		return e.stopped(ctx, engine.ErrStopped)
	}
	if creds := g.cfg.Credentials; creds != nil && creds.TLS != nil && !w.Stream {
		g.log.Info("between ranks: TLS 1.3, by the net.Conn driver; those of a machine share memory all the same, unless that is off", "rank", g.cfg.Rank)
	}
	if err := m.HandOver(e.attach); err != nil {
		return e.stopped(ctx, err)
	}
	en.Watchs.Go(func() { en.Watch(e.done) })
	return nil
}

// attach makes an edge of a connection. In vw's stream a neighbour's rank is not known.
func (e *epoch) attach(rank int, c mesh.Conn) error {
	l := link.Peer{Conn: c.Conn, Rank: rank, Host: c.Host}
	switch {
	case e.wiring.Stream:
		l.Rank = link.UnknownRank
	case e.group.cfg.mesh().Tagged():
		l.Tags = link.TagsOf(c.Exchange, c.Role)
	}
	return e.engine.Attach(rank, l)
}

// newDriver returns the driver of the epoch's edges.
func (e *epoch) newDriver() (link.Driver, error) {
	d, en := e.group.cfg.Driver, &e.engine
	if d == DriverPoll || d == DriverAuto && !e.wiring.Stream && e.conns.Plain() {
		loop, err := poll.New(&en.Set, &en.Segments)
		if err == nil || d == DriverPoll {
			return loop, err
		}
	}
	if e.wiring.Stream {
		return en.StreamDriver(), nil
	}
	return netconn.New(&en.Set), nil
}

// stopped ends an epoch whose edges the engine did not accept, and returns the reason: the
// failure that has stopped the engine, if any, since the epoch may have ended after the edges
// opened; otherwise err.
func (e *epoch) stopped(ctx context.Context, err error) error {
	g, en := e.group, &e.engine
	e.conns.End()
	en.Mu.Lock()
	failed := en.Failure != nil
	en.Mu.Unlock()
	if failed {
		return g.failed(ctx)
	}
	en.Finish()
	if g.isClosed() {
		return ErrClosed
	}
	return fmt.Errorf("rank %d: %w", g.cfg.Rank, err)
}

// end closes the edges and waits for everything that the epoch has started.
func (e *epoch) end() {
	e.ending.Do(func() { close(e.done) })
	if e.conns != nil {
		e.conns.Close()
		e.engine.Finish()
		e.closeDevice()
		e.engine.Mu.Lock()
		s := e.engine.Shared
		e.engine.Mu.Unlock()
		if s != nil {
			e.group.leave(s)
		}
		e.conns.End()
	}
	e.work.Wait()
}

// inject injects the fault that is configured for a point, if any. done ends a lasting fault,
// such as slow work.
func (g *Group) inject(p fault.Point) (done func()) {
	return g.engine.Inject(fault.At(g.cfg.Rank, p))
}
