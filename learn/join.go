// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/optim/sgd"
)

// JoinSpare makes this process a spare of the job in cfg, whatever Cluster.Join.Rank is; see
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
// that take part, which it returns (Cluster.Join.Elastic). The inputs may depend on that list. The
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
	loaded, err := cfg.load(io.Discard) // options of the model and contents of the dictionaries are part of the digest
	if err != nil {
		return c, err
	}
	if err := loaded.close(); err != nil {
		return c, err
	}
	_ = cfg.applyPrecedence()
	rule, err := cfg.updateRule()
	if err != nil {
		return c, err
	}
	return cfg.member(rule), nil
}

// member returns the configuration with which this process joins its job.
func (c *Config) member(rule sgd.Config) allreduce.Config {
	m := *c.Cluster.Join
	m.Options = c.options(rule)
	m.Elastic = m.Elastic || m.OnLoss == allreduce.Open
	if m.Log == nil {
		m.Log = c.Diagnostics.Log
	}
	return m
}

// join makes this process a rank of its job. Without a job it uses a group of one rank.
func (r *runner) join(ctx context.Context) (err error) {
	j := r.job
	if r.cfg.Cluster.Join == nil {
		j.Group = allreduce.Local()
		j.Total = 1
		return nil
	}
	c := r.cfg.member(r.rule)
	j.Rank, j.Total = c.Rank, c.Total
	if keep := r.cfg.Cluster.RunDir; keep != nil {
		if err := keep.Begin(fmt.Sprintf("total=%d %s", c.Total, c.Options)); err != nil {
			return err
		}
	}
	if j.Group == nil { // otherwise JoinSpare or JoinEarly has joined
		j.Group, err = allreduce.Join(ctx, c)
	}
	j.Late = err == nil && j.Group.Excluded()
	return err
}

// admit returns an error if this rank must not take part in the job that has been wired.
func (r *runner) admit() error {
	if err := r.delivery().Over(); err != nil || !r.job.Group.Stream() {
		return err
	}
	return r.cfg.checkStream()
}

// checkStream refuses options that a job with vw workers cannot have. vw's sequence of calls is
// fixed, and a further call would block or corrupt it.
func (c *Config) checkStream() error {
	switch {
	case len(c.Metrics.Measures) > 0:
		return usage.New("Metrics.Measures", "a job with vw workers cannot exchange them, because vw's sequence of calls is fixed: measure the model afterwards, in a separate run")
	case len(c.Holdout.Valid) > 0:
		return usage.New("Holdout.Valid", "a job with vw workers cannot exchange its loss, because vw's sequence of calls is fixed: use the holdout options")
	}
	if c.LDA.Topics > 0 {
		return usage.New("LDA.Topics", "a job with vw workers cannot learn them: vw trains a model of its own on each rank")
	}
	if c.Average.on() {
		return usage.New("Average.Aggregate", "a job with vw workers cannot exchange parts of weights, because vw's sequence of calls is fixed: leave it out")
	}
	if c.Hybrid != nil {
		return usage.New("Hybrid", "a job with vw workers cannot run both phases in one process, because vw cannot: "+
			"run SGD first, and then learn.Config.Batch.BFGS from its model, as with vw")
	}
	if c.batches() && !c.TestOnly && c.Batch.second() {
		return usage.New("Batch.Solver", "a job with vw workers cannot exchange the vectors of %s, because vw's sequence of calls is fixed: leave it out", c.Batch.Solver)
	}
	if c.regularizes() && c.Batch.BFGS {
		return usage.New("Reg.Output", "a job with vw workers cannot write it: vw sums other values at the end of each pass; run the job with gvw workers only")
	}
	return nil
}
