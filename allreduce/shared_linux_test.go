// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/internal/shm"
)

// newSharedJob is a job whose ranks share memory.
func newSharedJob(t testing.TB, total int, cfg Config) *testJob {
	t.Helper()
	j := newLoopbackJob(t, total, cfg)
	j.ready()
	for rank, g := range j.groups {
		if !g.SharedMemory() {
			t.Fatalf("rank %d shares no memory: %s", rank, j.logs[rank])
		}
	}
	return j
}

// TestAnySceneInSharedMemory: every schedule has its own bits in shared memory too, for
// kinds, operations and lengths of all sorts, among collectives over TCP.
func TestAnySceneInSharedMemory(t *testing.T) {
	if testing.Short() {
		t.Log("sampled: a quarter of the schedules per size")
	}
	for nth, size := range []int{2, 3, 4, 7} {
		for i, name := range schedule.Names {
			if testing.Short() && i%4 != nth {
				continue
			}
			t.Run(fmt.Sprint(size, name), func(t *testing.T) {
				j := newSharedJob(t, size, Config{Schedule: name, Chunk: 4 << 10})
				for seed, count := range sampled.Race(t, []int{1, 13, size + 1, 1009, 2 * shm.Small, 40_007}, nth%3, 3) {
					s := scene{size: size, count: count, root: size / 2, cfg: j.cfg, seed: uint64(seed)}
					j.each(func(rank int) error { return s.play(j.groups[rank]) })
				}
			})
		}
	}
}

// TestSharedMemoryHasTheBytesOfTCP checks all schedules with vectors of several pieces.
func TestSharedMemoryHasTheBytesOfTCP(t *testing.T) {
	const size, count = 5, (shm.Depth*shm.Piece + shm.Piece + shm.Block + 12) / 4
	for _, name := range sampled.Short(t, append([]schedule.Name{schedule.Auto}, schedule.Names...), 0, 3) {
		t.Run(name.String(), func(t *testing.T) {
			var results [2][][]float32
			for i, j := range []*testJob{
				newSharedJob(t, size, Config{Schedule: name}), newTCPJob(t, size, Config{Schedule: name}),
			} {
				results[i] = make([][]float32, size)
				j.each(func(rank int) error {
					v := make([]float32, count)
					for i := range v {
						v[i] = float32(math.Sin(float64(i*size+rank))) * float32(int(1)<<(i%20))
					}
					results[i][rank] = v
					return j.groups[rank].AllReduce(ctx, Vec(v), Sum)
				})
			}
			for rank := range size {
				if !slices.Equal(results[0][rank], results[1][0]) {
					t.Errorf("rank %d: the bytes differ from those over TCP", rank)
				}
			}
		})
	}
}

// TestOneRankRefusesSharedMemory checks that then no rank shares memory, without an error.
func TestOneRankRefusesSharedMemory(t *testing.T) {
	j := newLoopbackJob(t, 3, Config{})
	j.groups[1].cfg.NoSharedMemory = true
	j.each(func(rank int) error { return sumOverTCP(j.groups[rank]) })
}

// TestWithoutSharedMemoryItIsTCP checks that the job uses TCP if rank 0 cannot make the segment
// or another rank cannot open it, and that this rank's log has the reason.
func TestWithoutSharedMemoryItIsTCP(t *testing.T) {
	full := errors.New("no space left on device")
	for what, c := range map[string]struct {
		rank  int
		broke func(s *shm.Segments)
	}{
		"make": {0, func(s *shm.Segments) {
			s.Make = func(int, int64) (*shm.Segment, error) { return nil, full }
		}},
		"open": {2, func(s *shm.Segments) {
			s.Open = func(shm.Location) (*shm.Segment, error) { return nil, full }
		}},
	} {
		t.Run(what, func(t *testing.T) {
			j := newLoopbackJob(t, 3, Config{})
			c.broke(&j.groups[c.rank].segments)
			j.each(func(rank int) error { return sumOverTCP(j.groups[rank]) })
			for rank, log := range j.logs {
				want := 0
				if rank == c.rank {
					want = 1
				}
				if got := strings.Count(log.String(), "no shared memory between the ranks, TCP instead"); got != want {
					t.Errorf("rank %d: %d lines in the log, want %d: %s", rank, got, want, log)
				}
			}
		})
	}
}

// sumOverTCP sums the ranks of a job of three that is to share no memory.
func sumOverTCP(g *Group) error {
	v := []float32{float32(g.Rank())}
	err := g.AllReduce(ctx, Vec(v), Sum)
	if err == nil && (v[0] != 3 || g.SharedMemory()) {
		err = fmt.Errorf("got %v, shared memory %v", v[0], g.SharedMemory())
	}
	return err
}

// longOp is an operation with the longest name, whose calls have the longest header.
var longOp = NewOp(strings.Repeat("o", kernels.MaxOwnName), true, func(dst, a, b []float32) { copy(dst, a) })

// TestMismatchInSharedMemory checks that all ranks name the rank with the other call, whether
// they meet in the segment or one of them waits at its connections.
func TestMismatchInSharedMemory(t *testing.T) {
	for what, other := range map[string]func(g *Group) error{
		"length":     func(g *Group) error { return g.AllReduce(ctx, Vec(make([]float32, 5)), Sum) },
		"operation":  func(g *Group) error { return g.AllReduce(ctx, Vec(make([]float32, 4)), Max) },
		"collective": func(g *Group) error { return g.Broadcast(ctx, Vec(make([]float32, 4)), 0) },
		"the longest names": func(g *Group) error {
			return g.AllReduce(ctx, Vec(make([]float32, 4)).Named(strings.Repeat("v", 80)), longOp)
		},
	} {
		t.Run(what, func(t *testing.T) {
			j := newSharedJob(t, 3, Config{})
			for rank, err := range j.all(func(rank int) error {
				if rank == 2 {
					return other(j.groups[rank])
				}
				return j.groups[rank].AllReduce(ctx, Vec(make([]float32, 4)), Sum)
			}) {
				if err == nil || !strings.Contains(err.Error(), "ranks disagree: ") || !strings.Contains(err.Error(), "rank 2 calls ") {
					t.Errorf("rank %d: got %v, want the mismatch with rank 2", rank, err)
				}
			}
		})
	}
}

// TestWaitsInSharedMemoryEnd checks that MaxWait, the end of a context, Close and the loss of a
// rank end a wait in shared memory.
func TestWaitsInSharedMemoryEnd(t *testing.T) {
	call := func(ctx context.Context, g *Group) error {
		return g.AllReduce(ctx, Vec(make([]float32, 100_000)).Named("gradient"), Sum)
	}
	t.Run("MaxWait", func(t *testing.T) {
		j := newSharedJob(t, 3, Config{Stall: 4 * time.Second})
		j.limitWaits(100 * time.Millisecond)
		for _, rank := range []int{0, 2} {
			defer func() { j.groups[rank].Close() }()
		}
		err := call(ctx, j.groups[0])
		late, ok := errors.AsType[*DeadlineError](err)
		if !ok || late.Rank != 1 || late.Entered || !strings.Contains(err.Error(), "waiting for rank 1 ") {
			t.Errorf("got %v, want that rank 1 has not entered", err)
		}
	})
	t.Run("context", func(t *testing.T) {
		j := newSharedJob(t, 3, Config{})
		errs := j.all(func(rank int) error {
			switch rank {
			case 0:
				ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
				return call(ctx, j.groups[rank])
			case 1:
				return call(ctx, j.groups[rank])
			}
			<-j.groups[rank].epoch.Engine.Failed
			return call(ctx, j.groups[rank])
		})
		if !errors.Is(errs[0], context.DeadlineExceeded) {
			t.Errorf("rank 0: got %v, want the deadline", errs[0])
		}
		for _, rank := range []int{1, 2} {
			if lost, ok := errors.AsType[*LostError](errs[rank]); !ok || lost.Rank != 0 || !lost.GaveUp {
				t.Errorf("rank %d: got %v, want that rank 0 gave up", rank, errs[rank])
			}
		}
	})
	t.Run("Close", func(t *testing.T) {
		j := newSharedJob(t, 3, Config{})
		errs := j.all(func(rank int) error {
			if rank == 2 {
				time.Sleep(30 * time.Millisecond)
				j.groups[0].Close()
				return nil
			}
			return call(ctx, j.groups[rank])
		})
		if !errors.Is(errs[0], ErrClosed) {
			t.Errorf("rank 0: got %v, want ErrClosed", errs[0])
		}
		if lost, ok := errors.AsType[*LostError](errs[1]); !ok || lost.Rank != 0 {
			t.Errorf("rank 1: got %v, want the loss of rank 0", errs[1])
		}
	})
}

// TestHeartbeatsAfterTheSegment checks that heartbeats still name a collective that failed in
// shared memory after the memory is unmapped.
func TestHeartbeatsAfterTheSegment(t *testing.T) {
	j := newSharedJob(t, 2, Config{})
	g := j.groups[0]
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := g.AllReduce(short, Vec(make([]float32, 100_000)), Sum); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want the deadline", err)
	}
	g.epoch.Engine.Call.Started = time.Now().Add(-time.Minute) // heartbeats name only long waits
	g.epoch.End()
	if w := g.waiting(); w.Rank >= 0 || w.Collective != g.epoch.Engine.Call.ID.Seq {
		t.Errorf("got %+v, want the collective and no rank", w)
	}
}

// stuck is a sum that does not go on where there is a one, until it is let go.
type stuck struct {
	op    Op
	letGo chan struct{}
}

func newStuck(name string) *stuck {
	s := &stuck{}
	s.op = NewOp(name, true, func(dst, a, b []uint32) {
		if a[0] == 1 {
			<-s.letGo
		}
		for i := range dst {
			dst[i] = a[i] + b[i]
		}
	})
	return s
}

// letGoAfter lets the sum go on after a failure of g. The calls that wait join the goroutine.
func (s *stuck) letGoAfter(g *Group) {
	s.letGo = make(chan struct{})
	go func() {
		<-g.epoch.Engine.Failed
		close(s.letGo)
	}()
}

// call sums a vector of which rank 1 of two sums the second half, where it is stuck.
func (s *stuck) call(ctx context.Context, g *Group) error {
	v := make([]uint32, 10_000)
	for i := range v[5000:] {
		v[5000+i] = 1
	}
	return g.AllReduce(ctx, Vec(v), s.op)
}

var stuckAtOne, stuckOnce = newStuck("stuck at one"), newStuck("stuck once")

// TestAStallInSharedMemory checks that the job fails after Stall if a rank is in the collective
// and makes no progress, and that the error names the rank.
func TestAStallInSharedMemory(t *testing.T) {
	t.Parallel()
	j := newSharedJob(t, 2, Config{Stall: 2 * time.Second}) // on a busy machine, too, rank 0 makes progress within it
	stuckAtOne.letGoAfter(j.groups[0])
	errs := j.all(func(rank int) error {
		err := stuckAtOne.call(ctx, j.groups[rank])
		if rank == 1 && err == nil { // it has all it needs, and may not know yet
			err = j.groups[rank].Barrier(ctx)
		}
		return err
	})
	late, ok := errors.AsType[*DeadlineError](errs[0])
	if !ok || late.Rank != 1 || !late.Entered || !strings.Contains(errs[0].Error(), "waiting for rank 1 ") {
		t.Errorf("rank 0: got %v, want that rank 1 comes no further", errs[0])
	}
	if errs[1] == nil {
		t.Error("rank 1: got no error")
	}
}

// stuckToy is a toy whose exchange begins with a sum in which rank 1 is stuck.
type stuckToy struct{ *toy }

func (m stuckToy) Exchange(ctx context.Context, g *Group) error {
	if err := g.Ready(ctx, toyShard(m.rank)); err != nil {
		return err
	}
	if err := stuckOnce.call(ctx, g); err != nil {
		return err
	}
	return m.toy.Exchange(ctx, g)
}

// TestAStallInSharedMemoryRecovers checks that a job that recovers continues after a stall in shared memory, as after one
// over TCP: a rank that is stopped may be lost later, and be replaced.
func TestAStallInSharedMemoryRecovers(t *testing.T) {
	t.Parallel()
	j := newSharedJob(t, 2, Config{OnLoss: Wait, Stall: 2 * time.Second})
	stuckOnce.letGoAfter(j.groups[0])
	toys := []*toy{newToy(0, 2), newToy(1, 2)}
	j.each(func(rank int) error { return j.groups[rank].Run(ctx, stuckToy{toys[rank]}) })
	if toys[0].done != 2 || toys[0].model() != toys[1].model() {
		t.Errorf("the ranks have done %d and %d steps, want 2 and the same model", toys[0].done, toys[1].done)
	}
}
