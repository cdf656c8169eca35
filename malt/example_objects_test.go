// SPDX-License-Identifier: Apache-2.0

package malt_test

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/malt"
)

// In a ring of four ranks each rank takes the mean of its two neighbours, without its own value.
func ExampleAverage() {
	ctx := context.Background()
	job(4, func(g *malt.Group) (string, error) {
		c := synchronous
		c.Graph = "ring"
		v, err := malt.NewVector[float64](g, "weights", 1, c)
		if err != nil {
			return "", err
		}
		v.Values()[0] = float64(g.Rank())
		if err := v.Scatter(ctx); err != nil {
			return "", err
		}
		_, err = v.Gather(ctx, malt.Average)
		return fmt.Sprint(v.Values()), err
	})
	// Output:
	// rank 0: [2]
	// rank 1: [1]
	// rank 2: [2]
	// rank 3: [1]
}

// A rank counts its rounds, and the updates that it has sent and merged.
func ExampleVector_Stats() {
	ctx := context.Background()
	job(3, func(g *malt.Group) (string, error) {
		v, err := malt.NewVector[float32](g, "weights", 8, synchronous)
		if err != nil {
			return "", err
		}
		for v.Iteration() < 5 {
			if err := v.Scatter(ctx); err != nil {
				return "", err
			}
			if _, err := v.Gather(ctx, malt.AverageIncludingSelf); err != nil {
				return "", err
			}
		}
		s := v.Stats()
		return fmt.Sprintf("%d rounds, %d updates sent, %d merged, %d damaged", v.Iteration(), s.Sent, s.Merged, s.Damaged), nil
	})
	// Output:
	// rank 0: 5 rounds, 10 updates sent, 10 merged, 0 damaged
	// rank 1: 5 rounds, 10 updates sent, 10 merged, 0 damaged
	// rank 2: 5 rounds, 10 updates sent, 10 merged, 0 damaged
}

// The counts of several vectors add up to those of a program.
func ExampleStats_Add() {
	layers := []malt.Stats{{Sent: 10, Merged: 9, Oldest: 3}, {Sent: 20, Merged: 20, Oldest: 1}}
	var sum malt.Stats
	for _, s := range layers {
		sum.Add(s)
	}
	fmt.Println(sum.Sent, "sent,", sum.Merged, "merged, the oldest", sum.Oldest, "rounds late")
	// Output:
	// 30 sent, 29 merged, the oldest 3 rounds late
}

// A barrier of a vector is one of its group: no rank passes it before all have initialised their values.
func ExampleVector_Barrier() {
	ctx := context.Background()
	job(2, func(g *malt.Group) (string, error) {
		v, err := malt.NewVector[float32](g, "weights", 2, malt.VectorConfig{}) // asp: no other call waits
		if err != nil {
			return "", err
		}
		v.Values()[g.Rank()] = 1
		if err := v.Scatter(ctx); err != nil {
			return "", err
		}
		err = v.Barrier(ctx)
		return fmt.Sprint(v.Values()), err
	})
	// Output:
	// rank 0: [1 0]
	// rank 1: [0 1]
}

// A name arrives whole, although a sender may overwrite its queue during the call.
func ExampleSegment_AtomicGather() {
	ctx := context.Background()
	job(2, func(g *malt.Group) (string, error) {
		s, err := malt.NewSegment(g, "names", 16, malt.SegmentConfig{ObjectConfig: malt.ObjectConfig{Sync: "bsp"}})
		if err != nil {
			return "", err
		}
		if err := s.Scatter(ctx, []byte([]string{"Ada", "Grace"}[g.Rank()])); err != nil {
			return "", err
		}
		var got string
		_, err = s.AtomicGather(ctx, func(in malt.IncomingBytes) { got = fmt.Sprintf("%s of rank %d", in.Data, in.Rank) })
		return fmt.Sprintf("round %d: %s", s.Iteration(), got), err
	})
	// Output:
	// rank 0: round 1: Grace of rank 1
	// rank 1: round 1: Ada of rank 0
}

// A rank counts the bytes that it exchanges with each other one, headers included.
func ExampleGroup_Traffic() {
	ctx := context.Background()
	job(2, func(g *malt.Group) (string, error) {
		v, err := malt.NewVector[float32](g, "weights", 1000, synchronous)
		if err != nil {
			return "", err
		}
		if err := v.Scatter(ctx); err != nil {
			return "", err
		}
		if _, err := v.Gather(ctx, malt.AverageIncludingSelf); err != nil {
			return "", err
		}
		received := uint64(0)
		for _, e := range g.Traffic() {
			received += e.Received
		}
		return fmt.Sprint("received at least 4,000 bytes: ", received >= 4000), nil
	})
	// Output:
	// rank 0: received at least 4,000 bytes: true
	// rank 1: received at least 4,000 bytes: true
}

// Another attempt of a lost rank begins with the values of a rank that trains, and does not initialise them.
func ExampleGroup_Inherits() {
	ctx := context.Background()
	address, stop, err := serve()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()
	join := func(rank int) (*malt.Group, *malt.Vector[float64], error) {
		g, err := malt.Join(ctx, malt.Config{
			Server: address, Job: malt.Job{UniqueID: 4}, Rank: rank, Total: 2, OnLoss: malt.Wait, Listen: "127.0.0.1:0",
		})
		if err != nil {
			return nil, nil, err
		}
		v, err := malt.NewVector[float64](g, "weights", 1, synchronous)
		if err == nil && !g.Inherits() {
			v.Values()[0] = 7
			if err = v.Scatter(ctx); err == nil {
				_, err = v.Gather(ctx, malt.AverageIncludingSelf)
			}
			if err == nil {
				err = v.Barrier(ctx) // both ranks have trained
			}
		}
		return g, v, err
	}
	other := make(chan error, 1)
	go func() {
		g, _, err := join(0)
		if err == nil {
			err = g.Done(ctx)
			g.Close()
		}
		other <- err
	}()
	for range 2 {
		g, v, err := join(1)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("inherits:", g.Inherits(), "values:", v.Values())
		if g.Inherits() {
			fmt.Println("done:", g.Done(ctx))
		}
		g.Close() // the first attempt ends here, without a call of Done: the rank is lost
	}
	fmt.Println("rank 0:", <-other)
	// Output:
	// inherits: false values: [7]
	// inherits: true values: [7]
	// done: <nil>
	// rank 0: <nil>
}
