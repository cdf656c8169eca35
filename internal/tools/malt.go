// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"errors"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/malt"
	"github.com/gvw-project/gvw/malt/pipe"
)

// Malt runs gvw malt.
func Malt(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	errs := joinflags.Check(s)
	if s.Get("on_loss") == "wait" {
		errs = append(errs, cli.Usagef("--on_loss wait: no other program could continue from a vector of this one: use abort or shrink"))
	}
	if err := malt.CheckSync(s.Get("sync")); err != nil {
		errs = append(errs, cli.Usagef("--sync: %w", err))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return s.Dispatch(ctx, func(c *cli.Context) error { return exchange(p, c) })
}

// exchange exchanges the vectors of stdin with the other ranks.
func exchange(p *cli.Process, c *cli.Context) (err error) {
	g, err := joinShared(p, c)
	if err != nil {
		return err
	}
	if g != nil {
		defer func() { err = errors.Join(err, g.Close()) }()
	}
	object := malt.ObjectConfig{Graph: c.String("graph"), Sync: c.String("sync"), Full: malt.Block}
	return pipe.Run(c.Context, g, pipe.Config{
		Vector: malt.VectorConfig{ObjectConfig: object, MaxDelay: int(c.Uint64("max_delay"))},
		Merge:  c.String("merge"), Type: c.String("type"), Frames: c.Bool("frames"),
	}, p.Stdin, p.Stdout)
}

// joinShared joins the job that the options name, or returns nil.
func joinShared(p *cli.Process, c *cli.Context) (*malt.Group, error) {
	at, isRank, err := joinflags.Place(p, c)
	if err != nil {
		return nil, err
	}
	if err := joinflags.ArmFaults(p, at, c.Uint64("generation"), false, false); err != nil || !isRank {
		return nil, err
	}
	j, err := joinflags.Config(c, at)
	if err != nil {
		return nil, err
	}
	if err := joinflags.Guard(p, c, j); err != nil {
		return nil, err
	}
	return malt.Join(c.Context, malt.Config{
		Server: j.Server, Job: j.Job, Rank: j.Rank, Total: j.Total, OnLoss: j.OnLoss,
		Listen: j.Listen, Advertise: j.Advertise, Allow: j.Allow, Credentials: j.Credentials, Host: j.Host,
		DialTimeout: j.DialTimeout, StartTimeout: j.StartTimeout, Heartbeat: j.Heartbeat,
		LostAfter: j.LostAfter, ServerTimeout: j.ServerTimeout,
		Log: p.Logger(cli.LogLevel(c.Bool("quiet"), ""), true),
	})
}
