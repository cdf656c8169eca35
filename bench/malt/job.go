// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/gvw-project/gvw/internal/spantree/server"
	"github.com/gvw-project/gvw/malt"
)

// job runs work on all ranks of a job of its own.
func job(ctx context.Context, total int, cfg malt.Config, work func(g *malt.Group) error) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s, err := server.NewServer(server.ServerConfig{})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	defer func() { stop(); s.Close(); <-served }()
	cfg.Server, cfg.Job, cfg.Total, cfg.Listen = l.Addr().String(), malt.Job{UniqueID: 1}, total, "127.0.0.1:0"

	errs := make([]error, total)
	var ranks sync.WaitGroup
	for rank := range total {
		ranks.Go(func() {
			c := cfg
			c.Rank = rank
			g, err := malt.Join(ctx, c)
			if err != nil {
				errs[rank] = err
				return
			}
			defer g.Close()
			if err = work(g); err == nil {
				err = g.Done(ctx)
			}
			errs[rank] = err
		})
	}
	ranks.Wait()
	return errors.Join(errs...)
}
