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

// collective is a call of one, as its method describes it.
type collective struct {
	verb     engine.Verb
	v        Vector // the whole of it: what all ranks agree on
	op       Op
	root     int
	dst, src []byte
	from, to int // of VerbSendRecv
}

// do carries out a collective. inStream: it exists in vw's stream.
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
		return nil // in vw's stream an empty vector is nothing at all
	}
	return g.carry(ctx, c)
}

// carry is do for a group that has entered.
func (g *Group) carry(ctx context.Context, c collective) error {
	k := engine.PlanKey{Verb: c.verb, Root: g.live.Position(c.root), Spec: schedule.Spec{
		Size: g.Size(), Bytes: len(c.dst), Elem: c.v.kind.Size(), Chunk: g.cfg.Chunk,
	}}
	switch c.verb {
	case engine.VerbAllReduce:
		k.Spec.Ordered = !kernels.Commutes(c.op)
		k.Spec.Schedule = g.cfg.Schedule
		if k.Spec.Ordered && !g.cfg.Schedule.Ordered() {
			k.Spec.Schedule = schedule.Auto
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

// call identifies a collective.
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

// enter begins a collective: the job is wired if it was not yet, and the
// collective exists in vw's stream if that is spoken. The caller ends it by
// clearing busy.
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
