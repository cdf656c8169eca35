// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// collective is a call of one, as its method describes it.
type collective struct {
	verb     verb
	v        Vector // the whole of it: what all ranks agree on
	op       Op
	root     int
	dst, src []byte
	from, to int // of verbSendRecv
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
	k := planKey{verb: c.verb, root: g.live.position(c.root), spec: schedule.Spec{
		Size: g.Size(), Bytes: len(c.dst), Elem: c.v.kind.Size(), Chunk: g.cfg.Chunk,
	}}
	switch c.verb {
	case verbAllReduce:
		k.spec.Ordered = !c.op.commutes()
		k.spec.Schedule = g.cfg.Schedule
		if k.spec.Ordered && !g.cfg.Schedule.Ordered() {
			k.spec.Schedule = schedule.Auto
		}
	case verbReduceScatter:
		k.spec.Ordered = !c.op.commutes()
	case verbSendRecv:
		k.spec.Bytes, k.spec.Elem = 0, 0
		k.to, k.out, k.from, k.in = g.live.position(c.to), len(c.src), g.live.position(c.from), len(c.dst)
	}
	p := g.plans.get(k)
	if p.codes != nil {
		t := task{kind: c.v.kind, op: c.op, dst: c.dst, src: c.src, codes: p.codes, part: p.part}
		if p.part {
			t.among = p.prog
		}
		if g.engine.reduceShared(ctx, g.call(c, p.name), t) == nil {
			return nil
		}
		return g.failed(ctx)
	}
	return g.run(ctx, g.call(c, p.name), p.prog, c.dst, c.src)
}

// call identifies a collective.
func (g *Group) call(c collective, name schedule.Name) callID {
	id := callID{
		epoch: g.wiring.Epoch, verb: c.verb, kind: c.v.kind, op: c.op, schedule: name,
		part: uint32(g.engine.part), length: uint64(c.v.n), root: int32(c.root), name: c.v.name,
	}
	if own := c.op.own(); own != nil {
		id.own = own.name
	}
	return id
}

func (g *Group) run(ctx context.Context, id callID, p *schedule.Program, dst, src []byte) error {
	if g.engine.run(ctx, id, p, dst, src) == nil {
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
		err = fmt.Errorf("rank %d: %w", g.cfg.Rank, errStreamOnly)
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
	if err := g.Ready(ctx, protocol.Shard{}); err != nil {
		return err
	}
	if !g.steps.recovers {
		return nil
	}
	switch {
	case g.over():
		return g.overError("a collective")
	case g.lack != nil:
		return &InterruptedError{Where: Where{Rank: g.cfg.Rank}, Err: fmt.Errorf("the job is further than this rank, which lacks the %v", g.lack.What)}
	case g.steps.unaware():
		return &InterruptedError{Where: Where{Rank: g.cfg.Rank}, Err: fmt.Errorf("the job goes on with ranks %v, as this rank learns now", []int(g.live))}
	case !g.linked:
		return g.connect(ctx)
	}
	return nil
}

// checkRoot panics unless root is a rank.
func (g *Group) checkRoot(verb verb, root int) {
	if root < 0 || g.live.position(root) < 0 {
		panic(fmt.Sprintf("BUG: allreduce: %v with root %d: ranks are %v", verb, root, []int(g.live)))
	}
}
