// SPDX-License-Identifier: Apache-2.0

// The race detector allocates.
//go:build !race

package allreduce

import (
	"fmt"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/allreduce/internal/engine"
)

// TestSteadyStateAllocatesNothing: after the first calls of a size, no collective
// allocates, on any rank.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	const n = 4
	cfg := Config{Chunk: 64 << 10, Heartbeat: time.Minute, LostAfter: 10 * time.Minute} // which allocate
	t.Run("TCP", func(t *testing.T) { allocatesNothing(t, newTCPJob(t, n, cfg)) })
	tagged := cfg
	tagged.Credentials = &auth.Credentials{Secret: authtest.Secret(t, "a")}
	t.Run("TCP with tags", func(t *testing.T) { allocatesNothing(t, newTCPJob(t, n, tagged)) })
	t.Run("shared memory", func(t *testing.T) { allocatesNothing(t, newLoopbackJob(t, n, cfg)) }) // where there is
}

func allocatesNothing(t *testing.T, j *testJob) {
	const elements, runs, tries = 100_000, 4, 15
	n := j.total
	j.ready()
	type rankState struct {
		small, large, into []float32
		ints               []int64
		records            [][]byte
		own                []byte
		weights            []float32
	}
	states := make([]rankState, n)
	for i := range states {
		states[i] = rankState{
			small: make([]float32, 1), large: make([]float32, elements), into: make([]float32, elements),
			ints: make([]int64, 10), own: make([]byte, 128), weights: make([]float32, 4*1000),
		}
	}
	for _, c := range []struct {
		name string
		call func(g *Group, s *rankState) error
	}{
		{"all-reduce of 4 B", func(g *Group, s *rankState) error { return g.AllReduce(ctx, Vec(s.small).Named("loss"), Sum) }},
		{"all-reduce of 400 KB", func(g *Group, s *rankState) error { return g.AllReduce(ctx, Vec(s.large), Sum) }},
		{"all-reduce into", func(g *Group, s *rankState) error {
			return g.AllReduceInto(ctx, Vec(s.into), Vec(s.large), Sum)
		}},
		{"maximum of integers", func(g *Group, s *rankState) error { return g.AllReduce(ctx, Vec(s.ints), Max) }},
		{"broadcast", func(g *Group, s *rankState) error { return g.Broadcast(ctx, Vec(s.large), 1) }},
		{"reduce", func(g *Group, s *rankState) error { return g.Reduce(ctx, Vec(s.large), Sum, 2) }},
		{"reduce-scatter", func(g *Group, s *rankState) error { return g.ReduceScatter(ctx, Vec(s.large), Sum) }},
		{"all-gather of segments", func(g *Group, s *rankState) error { return g.AllGather(ctx, Vec(s.large)) }},
		{"gather", func(g *Group, s *rankState) error { return g.Gather(ctx, Vec(s.large), 3) }},
		{"scatter", func(g *Group, s *rankState) error { return g.Scatter(ctx, Vec(s.large), 3) }},
		{"send and receive", func(g *Group, s *rankState) error {
			return g.SendRecv(ctx, Vec(s.into), (g.Rank()+3)%4, Vec(s.large), (g.Rank()+1)%4)
		}},
		{"barrier", func(g *Group, _ *rankState) error { return g.Barrier(ctx) }},
		{"all-gather", func(g *Group, s *rankState) (err error) {
			s.records, err = g.AllGatherV(ctx, s.records, s.own)
			return err
		}},
		{"weighted average", func(g *Group, s *rankState) error { return g.AccumulateWeightedAvg(ctx, s.weights, s.weights, 4, 2, 0) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			// AllocsPerRun counts what the whole process allocates: all ranks. It
			// calls runs+1 times.
			done := make(chan error, n)
			for rank := 1; rank < n; rank++ {
				go func() {
					for range 20 + tries*(runs+1) {
						if err := c.call(j.groups[rank], &states[rank]); err != nil {
							done <- err
							return
						}
					}
					done <- nil
				}()
			}
			call := func() {
				if err := c.call(j.groups[0], &states[0]); err != nil {
					t.Error(err)
				}
			}
			for range 20 {
				call()
			}
			// On a very busy machine ranks wait for seconds and send progress frames; one
			// try of several is enough to show that calls do not allocate.
			got := testing.AllocsPerRun(runs, call)
			for range tries - 1 {
				got = min(got, testing.AllocsPerRun(runs, call))
			}
			if got > 0 {
				t.Errorf("got %v allocations per call, want 0", got)
			}
			for range n - 1 {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func BenchmarkAllReduce(b *testing.B) {
	for _, n := range []int{2, 4} {
		for _, size := range []int{4, 64 << 10, 1 << 20, 16 << 20} {
			b.Run(fmt.Sprintf("N=%d/%s", n, engine.ByteCount(int64(size))), func(b *testing.B) {
				j := newTCPJob(b, n, Config{})
				benchmark(b, j, size)
			})
		}
	}
}

func BenchmarkAllReduceNoChecksum(b *testing.B) {
	for _, size := range []int{4, 16 << 20} {
		b.Run(engine.ByteCount(int64(size)), func(b *testing.B) {
			j := newTCPJob(b, 4, Config{NoChecksum: true})
			benchmark(b, j, size)
		})
	}
}

func BenchmarkChunk(b *testing.B) {
	for chunk := 32 << 10; chunk <= 1<<20; chunk *= 2 {
		b.Run(engine.ByteCount(int64(chunk)), func(b *testing.B) {
			j := newTCPJob(b, 4, Config{Chunk: chunk})
			benchmark(b, j, 16<<20)
		})
	}
}

// benchmark is b.N all-reduces of size bytes on all ranks of j, after a few more.
func benchmark(b *testing.B, j *testJob, size int) {
	j.ready()
	vs := make([][]float32, j.total)
	for i := range vs {
		vs[i] = make([]float32, size/4)
	}
	run := func(calls int) {
		j.each(func(rank int) error {
			for range calls {
				if err := j.groups[rank].AllReduce(ctx, Vec(vs[rank]), Sum); err != nil {
					return err
				}
			}
			return nil
		})
	}
	run(3)
	b.SetBytes(int64(size))
	b.ResetTimer()
	run(b.N)
	b.StopTimer()
}
