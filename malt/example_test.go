// SPDX-License-Identifier: Apache-2.0

package malt_test

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/gvw-project/gvw/internal/spantree/server"
	"github.com/gvw-project/gvw/malt"
)

// serve runs a spanning-tree server on the loopback, as cmd/spanning_tree does.
func serve() (address string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s, err := server.NewServer(server.ServerConfig{})
	if err != nil {
		return "", nil, err
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), l) }()
	return l.Addr().String(), func() { s.Close(); <-served }, nil
}

// Three ranks find the mean of their samples by gradient steps, each on its own sample. Here they are goroutines; in
// a real job each rank is a process.
func Example() {
	ctx := context.Background()
	address, stop, err := serve()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()
	samples := []float64{1, 2, 6}

	train := func(rank int) (float64, error) {
		g, err := malt.Join(ctx, malt.Config{
			Server: address, Job: malt.Job{UniqueID: 1}, Rank: rank, Total: len(samples), Listen: "127.0.0.1:0",
		})
		if err != nil {
			return 0, err
		}
		defer g.Close()
		v, err := malt.NewVector[float64](g, "mean", 1, malt.VectorConfig{ObjectConfig: malt.ObjectConfig{Graph: "all", Sync: "bsp"}})
		if err != nil {
			return 0, err
		}
		x := v.Values()
		for step := range 200 {
			x[0] -= (x[0] - samples[rank]) / float64(step+2) // of the squared distance
			if err := v.Scatter(ctx); err != nil {
				return 0, err
			}
			if _, err := v.Gather(ctx, malt.AverageIncludingSelf); err != nil {
				return 0, err
			}
		}
		return x[0], g.Done(ctx)
	}

	results := make([]float64, len(samples))
	errs := make([]error, len(samples))
	var ranks sync.WaitGroup
	for rank := range samples {
		ranks.Go(func() { results[rank], errs[rank] = train(rank) })
	}
	ranks.Wait()
	for rank := range samples {
		fmt.Printf("rank %d: %.2f, error %v\n", rank, results[rank], errs[rank])
	}
	// Output:
	// rank 0: 2.99, error <nil>
	// rank 1: 2.99, error <nil>
	// rank 2: 2.99, error <nil>
}

// One of three ranks fails. The others continue, and the next one takes over its share of the data.
func ExampleGroup_Shares() {
	ctx := context.Background()
	address, stop, err := serve()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()

	train := func(rank int) (report string) {
		g, err := malt.Join(ctx, malt.Config{
			Server: address, Job: malt.Job{UniqueID: 2}, Rank: rank, Total: 3, OnLoss: malt.Shrink, Listen: "127.0.0.1:0",
		})
		if err != nil {
			return err.Error()
		}
		defer g.Close()
		v, err := malt.NewVector[float32](g, "v", 4, malt.VectorConfig{ObjectConfig: malt.ObjectConfig{Sync: "bsp"}})
		if err != nil {
			return err.Error()
		}
		if err := g.Protect(func() error {
			for round := 0; g.Epoch() == 1 || round < 10; round++ {
				if rank == 1 && round == 5 {
					examples := 0
					v.Values()[0] = float32(100 / examples)
				}
				if err := v.Scatter(ctx); err != nil {
					return err
				}
				if _, err := v.Gather(ctx, malt.AverageIncludingSelf); err != nil {
					return err
				}
			}
			return g.Done(ctx)
		}); err != nil {
			return err.Error()
		}
		return fmt.Sprintf("rank %d: ranks %v, shares %v", rank, g.Members(), g.Shares())
	}

	reports := make([]string, 3)
	var ranks sync.WaitGroup
	for rank := range reports {
		ranks.Go(func() { reports[rank] = train(rank) })
	}
	ranks.Wait()
	for _, r := range reports {
		fmt.Println(r)
	}
	// Output:
	// rank 0: ranks [0 2], shares [0]
	// malt: rank 1: the learner has failed: panic: runtime error: integer divide by zero; correct the learner or its input, and start the rank again
	// rank 2: ranks [0 2], shares [1 2]
}
