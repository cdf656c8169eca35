// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
)

// joinSpare is Join for a spare.
func joinSpare(ctx context.Context, cfg Config) (*Group, error) {
	cfg.Rank = -1
	g := newGroup(cfg)
	if err := g.awaitRank(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("allreduce: a spare: %w", err), g.Close())
	}
	return g, nil
}

// awaitRank waits for the server to assign a rank, and makes this group the rank's group.
func (g *Group) awaitRank(ctx context.Context) error {
	member, err := g.register(ctx, 0)
	if err != nil {
		return err
	}
	rank, err := member.Assigned(ctx)
	if err != nil {
		return err
	}
	g.cfg.Rank = rank
	g.mesh.SetRank(rank)
	g.steps.SetRank(rank)
	step, err := g.steps.Newest(g.cfg.owner())
	if err != nil {
		return err
	}
	member.Checkpoint(step)
	if g.cfg.TraceDir != "" {
		if g.recorder, err = engine.NewFlightRecorder(g.cfg.TraceDir, rank, g.log); err != nil {
			return err
		}
	}
	g.newTimeline(rank)
	g.renewEpoch() // the first one was made without the rank
	return nil
}
