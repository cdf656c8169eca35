// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/malt/internal/carrier"
)

// run goes from membership to membership, until the job ends.
func (g *Group) run(w *client.Wiring) {
	for first := true; ; first = false {
		g.epoch(w, first)
		next, err := g.member.Next(g.ctx, w)
		if err != nil {
			if g.ctx.Err() == nil {
				g.fail(fmt.Errorf("malt: rank %d: %w", g.cfg.Rank, err))
			}
			return
		}
		w = next
	}
}

// broken is a connection that has failed, or with rank < 0 a reason to end the job.
type broken struct {
	rank int
	err  error
}

// epoch connects the members of w, and carries their traffic until the server ends the epoch.
func (g *Group) epoch(w *client.Wiring, first bool) {
	if w.Ending {
		return // no updates any more
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
			g.member.Ask(ctx, rank, 0, protocol.EdgeStalls, detail)
		},
	})
	g.mu.Lock()
	g.wiring, g.conns, g.live = w, conns, live
	g.mu.Unlock()
	g.mesh.Accept()
	failures := make(chan broken, 1)
	report := func(rank int, err error) {
		select {
		case failures <- broken{rank, err}:
		default: // one is enough
		}
	}
	if err := conns.Connect(g.ctx); err != nil {
		if !errors.Is(err, mesh.ErrOver) && g.ctx.Err() == nil {
			report(conns.Unreachable(), err)
			g.untilEnded(w, nil, failures)
		}
		return
	}
	c := carrier.New(carrier.Config{
		Rank: g.cfg.Rank, Members: live, Tree: topo.Binary(len(live)), Conns: conns,
		Tagged: g.cfg.mesh().Tagged(), DialTimeout: g.cfg.DialTimeout, Explain: explain, Fail: report, Log: g.cfg.Log,
	})
	if err := g.begin(c); err != nil {
		report(-1, err)
	}
	g.untilEnded(w, c, failures)
	g.mu.Lock()
	g.carrier, g.conns = nil, nil
	for _, o := range g.objects {
		o.past.Add(c.Stats(o.spec.ID))
	}
	g.mu.Unlock()
	c.Close()
}

// begin registers all objects with a new carrier, and lets calls use it.
func (g *Group) begin(c *carrier.Carrier) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, o := range g.objects {
		if err := c.Register(o.among(g.live)); err != nil {
			return err
		}
	}
	if err := c.Start(); err != nil {
		return err
	}
	if g.done {
		c.LeaveAll()
	}
	g.carrier = c
	g.wake()
	return nil
}
