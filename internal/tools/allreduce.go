// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/pipe"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// AllReduce runs gvw allreduce.
func AllReduce(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	if !s.Has("op") {
		return cli.Usagef("gvw allreduce: --op is missing: one of %s", strings.Join(pipe.Ops, ", "))
	}
	if err := errors.Join(joinflags.Check(s)...); err != nil {
		return err
	}
	return s.Dispatch(ctx, func(c *cli.Context) error { return reduce(p, c) })
}

// reduce joins the job and reduces stdin to stdout.
func reduce(p *cli.Process, c *cli.Context) (err error) {
	ctx := c.Context
	// The types of elements are checked here, before the job is joined: a rank that joins and then
	// fails would end the job of all.
	cfg := pipe.Config{Op: c.String("op"), Type: c.String("type"), Frames: c.Bool("frames")}
	if err := cfg.Validate(); err != nil {
		return cli.Usagef("%s", strings.ReplaceAll(err.Error(), "pipe: Type:", "--type:"))
	}
	g, err := joinGroup(p, c, fmt.Sprintf("allreduce --op %s --type %s --frames=%v", cfg.Op, cfg.Type, cfg.Frames))
	if err != nil {
		return err
	}
	defer func() {
		// The cause of an end is more useful than the error of closing what it has broken.
		if cerr := g.Close(); err == nil {
			err = cerr
		}
	}()
	// There is no shard: the vectors on stdin have no identity by which the server could compare
	// two attempts of a rank.
	if err := g.Ready(ctx, protocol.Shard{}); err != nil {
		return err
	}
	digest, err := pipe.Run(ctx, g, cfg, p.Stdin, p.Stdout)
	if err != nil {
		// The other ranks must get the cause also after an interrupt, which has ended ctx.
		g.Fail(context.WithoutCancel(ctx), err)
		return err
	}
	return g.Finish(ctx, digest, nil, nil)
}

// joinGroup joins the job that the options name, or returns a group of one rank. options is a
// text that must be equal on all ranks: the server refuses a rank with another one.
func joinGroup(p *cli.Process, c *cli.Context, options string) (*allreduce.Group, error) {
	at, isRank, err := joinflags.Place(p, c)
	if err != nil {
		return nil, err
	}
	// Faults are armed before the first connection, so that a fault can hit the joining itself.
	if err := joinflags.ArmFaults(p, at, c.Uint64("generation"), isRank && c.String("shm") != "off", false); err != nil {
		return nil, err
	}
	if !isRank {
		return allreduce.Local(), nil
	}
	cfg, err := joinflags.Config(c, at)
	if err != nil {
		return nil, err
	}
	if err := joinflags.Guard(p, c, cfg); err != nil {
		return nil, err
	}
	joinflags.TakeServerLog(p, c, cfg)
	cfg.Options, cfg.Log = options, p.Logger(cli.LogLevel(c.Bool("quiet"), ""), true)
	return allreduce.Join(c.Context, *cfg)
}
