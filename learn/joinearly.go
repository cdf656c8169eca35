// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"errors"
	"io"

	"github.com/gvw-project/gvw/allreduce"
)

// Enlist makes this process a spare of the job that cfg says, whatever Cluster.Rank is: see
// allreduce.Enlist. It returns when the process has been given the rank of a lost one. Then
// Run, with the returned Group and what else belongs to the rank (Inputs, Cache, names of
// files), does what the lost one would. Of what a spare does not know before it has a
// rank, nothing but Inputs is looked at here, and that only for being there.
func Enlist(ctx context.Context, cfg Config) (*allreduce.Group, error) {
	c, err := cfg.joinEarly()
	if err != nil {
		return nil, err
	}
	return allreduce.Enlist(ctx, c)
}

// Muster joins the job that cfg says before this rank has its inputs: which they are depends on
// who takes part (Cluster.Elastic), which it waits for and returns. Then Run, with the returned
// Group and what else belongs to the rank, goes on. Of Inputs it looks at nothing but that
// there are some. A *allreduce.RefusedError may say that the job has finished: then Run alone
// does what is left to do.
func Muster(ctx context.Context, cfg Config) (*allreduce.Group, []int, error) {
	c, err := cfg.joinEarly()
	if err != nil {
		return nil, nil, err
	}
	g, err := allreduce.Join(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	live, err := g.Roster(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, g.Close())
	}
	return g, live, nil
}

// joinEarly is how a process joins that does not know its inputs yet.
func (cfg Config) joinEarly() (c allreduce.Config, err error) {
	if cfg.Cluster.Join == nil {
		return c, errors.New("learn: Config.Cluster.Join is missing: set the job to join")
	}
	if err := cfg.Validate(); err != nil {
		return c, err
	}
	cfg = cfg.withDefaults()
	if cfg.Model.Initial != "" || cfg.Model.FeatureMask != "" {
		in, err := loadModel(&cfg, io.Discard) // its options are the job's, too
		if err != nil {
			return c, err
		}
		if err := in.file.Close(); err != nil {
			return c, err
		}
	}
	if cfg.Reg.Input != "" {
		if _, _, err := loadRegularizer(&cfg, io.Discard); err != nil {
			return c, err
		}
	}
	_ = cfg.settle()
	rule, err := cfg.updateRule()
	if err != nil {
		return c, err
	}
	return cfg.member(rule), nil
}
