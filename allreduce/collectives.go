// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/shm"
)

// collective is one call, as its method describes it.
type collective struct {
	verb     engine.Verb
	v        Vector // the whole vector, whose length, kind and name are equal on all ranks
	op       Op
	root     int    // a rank, or noRoot
	dst, src []byte // this rank's result and contribution; the same memory if in place
	from, to int    // ranks, or Nobody; only for VerbSendRecv
}

// do enters and carries out a collective. inStream means that the collective exists in vw's
// stream too.
func (g *Group) do(ctx context.Context, c collective, inStream bool) error {
	if err := g.enter(ctx, inStream); err != nil {
		return err
	}
	defer g.busy.Store(false)
	if g.Size() == 1 {
		copy(c.dst, c.src)
		return nil
	}
	if g.Stream() && len(c.dst) == 0 {
		return nil // in vw's stream an empty vector has no bytes, not even a header
	}
	return g.carry(ctx, c)
}

// carry carries out a collective after enter. Plans are made in positions among the live ranks,
// not in ranks, so that the plan is the same before and after a loss.
func (g *Group) carry(ctx context.Context, c collective) error {
	k := engine.PlanKey{Verb: c.verb, Root: g.live.Position(c.root), Spec: schedule.Spec{
		Size: g.Size(), Bytes: len(c.dst), Elem: c.v.kind.Size(), Chunk: g.cfg.Chunk,
	}}
	switch c.verb {
	case engine.VerbAllReduce:
		k.Spec.Ordered = !kernels.Commutes(c.op)
		k.Spec.Schedule = g.cfg.Schedule
		if k.Spec.Ordered && !g.cfg.Schedule.Ordered() {
			k.Spec.Schedule = schedule.Auto // a ring would change the order of the operands
		}
	case engine.VerbReduceScatter:
		k.Spec.Ordered = !kernels.Commutes(c.op)
	case engine.VerbSendRecv:
		k.Spec.Bytes, k.Spec.Elem = 0, 0
		k.To, k.Out, k.From, k.In = g.live.Position(c.to), len(c.src), g.live.Position(c.from), len(c.dst)
	}
	p := g.plans.Get(k)
	if p.Programs != nil {
		t := shm.Task{Kind: c.v.kind, Op: c.op, Dst: c.dst, Src: c.src, Programs: p.Programs, Part: p.Part}
		if p.Part {
			t.Among = p.Prog
		}
		if g.engine.ReduceShared(ctx, g.call(c, p.Name), t) == nil {
			return nil
		}
		return g.failed(ctx)
	}
	return g.run(ctx, g.call(c, p.Name), p.Prog, c.dst, c.src)
}

// call returns the identity of a collective, which neighbours compare before any data.
func (g *Group) call(c collective, name schedule.Name) engine.CallID {
	id := engine.CallID{
		Epoch: g.wiring.Epoch, Verb: c.verb, Kind: c.v.kind, Op: c.op, Schedule: name,
		Part: uint32(g.engine.Part), Length: uint64(c.v.n), Root: int32(c.root), Name: c.v.name,
	}
	if own := kernels.Lookup(c.op); own != nil {
		id.Own = own.Name
	}
	return id
}

func (g *Group) run(ctx context.Context, id engine.CallID, p *schedule.Program, dst, src []byte) error {
	if g.engine.Run(ctx, id, p, dst, src) == nil {
		return nil
	}
	return g.failed(ctx)
}

// enter begins a collective. It wires the job if necessary, and refuses a collective that does
// not exist in vw's stream if the job uses it. If enter returns nil, the caller clears busy at
// the end of the collective.
func (g *Group) enter(ctx context.Context, inStream bool) error {
	if !g.busy.CompareAndSwap(false, true) {
		panic("BUG: allreduce: a collective was called while another one of the same group is under way")
	}
	err := g.ready(ctx)
	if err == nil && g.Stream() && !inStream {
		err = fmt.Errorf("rank %d: %w", g.cfg.Rank, engine.ErrStreamOnly)
	}
	if err != nil {
		g.busy.Store(false)
	}
	return err
}

// ready wires the job if necessary, and returns an *InterruptedError if the epoch is over or this
// rank's state is not the one from which the others continue.
func (g *Group) ready(ctx context.Context) error {
	if g.isClosed() {
		return ErrClosed
	}
	if err := g.Ready(ctx, Shard{}); err != nil {
		return err
	}
	if !g.steps.Recovers() {
		return nil
	}
	missing := g.steps.Missing()
	switch {
	case g.over():
		return g.overError("a collective")
	case missing != nil:
		return &InterruptedError{Where: Where{Rank: g.cfg.Rank}, Err: fmt.Errorf("the job is further than this rank, which lacks the %v", missing.Payload)}
	case g.steps.ShrinkDue():
		return &InterruptedError{Where: Where{Rank: g.cfg.Rank}, Err: fmt.Errorf("the job goes on with ranks %v, as this rank learns now", []int(g.live))}
	case !g.linked:
		return g.connect(ctx)
	}
	return nil
}

// checkRoot panics unless root is a rank.
func (g *Group) checkRoot(verb engine.Verb, root int) {
	if root < 0 || g.live.Position(root) < 0 {
		panic(fmt.Sprintf("BUG: allreduce: %v with root %d: ranks are %v", verb, root, []int(g.live)))
	}
}
