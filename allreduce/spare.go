// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
)

// Enlist makes this process a spare of a job: one without a rank, whatever cfg says, that
// takes the place of a rank which is lost and of which no other attempt stands by. It
// returns when that is so, with the group of the rank, as Join does: the rank's shard is
// then to be read. A *[FinishedError] says that the job has ended, and had no use
// for it. OnLoss must be Wait: only such a job replaces lost ranks.
func Enlist(ctx context.Context, cfg Config) (*Group, error) {
	cfg.Rank = 0 // for Validate
	err := cfg.Validate()
	if cfg.OnLoss != Wait {
		err = errors.Join(err, fmt.Errorf("allreduce: OnLoss is %v: a spare is of use where a job waits for replacements (wait)", cfg.OnLoss))
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

// enlist waits for a rank, and makes this group that of it.
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
	e := newEpoch(g) // which knows the rank
	g.mu.Lock()
	g.epoch = e
	g.mu.Unlock()
	return nil
}
