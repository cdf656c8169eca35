// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/malt/internal/access"
	"github.com/gvw-project/gvw/malt/internal/carrier"
)

// run goes from membership to membership, until the job ends.
func (g *Group) run(w *client.Wiring) {
	for first := true; ; first = false {
		g.epoch(w, first)
		next, err := g.member.Next(g.ctx, w)
		if err != nil {
			if g.ctx.Err() == nil {
				g.fail(g.ended(err))
			}
			return
		}
		w = next
	}
}

// ended returns the error of a rank whose job has ended by err.
func (g *Group) ended(err error) error {
	refused, ok := errors.AsType[*protocol.RefusedError](err)
	if !ok || refused.Code != protocol.AttemptFenced {
		return fmt.Errorf("malt: rank %d: %w", g.cfg.Rank, err)
	}
	advice := "check its machine and its network"
	if g.cfg.replaces() {
		advice += ", and start the rank again"
	}
	return fmt.Errorf("malt: rank %d: the job counts this process as lost: %w; %s", g.cfg.Rank, err, advice)
}

// broken is a connection that has failed.
type broken struct {
	rank int
	err  error
}

// endings has what may end a membership. Each channel has room for one value, and further ones are dropped.
type endings struct {
	broken chan broken
	fatal  chan error // reasons to end the job
}

func newEndings() endings {
	return endings{make(chan broken, 1), make(chan error, 1)}
}

// report adds a failed connection, or with rank < 0 a reason to end the job.
func (e endings) report(rank int, err error) {
	if rank < 0 {
		select {
		case e.fatal <- err:
		default:
		}
		return
	}
	select {
	case e.broken <- broken{rank, err}:
	default:
	}
}

// epoch connects the members of w, and carries their traffic until the server ends the epoch.
func (g *Group) epoch(w *client.Wiring, first bool) {
	g.events.Add(events.Event{Kind: events.Epoch, Number: uint64(w.Epoch.N), Peer: -1}, time.Now())
	g.progress.begin(w)
	if w.Ending {
		g.end(w)
		return
	}
	live := members.Set(w.Members)
	if live == nil {
		live = members.All(g.cfg.Total)
	}
	self := live.Position(g.cfg.Rank)
	conns := g.mesh.Epoch(mesh.EpochConfig{
		Wiring: w, Members: live, Tree: topo.Binary(len(live)), Self: self, Over: g.member.Ended(w),
		Later: !first, AskAfter: g.cfg.Stall,
		Ask: func(ctx context.Context, rank int, detail string) {
			g.member.AskAbout(ctx, w, rank, protocol.EdgeStalls, detail)
		},
	})
	g.mu.Lock()
	g.wiring, g.conns, g.live = w, conns, live
	g.mu.Unlock()
	g.mesh.Accept()
	failed := newEndings()
	if err := conns.Connect(g.ctx); err != nil {
		if !errors.Is(err, mesh.ErrOver) && g.ctx.Err() == nil {
			failed.report(conns.Unreachable(), err)
			g.untilEnded(w, nil, failed)
		}
		return
	}
	memory := g.access(w.Addresses(g.cfg.Total))
	defer memory.Close()
	c := carrier.New(carrier.Config{
		Rank: g.cfg.Rank, Members: live, Tree: topo.Binary(len(live)), Conns: conns,
		Tagged: g.cfg.mesh().Tagged(), DialTimeout: g.cfg.DialTimeout, Explain: explain, Fail: failed.report, Log: g.cfg.Log,
		Memory: memory.Memory, Barriers: &g.barriers, Traffic: g.traffic,
	})
	var pull sync.WaitGroup
	ctx, cancel := context.WithCancel(g.ctx)
	publish := func() {
		if err := g.publish(c); err != nil {
			failed.report(-1, err)
		}
	}
	if err := g.begin(c); err != nil {
		failed.report(-1, err)
	} else if g.progress.hasValues() {
		publish()
	} else {
		pull.Go(func() {
			if g.inherit(ctx, w) {
				g.progress.received()
				c.Inherited()
				publish()
			}
		})
	}
	g.untilEnded(w, c, failed)
	cancel()
	pull.Wait()
	g.mu.Lock()
	g.carrier, g.conns = nil, nil
	for _, o := range g.objects {
		o.past.Add(c.Stats(o.spec.ID))
	}
	g.mu.Unlock()
	c.Count() // before its links end
	c.Close()
}

// access opens the ways into the memory of the other ranks. addresses are those of all ranks.
func (g *Group) access(addresses []string) *access.Access {
	c := &g.cfg
	return access.Open(access.Config{
		Rank: c.Rank, Hosts: addresses, NoSharedMemory: c.NoSharedMemory, Device: c.Verbs, DeviceMemory: c.VerbsMemory,
		Encrypted: c.Credentials != nil && c.Credentials.TLS != nil, Library: c.library, Log: c.Log,
	})
}

// end ends the last membership of a job whose other ranks are done. A rank that is not done itself had joined late.
func (g *Group) end(w *client.Wiring) {
	g.mu.Lock()
	g.wiring, g.ending = w, true
	g.wake()
	done := g.done
	g.mu.Unlock()
	if !done {
		g.fail(ErrFinished)
		_, _ = g.member.Complete(g.ctx, [32]byte{}, nil) // the server waits for this rank, too
	}
}

// begin registers all objects with a new carrier, and begins its traffic.
func (g *Group) begin(c *carrier.Carrier) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.registered = 0
	if err := g.register(c); err != nil {
		return err
	}
	return c.Start()
}

// register registers the objects with a new carrier that are not yet. The lock is held.
func (g *Group) register(c *carrier.Carrier) error {
	for ; g.registered < len(g.objects); g.registered++ {
		if err := c.Register(g.objects[g.registered].among(g.live)); err != nil {
			return err
		}
	}
	return nil
}

// publish lets calls use a carrier. It registers the objects that the program has created since begin.
func (g *Group) publish(c *carrier.Carrier) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.register(c); err != nil {
		return err
	}
	if g.done {
		c.LeaveAll()
	}
	g.carrier = c
	g.epochs++
	g.wake()
	return nil
}
