// SPDX-License-Identifier: Apache-2.0

package malt_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/gvw-project/gvw/malt"
	"github.com/gvw-project/gvw/malt/graph"
)

// job runs work on each rank of a job of its own, as goroutines, and prints what the ranks return, by rank.
func job(ranks int, work func(g *malt.Group) (string, error)) {
	address, stop, err := serve()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()
	results := make([]string, ranks)
	var all sync.WaitGroup
	for rank := range ranks {
		all.Go(func() {
			g, err := malt.Join(context.Background(), malt.Config{
				Server: address, Job: malt.Job{UniqueID: 3}, Rank: rank, Total: ranks, Listen: "127.0.0.1:0",
			})
			if err != nil {
				results[rank] = err.Error()
				return
			}
			defer g.Close()
			result, err := work(g)
			if err == nil {
				err = g.Done(context.Background())
			}
			if err != nil {
				result = err.Error()
			}
			results[rank] = result
		})
	}
	all.Wait()
	for rank, r := range results {
		fmt.Printf("rank %d: %s\n", rank, r)
	}
}

// synchronous configures a vector whose gathers do not depend on timing.
var synchronous = malt.VectorConfig{ObjectConfig: malt.ObjectConfig{Sync: "bsp"}}

// Two ranks write the entries that they have changed into the vectors of each other, as for matrix factorisation.
func ExampleVector_ScatterSparse() {
	ctx := context.Background()
	job(2, func(g *malt.Group) (string, error) {
		v, err := malt.NewVector[float32](g, "factors", 4, synchronous)
		if err != nil {
			return "", err
		}
		index := uint32(2 * g.Rank())
		v.Values()[index] = float32(g.Rank() + 1)
		if err := v.ScatterSparse(ctx, []uint32{index}, v.Values()[index:index+1]); err != nil {
			return "", err
		}
		_, err = v.Gather(ctx, malt.Replace)
		return fmt.Sprint(v.Values()), err
	})
	// Output:
	// rank 0: [1 0 2 0]
	// rank 1: [1 0 2 0]
}

// Gradients are added up: each rank sends its own, and keeps the sum.
func ExampleVector_ScatterValues() {
	ctx := context.Background()
	job(3, func(g *malt.Group) (string, error) {
		v, err := malt.NewVector[float64](g, "gradients", 2, synchronous)
		if err != nil {
			return "", err
		}
		own := []float64{1, float64(g.Rank())}
		copy(v.Values(), own)
		if err := v.ScatterValues(ctx, own); err != nil {
			return "", err
		}
		_, err = v.Gather(ctx, malt.Sum)
		return fmt.Sprint(v.Values()), err
	})
	// Output:
	// rank 0: [3 3]
	// rank 1: [3 3]
	// rank 2: [3 3]
}

// Each rank has weights of the form scale × values. The mean of 2×[1] and 4×[2] is 5, which is 2×[2.5] on rank 0
// and 4×[1.25] on rank 1.
func ExampleRescaledAverage() {
	ctx := context.Background()
	job(2, func(g *malt.Group) (string, error) {
		v, err := malt.NewVector[float32](g, "weights", 1, synchronous)
		if err != nil {
			return "", err
		}
		scale := float64(2 * (g.Rank() + 1))
		v.Values()[0] = float32(g.Rank() + 1)
		if err := v.ScatterScaled(ctx, scale); err != nil {
			return "", err
		}
		_, err = v.Gather(ctx, malt.RescaledAverage[float32](func() float64 { return scale }))
		return fmt.Sprintf("%g × %v", scale, v.Values()), err
	})
	// Output:
	// rank 0: 2 × [2.5]
	// rank 1: 4 × [1.25]
}

// In a ring of three ranks with the weights of the graph, models become the mean of all.
func ExampleWeightedAverage() {
	ctx := context.Background()
	ring, err := graph.New("ring", 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	job(3, func(g *malt.Group) (string, error) {
		c := synchronous
		c.Custom = ring
		v, err := malt.NewVector[float64](g, "weights", 1, c)
		if err != nil {
			return "", err
		}
		v.Values()[0] = float64(3 * g.Rank())
		for range 40 {
			if err := v.Scatter(ctx); err != nil {
				return "", err
			}
			if _, err := v.Gather(ctx, malt.WeightedAverage); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("%.3f", v.Values()), nil
	})
	// Output:
	// rank 0: [3.000]
	// rank 1: [3.000]
	// rank 2: [3.000]
}

// A layer of a net is a matrix: each row has the weights of one unit.
func ExampleVector_Row() {
	job(1, func(g *malt.Group) (string, error) {
		c := synchronous
		c.Shape = []int{2, 3}
		v, err := malt.NewVector[float32](g, "layer", 6, c)
		if err != nil {
			return "", err
		}
		copy(v.Row(1), []float32{1, 2, 3})
		return fmt.Sprint(v.Shape(), v.Values()), nil
	})
	// Output:
	// rank 0: [2 3] [0 0 0 1 2 3]
}

// A merger of the program's own: the largest value of all ranks. AtomicGather gives it whole updates.
func ExampleVector_AtomicGather() {
	ctx := context.Background()
	job(3, func(g *malt.Group) (string, error) {
		v, err := malt.NewVector[float32](g, "largest", 1, synchronous)
		if err != nil {
			return "", err
		}
		v.Values()[0] = float32(g.Rank() * g.Rank())
		if err := v.Scatter(ctx); err != nil {
			return "", err
		}
		_, err = v.AtomicGather(ctx, func(v *malt.Vector[float32], in []malt.Incoming[float32]) {
			for _, u := range in {
				v.Values()[0] = max(v.Values()[0], u.Values[0])
			}
		})
		return fmt.Sprint(v.Values()), err
	})
	// Output:
	// rank 0: [4]
	// rank 1: [4]
	// rank 2: [4]
}

// A segment carries bytes in an encoding of the program's own.
func ExampleSegment_Gather() {
	ctx := context.Background()
	job(2, func(g *malt.Group) (string, error) {
		s, err := malt.NewSegment(g, "greetings", 64, malt.SegmentConfig{ObjectConfig: malt.ObjectConfig{Sync: "bsp"}})
		if err != nil {
			return "", err
		}
		if err := s.Scatter(ctx, fmt.Appendf(nil, "I am rank %d", g.Rank())); err != nil {
			return "", err
		}
		var got []string
		_, err = s.Gather(ctx, func(in malt.IncomingBytes) { got = append(got, string(in.Data)) })
		return fmt.Sprint(got, ", received ", s.Stats().Received), err
	})
	// Output:
	// rank 0: [I am rank 1], received 1
	// rank 1: [I am rank 0], received 1
}

// A barrier separates the initialisation of all ranks from the first step of any.
func ExampleGroup_Barrier() {
	ctx := context.Background()
	var initialised sync.Map
	job(3, func(g *malt.Group) (string, error) {
		initialised.Store(g.Rank(), true)
		if err := g.Barrier(ctx); err != nil {
			return "", err
		}
		n := 0
		initialised.Range(func(any, any) bool { n++; return true })
		return fmt.Sprintf("%d of %d ranks are initialised", n, len(g.Members())), nil
	})
	// Output:
	// rank 0: 3 of 3 ranks are initialised
	// rank 1: 3 of 3 ranks are initialised
	// rank 2: 3 of 3 ranks are initialised
}

// A program reports its progress, which gvw jobs, gvw top and the page show.
func ExampleGroup_Report() {
	job(2, func(g *malt.Group) (string, error) {
		loss := 1.0
		for pass := range 3 {
			loss /= 2 // of a real pass
			g.Report(malt.Progress{Pass: uint32(pass + 1), Step: "pass", Examples: uint64(1000 * (pass + 1)), Loss: loss})
		}
		return fmt.Sprintf("loss %v", loss), nil
	})
	// Output:
	// rank 0: loss 0.125
	// rank 1: loss 0.125
}

// A program that gvw run has started finds its job in the environment.
func ExampleConfigFromEnv() {
	environment := map[string]string{
		"GVW_SPAN_SERVER": "gateway:26543", "GVW_UNIQUE_ID": "7", "GVW_TOTAL": "4", "GVW_NODE": "2",
	}
	cfg, err := malt.ConfigFromEnv(func(name string) (string, bool) { value, ok := environment[name]; return value, ok })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("rank %d of %d of job %v at %s\n", cfg.Rank, cfg.Total, cfg.Job, cfg.Server)
	// Output:
	// rank 2 of 4 of job 7 at gateway:26543
}

// CheckSync refuses a synchrony before a job begins.
func ExampleCheckSync() {
	fmt.Println(malt.CheckSync("ssp:4"))
	fmt.Println(malt.CheckSync("sometimes"))
	// Output:
	// <nil>
	// got synchrony "sometimes", want asp, bsp, ssp:S or notify_ack
}
