// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/gvw-project/gvw/malt/graph"
)

// TestStorm trains with drawn graphs, synchronies and delays, and loses one or two ranks at drawn times. All
// survivors come to the end, with finite values between those of the start. GVW_STORM_SEEDS is the number of jobs.
func TestStorm(t *testing.T) {
	seeds := 40
	if s, err := strconv.Atoi(os.Getenv("GVW_STORM_SEEDS")); err == nil {
		seeds = s
	}
	if testing.Short() {
		seeds = min(seeds, 20)
	}
	for seed := range seeds {
		bubble(t, fmt.Sprint(seed), func(t *testing.T) { storm(t, uint64(seed)) })
	}
}

func storm(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 11))
	total := 2 + rng.IntN(6)
	c := ObjectConfig{
		Graph: graph.Names()[rng.IntN(len(graph.Names()))],
		Sync:  []string{"asp", "bsp", "ssp:0", "ssp:3", "notify_ack"}[rng.IntN(5)],
		Full:  Full(rng.IntN(2)),
	}
	dies := map[int]time.Duration{} // by rank
	for range 1 + rng.IntN(2) {
		if len(dies) < total-1 {
			dies[rng.IntN(total)] = time.Duration(rng.IntN(60)) * time.Millisecond
		}
	}
	pauses := make([]time.Duration, total)
	for rank := range pauses {
		pauses[rank] = time.Duration(rng.IntN(5)) * time.Millisecond
	}
	begun := time.Now()
	job := newCluster(t, total, Config{OnLoss: Shrink})
	job.must(func(g *Group) (err error) {
		defer func() {
			if err != nil {
				err = fmt.Errorf("%s, %s, %d ranks, lost %v: %w", c.Graph, c.Sync, total, dies, err)
			}
		}()
		ctx := context.Background()
		at, mortal := dies[g.Rank()]
		v, err := NewVector[float32](g, "v", 1000, VectorConfig{ObjectConfig: c})
		if err != nil {
			return err
		}
		for i := range v.Values() {
			v.Values()[i] = float32(g.Rank())
		}
		for round := range 40 {
			if mortal && time.Since(begun) > at {
				return g.Close()
			}
			time.Sleep(pauses[g.Rank()])
			if err := v.Scatter(ctx); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
			if _, err := v.Gather(ctx, AverageIncludingSelf); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		if least, most := slices.Min(v.Values()), slices.Max(v.Values()); least < 0 || most > float32(total-1) {
			return fmt.Errorf("values from %v to %v, want 0 to %d", least, most, total-1)
		}
		return g.Done(ctx)
	})
	if took := time.Since(begun); took > 10*time.Minute {
		t.Errorf("%s, %s, %d ranks, lost %v: took %v of virtual time", c.Graph, c.Sync, total, dies, took)
	}
}
