// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"errors"
	"io"
	"os"

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
	errs := append(joinflags.Check(s), joinflags.CheckGraph(s, "graph"))
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
	place, isRank, err := joinflags.Place(p, c)
	if err != nil {
		return err
	}
	object := malt.ObjectConfig{Graph: c.String("graph"), Sync: c.String("sync"), Full: malt.Block}
	if isRank {
		object.Custom, err = joinflags.Graph("graph", object.Graph, place.Total, func(name string) (io.ReadCloser, error) { return os.Open(name) })
	}
	if err != nil {
		return err
	}
	if object.Custom != nil && !object.Custom.Uniform() && c.String("merge") != "weighted" {
		return cli.Usagef("--graph: the edges of %s have weights, which would be ignored: add --merge weighted, or leave the weights out", object.Graph)
	}
	g, _, err := joinflags.JoinShared(p, c, 0)
	if err != nil {
		return err
	}
	if g != nil {
		defer func() { err = errors.Join(err, g.Close()) }()
	}
	return pipe.Run(c.Context, g, pipe.Config{
		Vector: malt.VectorConfig{ObjectConfig: object, MaxDelay: int(c.Uint64("max_delay"))},
		Merge:  c.String("merge"), Type: c.String("type"), Frames: c.Bool("frames"),
	}, p.Stdin, p.Stdout)
}
