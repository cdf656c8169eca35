// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/sampled"
)

var (
	ctx        = context.Background()
	tcpNetwork = transport.TCP
)

// contribution is what rank has in a test: normal numbers whose sum depends on the
// order of additions.
func contribution(rank, n int) []float32 {
	rng := rand.New(rand.NewPCG(uint64(rank), 11))
	v := make([]float32, n)
	for i := range min(n, 5000) {
		v[i] = float32(rng.NormFloat64() * math.Exp2(float64(rng.IntN(20))))
	}
	for i := 5000; i < n; i++ { // a long vector is made of the first numbers, scaled
		v[i] = v[i-5000] * 1.25
		if v[i] > 1e12 || v[i] < -1e12 {
			v[i] = 1
		}
	}
	return v
}

// evaluate is what an all-reduce of spec must give, by the sums that package schedule
// promises: value is the contribution of a rank, join the operation.
func evaluate[T any](spec schedule.Spec, value func(rank int) []T, join func(a, b T) T) []T {
	ranks := make([][]T, spec.Size)
	for r := range ranks {
		ranks[r] = value(r)
	}
	if spec.Size == 1 {
		return ranks[0]
	}
	sum := make([]T, len(ranks[0]))
	for _, s := range spec.Sums() {
		for i := s.Lo / spec.Elem; i < s.Hi/spec.Elem; i++ {
			var stack []T
			for _, x := range s.Expr {
				if x != schedule.Join {
					stack = append(stack, ranks[x][i])
					continue
				}
				top := len(stack) - 1
				stack[top-1] = join(stack[top-1], stack[top])
				stack = stack[:top]
			}
			sum[i] = stack[0]
		}
	}
	return sum
}

// sumOfAll is the sum of the contributions, in the order of a schedule.
func sumOfAll(name schedule.Name, ranks, n int) []float32 {
	spec := schedule.Spec{Schedule: name, Size: ranks, Bytes: 4 * n, Elem: 4}
	return evaluate(spec, func(r int) []float32 { return contribution(r, n) }, func(a, b float32) float32 { return a + b })
}

// checkCollectives runs every kind of collective and checks the results on all
// ranks.
func checkCollectives(t *testing.T, j *testJob, elements int) {
	t.Helper()
	n := j.total
	want := sumOfAll(j.cfg.Schedule, n, elements)
	j.each(func(rank int) error {
		g := j.groups[rank]
		if g.Rank() != rank || g.Size() != n || g.Stream() {
			return fmt.Errorf("got rank %d of %d, stream %v", g.Rank(), g.Size(), g.Stream())
		}
		own := contribution(rank, elements)
		v := slices.Clone(own)
		if err := g.AllReduce(ctx, Vec(v).Named("gradient"), Sum); err != nil {
			return err
		}
		if !sameBits(v, want) {
			return fmt.Errorf("the sum differs from that in the order of the schedule")
		}
		into := make([]float32, elements)
		if err := g.AllReduceInto(ctx, Vec(into), Vec(own), Sum); err != nil {
			return err
		}
		if !sameBits(into, want) {
			return fmt.Errorf("AllReduceInto: the sum differs")
		}
		if !sameBits(own, contribution(rank, elements)) {
			return fmt.Errorf("AllReduceInto has changed the contribution")
		}
		for root := range n {
			b := contribution(rank, elements)
			if err := g.Broadcast(ctx, Vec(b), root); err != nil {
				return err
			}
			if !sameBits(b, contribution(root, elements)) {
				return fmt.Errorf("broadcast from rank %d: other bits", root)
			}
		}
		ints := []int64{int64(rank), -int64(rank)}
		if err := g.AllReduce(ctx, Vec(ints), Max); err != nil {
			return err
		}
		if d := cmp.Diff([]int64{int64(n - 1), 0}, ints); d != "" {
			return fmt.Errorf("max: %s", d)
		}
		if err := g.AllReduce(ctx, Vec(ints[:0]), Sum); err != nil {
			return fmt.Errorf("nothing at all: %w", err)
		}
		var records [][]byte
		for round := range 3 {
			var err error
			if records, err = g.AllGatherV(ctx, records, record(rank, round)); err != nil {
				return err
			}
			for r, got := range records {
				if d := cmp.Diff(string(record(r, round)), string(got)); d != "" {
					return fmt.Errorf("record of rank %d: %s", r, d)
				}
			}
		}
		x, err := g.AccumulateScalar(ctx, "loss", 1.5)
		if err != nil {
			return err
		}
		if x != 1.5*float32(n) {
			return fmt.Errorf("scalar: got %v, want %v", x, 1.5*float32(n))
		}
		return g.Barrier(ctx)
	})
}

// record is a record of some length, in some rounds none.
func record(rank, round int) []byte {
	return slices.Repeat([]byte{byte(rank), byte(round)}, (rank*37+round*101)%173)
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

func TestCollectivesInMemory(t *testing.T) {
	var sizes []int
	for n := 1; n <= 16; n++ {
		sizes = append(sizes, n)
	}
	for _, n := range sampled.Short(t, sizes, 0, 3) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			inBubble(t, n, Config{Chunk: 1 << 10}, func(t *testing.T, j *testJob, _ *mem.Network) {
				checkCollectives(t, j, 1000)
			})
		})
	}
}

func TestCollectivesOverLoopback(t *testing.T) {
	for _, n := range sampled.Race(t, []int{1, 2, 3, 5, 8}, 1, 2) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			// Long enough that sockets fill up.
			checkCollectives(t, newTCPJob(t, n, Config{Chunk: 64 << 10}), 150_000)
		})
	}
}

// TestSameBits checks that the result does not depend on the transport, the size of chunks, the
// number of processors, or the order in which ranks enter.
func TestSameBits(t *testing.T) {
	const n, elements = 7, 5000
	want := sumOfAll(schedule.Auto, n, elements)
	check := func(t *testing.T, j *testJob) {
		t.Helper()
		j.ready()
		for range 5 {
			order := rand.Perm(n)
			gates := make([]chan struct{}, n+1)
			for i := range gates {
				gates[i] = make(chan struct{})
			}
			close(gates[0])
			j.each(func(rank int) error {
				<-gates[order[rank]] // one after the other, in any order
				close(gates[order[rank]+1])
				v := contribution(rank, elements)
				if err := j.groups[rank].AllReduce(ctx, Vec(v), Sum); err != nil {
					return err
				}
				if !sameBits(v, want) {
					return fmt.Errorf("other bits")
				}
				return nil
			})
		}
	}
	for _, chunk := range []int{64, 4096, 0} {
		t.Run(fmt.Sprintf("memory, chunk %d", chunk), func(t *testing.T) {
			inBubble(t, n, Config{Chunk: chunk}, func(t *testing.T, j *testJob, _ *mem.Network) { check(t, j) })
		})
		t.Run(fmt.Sprintf("loopback, chunk %d, no checksums", chunk), func(t *testing.T) {
			check(t, newTCPJob(t, n, Config{Chunk: chunk, NoChecksum: true}))
		})
	}
	t.Run("one processor", func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		check(t, newTCPJob(t, n, Config{Chunk: 512}))
	})
}

func TestLocal(t *testing.T) {
	g := Local()
	src, dst := []float32{1, 2, 3}, make([]float32, 3)
	if err := g.AllReduceInto(ctx, Vec(dst), Vec(src), Sum); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(src, dst); d != "" {
		t.Error(d)
	}
	records, err := g.AllGatherV(ctx, nil, []byte("me"))
	if err != nil || len(records) != 1 || string(records[0]) != "me" {
		t.Errorf("got %q, %v", records, err)
	}
	if err := g.Broadcast(ctx, Vec(dst), 0); err != nil {
		t.Error(err)
	}
	if err := g.Barrier(ctx); err != nil {
		t.Error(err)
	}
	if x, err := g.AccumulateScalar(ctx, "loss", 2.5); x != 2.5 || err != nil {
		t.Errorf("got %v, %v", x, err)
	}
	delivered := ""
	err = g.Finish(ctx, [32]byte{}, []string{"model"}, func(_ context.Context, file string) ([32]byte, error) {
		delivered += file
		return [32]byte{}, nil
	})
	if delivered != "model" || err != nil {
		t.Errorf("delivered %q, %v", delivered, err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if err := g.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if err := g.Barrier(ctx); err != ErrClosed {
		t.Errorf("after Close: got %v, want ErrClosed", err)
	}
}
