// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/kernels"
)

// AllReduce replaces v, on all ranks, by the reduction of the v of all ranks. It
// has the same bits everywhere and in every run. After an error v is undefined.
func (g *Group) AllReduce(ctx context.Context, v Vector, op Op) error {
	return g.AllReduceInto(ctx, v, v, op)
}

// AllReduceInto is AllReduce with the result in dst; src stays as it is, also after
// an error. dst and src have the same length and kind, and are the same memory or
// do not overlap.
func (g *Group) AllReduceInto(ctx context.Context, dst, src Vector, op Op) error {
	switch {
	case dst.n != src.n || dst.kind != src.kind:
		panic(fmt.Sprintf("BUG: allreduce: the result has %d %v, the contribution %d %v", dst.n, dst.kind, src.n, src.kind))
	case dst.data != src.data && dst.overlaps(src):
		panic("BUG: allreduce: result and contribution overlap")
	}
	kernels.CheckOp(op, dst.kind)
	inStream := dst.kind == kernels.Float32 && op == Sum
	return g.do(ctx, collective{verb: engine.VerbAllReduce, v: dst, op: op, root: noRoot, dst: dst.bytes(), src: src.bytes()}, inStream)
}

// Reduce replaces the v of root by the reduction of the v of all ranks. The v of the
// others is scratch: undefined afterwards.
func (g *Group) Reduce(ctx context.Context, v Vector, op Op, root int) error {
	g.checkRoot(engine.VerbReduce, root)
	kernels.CheckOp(op, v.kind)
	b := v.bytes()
	return g.do(ctx, collective{verb: engine.VerbReduce, v: v, op: op, root: root, dst: b, src: b}, false)
}

// ReduceScatter reduces the v of all ranks and leaves each rank its own Segment of
// the result, at its place in v. The rest of v is scratch: undefined afterwards.
func (g *Group) ReduceScatter(ctx context.Context, v Vector, op Op) error {
	kernels.CheckOp(op, v.kind)
	b := v.bytes()
	return g.do(ctx, collective{verb: engine.VerbReduceScatter, v: v, op: op, root: noRoot, dst: b, src: b}, false)
}

// Segment is the part of a vector of n elements that belongs to a rank: lo … hi-1.
// ReduceScatter, AllGather, Gather and Scatter cut vectors so.
func (g *Group) Segment(n, rank int) (lo, hi int) {
	s, at := schedule.Spec{Size: g.Size(), Bytes: n}, g.live.Position(rank)
	return s.Cut(at), s.Cut(at + 1)
}
