// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

const (
	noRoot = -1
	// Nobody stands for no rank in SendRecv.
	Nobody = schedule.None
)

// Broadcast replaces v, on all ranks, by the v of root.
func (g *Group) Broadcast(ctx context.Context, v Vector, root int) error {
	g.checkRoot(verbBroadcast, root)
	return g.move(ctx, verbBroadcast, v, root)
}

// AllGather brings to all ranks the Segment of v that each rank has.
func (g *Group) AllGather(ctx context.Context, v Vector) error {
	return g.move(ctx, verbAllGather, v, noRoot)
}

// Gather brings to the v of root the Segment of v that each rank has. The rest of the v
// of the others is scratch: undefined afterwards.
func (g *Group) Gather(ctx context.Context, v Vector, root int) error {
	g.checkRoot(verbGather, root)
	return g.move(ctx, verbGather, v, root)
}

// Scatter brings to each rank its Segment of the v of root. The rest of the v of the
// others is scratch: undefined afterwards.
func (g *Group) Scatter(ctx context.Context, v Vector, root int) error {
	g.checkRoot(verbScatter, root)
	return g.move(ctx, verbScatter, v, root)
}

func (g *Group) move(ctx context.Context, verb verb, v Vector, root int) error {
	b := v.bytes()
	return g.do(ctx, collective{verb: verb, v: v, root: root, dst: b, src: b}, false)
}

// Barrier returns when all ranks have called it.
func (g *Group) Barrier(ctx context.Context) error {
	return g.do(ctx, collective{verb: verbBarrier, v: Vec([]byte(nil)), root: noRoot}, false)
}
