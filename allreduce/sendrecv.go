// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/members"
)

// SendRecv sends src to the rank to, and receives dst from the rank from; Nobody
// leaves one of them out. All ranks call it, and what one sends has the length and kind
// of what the other receives: they first tell each other along the tree, so that two
// which disagree are an error on all ranks. dst and src do not overlap.
func (g *Group) SendRecv(ctx context.Context, dst Vector, from int, src Vector, to int) error {
	if from != Nobody {
		g.checkRoot(engine.VerbSendRecv, from)
	}
	if to != Nobody {
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
		from, to = Nobody, Nobody
	}
	if err := g.enter(ctx, false); err != nil {
		return err
	}
	defer g.busy.Store(false)
	if g.Size() == 1 {
		return nil
	}
	own := engine.SendRecv{To: int64(to), From: int64(from)}
	c := collective{verb: engine.VerbSendRecv, v: Vec([]byte(nil)).Named(src.name), root: noRoot, from: from, to: to}
	if from != Nobody {
		c.dst, own.In, own.InKind = dst.bytes(), int64(dst.n), int64(dst.kind)
	}
	if to != Nobody {
		c.src, own.Out, own.OutKind = src.bytes(), int64(src.n), int64(src.kind)
	}
	if err := g.exchangeArgs(ctx, own, c.v); err != nil {
		return err
	}
	return g.carry(ctx, c)
}

// pairs is what SendRecv needs beside its programs.
type pairs struct {
	words []int64 // of all ranks, by position
}

// SendRecvArgs tells all ranks what this one sends and receives, and hears it of them.
func (g *Group) exchangeArgs(ctx context.Context, own engine.SendRecv, name Vector) error {
	p := &g.pairs
	if n := engine.SendRecvWords * g.Size(); len(p.words) != n {
		p.words = make([]int64, n)
	}
	own.Put(p.words[engine.SendRecvWords*g.live.Position(g.cfg.Rank):])
	b := Vec(p.words).bytes()
	id := g.call(collective{verb: engine.VerbSendRecvArgs, v: name, root: noRoot}, 0)
	if err := g.run(ctx, id, g.plans.SendRecvArgs(), b, b); err != nil {
		return err
	}
	a, other, ok := disagree(p.words, g.live)
	if !ok {
		return nil
	}
	g.engine.Fail(g.engine.SendRecvMismatch(a, other, p.words, g.live), nil)
	return g.failed(ctx)
}

// disagree finds the first two ranks of which one sends what the other does not
// receive, the same on all ranks. A rank that is meant by one alone is the second.
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
		if q, ok := at(p.To); p.To != Nobody && (!ok || q.From != r || q.In != p.Out || q.InKind != p.OutKind) {
			return int(r), int(p.To), true
		}
		if q, ok := at(p.From); p.From != Nobody && (!ok || q.To != r || q.Out != p.In || q.OutKind != p.InKind) {
			return int(r), int(p.From), true
		}
	}
	return 0, 0, false
}
