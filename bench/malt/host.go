// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/gvw-project/gvw/malt"
)

const (
	peers = 3
	depth = 2 // of receive queues, and of the copies of the peer
)

// vector returns a vector of the first rank's, which sends to the others.
func vector(g *malt.Group, length int, full malt.Full) (*malt.Vector[float32], error) {
	return malt.NewVector[float32](g, "v", length, malt.VectorConfig{ObjectConfig: malt.ObjectConfig{Graph: "star", Depth: depth, Full: full}})
}

// within measures scatters to three ranks of this host, beside copies of the same bytes.
func within(ctx context.Context, size, rounds int) error {
	return job(ctx, 1+peers, malt.Config{}, func(g *malt.Group) error {
		v, err := vector(g, size/4, malt.DropOldest)
		if err != nil || g.Rank() != 0 {
			return err
		}
		for v.Stats().Written < peers*depth { // then all memory has been used once
			if err := v.Scatter(ctx); err != nil {
				return err
			}
			runtime.Gosched()
		}
		src := make([]byte, size)
		dst := make([][]byte, peers*depth)
		for i := range dst {
			dst[i] = make([]byte, size)
			copy(dst[i], src)
		}
		var ours, theirs rates
		for round := range rounds {
			begun := time.Now()
			if err := v.Scatter(ctx); err != nil {
				return err
			}
			ours.add(peers*size, time.Since(begun))
			begun = time.Now()
			for i := range peers {
				copy(dst[peers*(round%depth)+i], src)
			}
			theirs.add(peers*size, time.Since(begun))
		}
		row(fmt.Sprintf("scatter of %d MiB to %d ranks of the host", size>>20, peers), ours, theirs, "memcpy")
		return nil
	})
}

// sparse measures the time that a scatter of 1,000 entries to three ranks takes of the learner's.
func sparse(ctx context.Context, network bool, rounds int) error {
	const entries, calls = 1000, 2000
	return job(ctx, 1+peers, malt.Config{NoSharedMemory: network}, func(g *malt.Group) error {
		v, err := vector(g, 1<<20, malt.DropOldest)
		if err != nil || g.Rank() != 0 {
			return err
		}
		indices, values := make([]uint32, entries), make([]float32, entries)
		for i := range indices {
			indices[i] = uint32(i * 1000)
		}
		for v.Stats().Written < peers*depth && !network || v.Stats().Sent == 0 {
			if err := v.ScatterSparse(ctx, indices, values); err != nil {
				return err
			}
			runtime.Gosched()
		}
		var best time.Duration
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rounds {
			begun := time.Now()
			for range calls {
				if err := v.ScatterSparse(ctx, indices, values); err != nil {
					return err
				}
			}
			if took := time.Since(begun) / calls; best == 0 || took < best {
				best = took
			}
		}
		runtime.ReadMemStats(&after)
		way := "shared memory"
		if network {
			way = "TCP"
		}
		fmt.Printf("| sparse scatter of 1,000 entries to %d ranks, %s | %.1f µs, %.2f allocations | | |\n", peers, way,
			float64(best.Nanoseconds())/1e3, float64(after.Mallocs-before.Mallocs)/float64(rounds*calls))
		return nil
	})
}
