// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/members"
)

// SendRecv sends src to the rank to, and receives dst from the rank from. A negative
// rank leaves out that half. dst and src do not overlap.
//
// All ranks call it, and each src has the length and kind of its receiver's dst. The ranks
// first compare their arguments along the tree: if two of them disagree, all ranks return
// the same *MismatchError, and no rank waits for bytes that never come.
func (g *Group) SendRecv(ctx context.Context, dst Vector, from int, src Vector, to int) error {
	from, to = max(from, schedule.None), max(to, schedule.None)
	if from != schedule.None {
		g.checkRoot(engine.VerbSendRecv, from)
	}
	if to != schedule.None {
		g.checkRoot(engine.VerbSendRecv, to)
	}
	self := g.cfg.Rank
	switch {
	case dst.overlaps(src):
		panic("BUG: allreduce: what is sent and what is received overlap")
	case (from == self) != (to == self) || from == self && (dst.n != src.n || dst.kind != src.kind):
		panic(fmt.Sprintf("BUG: allreduce: rank %d sends itself %d %v, and receives %d %v of rank %d", self, src.n, src.kind, dst.n, dst.kind, from))
	case from == self:
		copy(dst.bytes(), src.bytes())
		from, to = schedule.None, schedule.None
	}
	if err := g.enter(ctx, engine.VerbSendRecv, false); err != nil {
		return err
	}
	defer g.busy.Store(false)
	if g.Size() == 1 {
		return nil
	}
	own := engine.SendRecv{To: int64(to), From: int64(from)}
	name := Vec([]byte(nil)).Named(src.name)
	c := g.call(engine.VerbSendRecv, name, schedule.None)
	c.From, c.To = from, to
	if from != schedule.None {
		c.Dst, own.In, own.InKind = dst.bytes(), int64(dst.n), int64(dst.kind)
	}
	if to != schedule.None {
		c.Src, own.Out, own.OutKind = src.bytes(), int64(src.n), int64(src.kind)
	}
	if err := g.exchangeArgs(ctx, own, name); err != nil {
		return err
	}
	return g.epoch.Carry(ctx, c)
}

// pairs is the buffer in which SendRecv compares the arguments of all ranks.
type pairs struct {
	words []int64 // engine.SendRecvWords for each rank, by position
}

// exchangeArgs gathers what each rank sends and receives, and fails the job if two ranks
// disagree. name is the vector whose name and kind identify the call.
func (g *Group) exchangeArgs(ctx context.Context, own engine.SendRecv, name Vector) error {
	p := &g.pairs
	if n := engine.SendRecvWords * g.Size(); len(p.words) != n {
		p.words = make([]int64, n)
	}
	own.Put(p.words[engine.SendRecvWords*g.epoch.Live.Position(g.cfg.Rank):])
	c := g.call(engine.VerbSendRecvArgs, name, schedule.None)
	c.Dst = Vec(p.words).bytes()
	c.Src = c.Dst
	if err := g.epoch.CarryArgs(ctx, c); err != nil {
		return err
	}
	a, other, ok := disagree(p.words, g.epoch.Live)
	if !ok {
		return nil
	}
	en := &g.epoch.Engine
	en.Fail(en.SendRecvMismatch(a, other, p.words, g.epoch.Live), nil)
	return g.epoch.Err(ctx)
}

// disagree finds the first two ranks of which one sends what the other does not receive. All
// ranks find the same two. b is the rank that a names as its destination or source.
func disagree(words []int64, live members.Set) (a, b int, found bool) {
	at := func(r int64) (engine.SendRecv, bool) {
		position := live.Position(int(r))
		if position < 0 {
			return engine.SendRecv{}, false
		}
		return engine.DecodeSendRecv(words[engine.SendRecvWords*position:]), true
	}
	for _, rank := range live {
		r := int64(rank)
		p, _ := at(r)
		if q, ok := at(p.To); p.To != schedule.None && (!ok || q.From != r || q.In != p.Out || q.InKind != p.OutKind) {
			return int(r), int(p.To), true
		}
		if q, ok := at(p.From); p.From != schedule.None && (!ok || q.To != r || q.Out != p.In || q.OutKind != p.InKind) {
			return int(r), int(p.From), true
		}
	}
	return 0, 0, false
}
