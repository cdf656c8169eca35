// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"errors"
	"io"

	"github.com/gvw-project/gvw/allreduce"
)

// JoinSpare makes this process a spare of the job in cfg, whatever Cluster.Rank is; see
// allreduce.Config.Spare. It returns when the process has been given the rank of a lost one. The
// caller then completes cfg with the returned Group and the settings of that rank (Inputs,
// Cache, names of files), and calls Run. Until then a spare does not know its rank, so JoinSpare
// only checks that Inputs is set.
func JoinSpare(ctx context.Context, cfg Config) (*allreduce.Group, error) {
	c, err := cfg.earlyConfig()
	if err != nil {
		return nil, err
	}
	c.Spare = true
	return allreduce.Join(ctx, c)
}

// JoinEarly joins the job in cfg before this rank has its inputs, and waits for the list of ranks
// that take part, which it returns (Cluster.Elastic). The inputs may depend on that list. The
// caller then completes cfg with the returned Group and the settings of the rank, and calls
// Run. JoinEarly only checks that Inputs is set. A *allreduce.RefusedError may mean that the job
// has finished; Run then does what is left to do.
func JoinEarly(ctx context.Context, cfg Config) (*allreduce.Group, []int, error) {
	c, err := cfg.earlyConfig()
	if err != nil {
		return nil, nil, err
	}
	g, err := allreduce.Join(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	live, err := g.Members(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, g.Close())
	}
	return g, live, nil
}

// earlyConfig returns the configuration with which a process joins that does not know its inputs
// yet.
func (cfg Config) earlyConfig() (c allreduce.Config, err error) {
	if cfg.Cluster.Join == nil {
		return c, errors.New("learn: Config.Cluster.Join is missing: set the job to join")
	}
	if err := cfg.Validate(); err != nil {
		return c, err
	}
	cfg = cfg.withDefaults()
	if cfg.Model.Initial != "" || cfg.Model.FeatureMask != "" {
		in, err := loadModel(&cfg, io.Discard) // its options are part of the digest
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
	_ = cfg.applyPrecedence()
	rule, err := cfg.updateRule()
	if err != nil {
		return c, err
	}
	return cfg.member(rule), nil
}
