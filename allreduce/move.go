// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/schedule"
)

// Broadcast copies the v of root to the v of all other ranks.
func (g *Group) Broadcast(ctx context.Context, v Vector, root int) error {
	g.checkRoot(engine.VerbBroadcast, root)
	return g.move(ctx, engine.VerbBroadcast, v, root)
}

// AllGather copies each rank's [Group.Segment] of v to the v of all ranks.
func (g *Group) AllGather(ctx context.Context, v Vector) error {
	return g.move(ctx, engine.VerbAllGather, v, schedule.None)
}

// Gather copies each rank's [Group.Segment] of v to the v of root. On other ranks the rest of
// v is scratch memory: it is undefined afterwards.
func (g *Group) Gather(ctx context.Context, v Vector, root int) error {
	g.checkRoot(engine.VerbGather, root)
	return g.move(ctx, engine.VerbGather, v, root)
}

// Scatter copies to each rank its [Group.Segment] of the v of root. On other ranks the rest of
// v is scratch memory: it is undefined afterwards.
func (g *Group) Scatter(ctx context.Context, v Vector, root int) error {
	g.checkRoot(engine.VerbScatter, root)
	return g.move(ctx, engine.VerbScatter, v, root)
}

func (g *Group) move(ctx context.Context, verb engine.Verb, v Vector, root int) error {
	return g.do(ctx, g.call(verb, v, root), false)
}

// Barrier returns when all ranks have called it.
func (g *Group) Barrier(ctx context.Context) error {
	return g.move(ctx, engine.VerbBarrier, Vec([]byte(nil)), schedule.None)
}
