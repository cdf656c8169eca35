// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/samehost"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/shm"
)

// share finds out which ranks run on one machine. If this rank has neighbours on its machine, it
// opens the segment through which they all-reduce. Without a segment they use TCP, which is no
// error.
func (g *Group) share(ctx context.Context) error {
	if g.Stream() {
		return nil
	}
	if len(samehost.Hosts(g.wiring.Peers)) == 0 {
		return nil
	}
	if g.busy.CompareAndSwap(false, true) { // else a collective has called Ready
		defer g.busy.Store(false)
	}
	found, err := samehost.Find(ctx, samehost.Config{
		Rank: g.cfg.Rank, Peers: g.wiring.Peers, Refuse: g.cfg.NoSharedMemory, Segments: g.segments, Log: g.log,
	}, func(ctx context.Context, v []uint64, op Op) error { return g.agree(ctx, v, op, "shared memory") })
	if err != nil {
		return err
	}
	for _, ranks := range found.Hosts {
		at := make([]int, len(ranks))
		for i, rank := range ranks {
			at[i] = g.live.Position(rank)
		}
		g.plans.Hosts = append(g.plans.Hosts, at)
	}
	if found.Segment == nil {
		return nil
	}
	g.engine.Mu.Lock()
	defer g.engine.Mu.Unlock()
	if g.engine.Ending {
		found.Segment.Close()
		return ErrClosed
	}
	found.Segment.Unlink()
	g.engine.Shared = shm.NewGroup(&g.engine, g.engine.Failed, found.Segment, g.cfg.Rank, found.Ranks)
	return nil
}

// agree reduces v along the tree, whose edges are open already. something is the capability
// that the ranks agree on, for messages.
func (g *Group) agree(ctx context.Context, v []uint64, op Op, something string) error {
	vec := Vec(v).Named(something)
	b := vec.bytes()
	c := collective{verb: engine.VerbAllReduce, v: vec, op: op, root: noRoot, dst: b, src: b}
	err := g.run(ctx, g.call(c, schedule.BinaryTree), g.plans.Agree(len(b)), b, b)
	if err != nil {
		return fmt.Errorf("finding out who has %s: %w", something, err)
	}
	return nil
}

// SharedMemory reports whether all ranks run on one machine and all-reduce in shared memory.
// It is valid after Ready.
func (g *Group) SharedMemory() bool { return len(g.SharedWith()) == g.Size() && g.Size() > 1 }

// SharedWith returns the ranks that share memory with this one, itself included; nil if this
// rank shares none. In a job of several machines these ranks first sum among themselves,
// wherever the schedule's order of additions permits it. It is valid after Ready.
func (g *Group) SharedWith() []int {
	if s := g.sharing(); s != nil {
		return slices.Clone(s.Ranks)
	}
	return nil
}

// SharedCalls returns the number of all-reduces of this epoch that have used shared memory, in
// whole or in part.
func (g *Group) SharedCalls() uint64 {
	if s := g.sharing(); s != nil {
		return s.Done.Load()
	}
	return 0
}

func (g *Group) sharing() *shm.Group {
	en := &g.engine
	en.Mu.Lock()
	defer en.Mu.Unlock()
	return en.Shared
}
