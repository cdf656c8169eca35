// SPDX-License-Identifier: Apache-2.0

// Skips is a program with a fault: its rank 1 leaves out a collective.
//
//	gvw run -n 3 -- skips
//
// All ranks reduce three vectors a step. In the third step rank 1 leaves out the second one.
package main

import (
	"context"
	"log"
	"os"

	"github.com/gvw-project/gvw/allreduce"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background()); err != nil {
		log.Fatalf("skips: %v", err)
	}
}

func run(ctx context.Context) error {
	cfg, err := allreduce.ConfigFromEnv(os.LookupEnv)
	if err != nil {
		return err
	}
	g, err := allreduce.Join(ctx, cfg)
	if err != nil {
		return err
	}
	defer g.Close()
	if err := g.Ready(ctx, allreduce.Shard{}); err != nil {
		return err
	}
	if err := train(ctx, g); err != nil {
		g.Fail(ctx, err)
		return err
	}
	return g.Done(ctx)
}

func train(ctx context.Context, g *allreduce.Group) error {
	v := make([]float32, 100)
	for step := range 5 {
		for _, name := range []string{"gradient", "weights", "losses"} {
			if g.Rank() == 1 && step == 2 && name == "weights" {
				continue
			}
			if err := g.AllReduce(ctx, allreduce.Vec(v).Named(name), allreduce.Sum); err != nil {
				return err
			}
		}
	}
	return nil
}
