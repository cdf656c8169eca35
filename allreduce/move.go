// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
)

const (
	noRoot = -1
)

// Broadcast replaces v, on all ranks, by the v of root.
func (g *Group) Broadcast(ctx context.Context, v Vector, root int) error {
	g.checkRoot(engine.VerbBroadcast, root)
	return g.move(ctx, engine.VerbBroadcast, v, root)
}

// AllGather brings to all ranks the Segment of v that each rank has.
func (g *Group) AllGather(ctx context.Context, v Vector) error {
	return g.move(ctx, engine.VerbAllGather, v, noRoot)
}

// Gather brings to the v of root the Segment of v that each rank has. The rest of the v
// of the others is scratch: undefined afterwards.
func (g *Group) Gather(ctx context.Context, v Vector, root int) error {
	g.checkRoot(engine.VerbGather, root)
	return g.move(ctx, engine.VerbGather, v, root)
}

// Scatter brings to each rank its Segment of the v of root. The rest of the v of the
// others is scratch: undefined afterwards.
func (g *Group) Scatter(ctx context.Context, v Vector, root int) error {
	g.checkRoot(engine.VerbScatter, root)
	return g.move(ctx, engine.VerbScatter, v, root)
}

func (g *Group) move(ctx context.Context, verb engine.Verb, v Vector, root int) error {
	b := v.bytes()
	return g.do(ctx, collective{verb: verb, v: v, root: root, dst: b, src: b}, false)
}

// Barrier returns when all ranks have called it.
func (g *Group) Barrier(ctx context.Context) error {
	return g.do(ctx, collective{verb: engine.VerbBarrier, v: Vec([]byte(nil)), root: noRoot}, false)
}
