// SPDX-License-Identifier: Apache-2.0

//go:build !race

package malt

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"
)

// joined returns two ranks of one job over the loopback, with a vector each, whose updates are written or not.
func joined(t testing.TB, cfg Config, length int, c VectorConfig) (v [2]*Vector[float32]) {
	t.Helper()
	j := newLoopback(t, 2, cfg)
	f := fabric{written: !cfg.NoSharedMemory}
	var mu sync.Mutex
	j.must(func(g *Group) error {
		w, err := NewVector[float32](g, "v", length, c)
		if err != nil {
			return err
		}
		mu.Lock()
		v[g.Rank()] = w
		mu.Unlock()
		return f.settle(context.Background(), g, w)
	})
	return v
}

// TestGatherAllocatesNothing counts a scatter of one rank and the gather of another one, too. The race detector allocates.
func TestGatherAllocatesNothing(t *testing.T) {
	ctx := context.Background()
	for _, network := range []bool{false, true} {
		v := joined(t, Config{NoSharedMemory: network, Heartbeat: time.Minute, LostAfter: 10 * time.Minute}, 5000, VectorConfig{})
		indices, values := []uint32{1, 77}, []float32{1, 2}
		merged := 0
		run := func() {
			err := v[0].Scatter(ctx)
			if err == nil {
				err = v[0].ScatterSparse(ctx, indices, values)
			}
			n, gerr := v[1].Gather(ctx, Average)
			merged += n
			if err == nil && gerr == nil {
				err = v[0].Scatter(ctx)
				n, gerr = v[1].AtomicGather(ctx, Average)
				merged += n
			}
			if err = errors.Join(err, gerr); err != nil {
				t.Fatal(err)
			}
			runtime.Gosched()
		}
		for i := 0; i < 50 || merged < 10; i++ { // queues and scratch memory get their sizes
			run()
		}
		if n := testing.AllocsPerRun(200, run); n > 0 {
			t.Errorf("network %v: got %v allocations, want 0", network, n)
		}
	}
}
