// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/kernels"
)

// AllReduce reduces the v of all ranks by op, and stores the result in the v of all ranks. The
// result has the same bits on all ranks and in every run. After an error v is undefined.
func (g *Group) AllReduce(ctx context.Context, v Vector, op Op) error {
	return g.AllReduceInto(ctx, v, v, op)
}

// AllReduceInto is AllReduce with the result in dst. src does not change, even after an error,
// unless it is dst. dst and src have the same length and kind, and are the same memory or do
// not overlap.
func (g *Group) AllReduceInto(ctx context.Context, dst, src Vector, op Op) error {
	switch {
	case dst.n != src.n || dst.kind != src.kind:
		panic(fmt.Sprintf("BUG: allreduce: the result has %d %v, the contribution %d %v", dst.n, dst.kind, src.n, src.kind))
	case dst.data != src.data && dst.overlaps(src):
		panic("BUG: allreduce: result and contribution overlap")
	}
	kernels.CheckOp(op, dst.kind)
	inStream := dst.kind == kernels.Float32 && op == Sum
	c := g.call(engine.VerbAllReduce, dst, schedule.None)
	c.Op, c.Src = op, src.bytes()
	return g.do(ctx, c, inStream)
}

// Reduce reduces the v of all ranks by op, and stores the result in the v of root. On other
// ranks v is scratch memory: it is undefined afterwards.
func (g *Group) Reduce(ctx context.Context, v Vector, op Op, root int) error {
	g.checkRoot(engine.VerbReduce, root)
	kernels.CheckOp(op, v.kind)
	c := g.call(engine.VerbReduce, v, root)
	c.Op = op
	return g.do(ctx, c, false)
}

// ReduceScatter reduces the v of all ranks by op, and stores each rank's [Group.Segment] of the
// result at its place in the rank's v. The rest of v is scratch memory: it is undefined
// afterwards.
func (g *Group) ReduceScatter(ctx context.Context, v Vector, op Op) error {
	kernels.CheckOp(op, v.kind)
	c := g.call(engine.VerbReduceScatter, v, schedule.None)
	c.Op = op
	return g.do(ctx, c, false)
}

// Segment returns the part of a vector of n elements that belongs to a rank: the elements
// lo … hi-1. ReduceScatter, AllGather, Gather and Scatter divide vectors so. The parts differ
// by at most one element, and follow each other in the order of the live ranks.
func (g *Group) Segment(n, rank int) (lo, hi int) {
	s, at := schedule.Spec{Size: g.Size(), Bytes: n}, g.epoch.Live.Position(rank)
	return s.Cut(at), s.Cut(at + 1)
}
