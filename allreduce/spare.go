// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
)

// Enlist makes this process a spare of a job. A spare has no rank of its own (cfg.Rank is
// ignored) and replaces a lost rank that has no standby attempt.
//
// Enlist returns when the server has assigned a rank, with that rank's group, as Join does.
// The caller then reads the rank's shard. A *[FinishedError] means that the job has ended
// without a use for the spare. OnLoss must be Wait, since only such a job replaces ranks.
func Enlist(ctx context.Context, cfg Config) (*Group, error) {
	cfg.Rank = 0 // for Validate
	err := cfg.Validate()
	if cfg.OnLoss != Wait {
		err = errors.Join(err, fmt.Errorf("allreduce: OnLoss is %v: only a job that replaces lost ranks (wait) uses a spare", cfg.OnLoss))
	}
	if err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	cfg.Rank = -1
	g := newGroup(cfg)
	if err := g.enlist(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("allreduce: a spare: %w", err), g.Close())
	}
	return g, nil
}

// enlist waits for the server to assign a rank, and makes this group the rank's group.
func (g *Group) enlist(ctx context.Context) error {
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
	g.renewEpoch() // the first one was made without the rank
	return nil
}
