// SPDX-License-Identifier: Apache-2.0

package allreduce_test

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// serve runs a spanning-tree server on the loopback, as cmd/spanning_tree does, and
// returns its address.
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

// Four ranks add up their vectors. Here they are goroutines; in a real job each rank is
// a process, and its Config comes from ConfigFromEnv or from flags.
func Example() {
	ctx := context.Background()
	server, stop, err := serve()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()

	const total = 4
	rank := func(rank int) ([]float64, error) {
		g, err := allreduce.Join(ctx, allreduce.Config{
			Server: server, Job: allreduce.Job{UniqueID: 7}, Rank: rank, Total: total,
		})
		if err != nil {
			return nil, err
		}
		defer g.Close()
		v := []float64{1, float64(rank)}
		if err := g.AllReduce(ctx, allreduce.Vec(v).Named("moments"), allreduce.Sum); err != nil {
			return nil, err
		}
		return v, g.Done(ctx)
	}

	var sums [total][]float64
	var errs [total]error
	var ranks sync.WaitGroup
	for r := range total {
		ranks.Go(func() { sums[r], errs[r] = rank(r) })
	}
	ranks.Wait()
	for r := range total {
		fmt.Println("rank", r, "sums", sums[r], "error", errs[r])
	}
	// Output:
	// rank 0 sums [4 6] error <nil>
	// rank 1 sums [4 6] error <nil>
	// rank 2 sums [4 6] error <nil>
	// rank 3 sums [4 6] error <nil>
}
