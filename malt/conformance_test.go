// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/internal/sampled"
)

// fabric is a way on which updates travel. Each passes the same tests.
type fabric struct {
	name    string
	written bool // updates are written into the receiver's memory
	job     func(t testing.TB, total int, cfg Config) *cluster
	bubble  bool // under a virtual clock
}

// fabrics are all ways that this machine has. The guest of tests/rdma has one that others lack.
func fabrics() []fabric {
	if os.Getenv("GVW_RDMA_GUEST") != "" {
		return moreFabrics()
	}
	f := []fabric{
		{name: "memory network", job: newCluster, bubble: true},
		{name: "TCP", job: func(t testing.TB, total int, cfg Config) *cluster {
			cfg.NoSharedMemory = true
			return newLoopback(t, total, cfg)
		}},
	}
	return append(f, moreFabrics()...)
}

// onEach runs a test on each fabric.
func onEach(t *testing.T, test func(t *testing.T, f fabric)) {
	for _, f := range fabrics() {
		t.Run(f.name, func(t *testing.T) {
			if f.bubble {
				synctest.Test(t, func(t *testing.T) { test(t, f) })
				return
			}
			test(t, f)
		})
	}
}

// settle sends until the updates of all ranks are written, and forgets them.
func (f fabric) settle(ctx context.Context, g *Group, v *Vector[float32]) error {
	ready, err := newAgreement(g)
	if err != nil {
		return err
	}
	for all := false; !all; {
		before := v.Stats().Written
		if err := v.Scatter(ctx); err != nil {
			return err
		}
		written := v.Stats().Written == before+uint64(len(g.Members())-1) // to all receivers
		if all, err = ready.all(ctx, !f.written || written); err != nil {
			return err
		}
	}
	if err := g.Barrier(ctx); err != nil {
		return err
	}
	if _, err := v.AtomicGather(ctx, func(*Vector[float32], []Incoming[float32]) {}); err != nil {
		return err
	}
	return g.Barrier(ctx)
}

// agreement finds out whether something is true on all ranks.
type agreement struct{ s *Segment }

func newAgreement(g *Group) (agreement, error) {
	s, err := NewSegment(g, "agreement", 1, SegmentConfig{ObjectConfig: ObjectConfig{Sync: "bsp"}})
	return agreement{s}, err
}

// all reports whether yes is true on all ranks.
func (a agreement) all(ctx context.Context, yes bool) (bool, error) {
	own := byte(0)
	if yes {
		own = 1
	}
	if err := a.s.Scatter(ctx, []byte{own}); err != nil {
		return false, err
	}
	_, err := a.s.Gather(ctx, func(u IncomingBytes) { yes = yes && u.Data[0] == 1 })
	return yes, err
}

// lockstep repeats rounds in which each rank sends the round's number times ten plus its own, until the
// updates of all ranks are written, and some rounds more. check gets each update and the number of its sender.
func lockstep[T Element](f fabric, g *Group, v *Vector[T], send func(x T) error, check func(u Incoming[T], x T) error) error {
	ctx := context.Background()
	ready, err := newAgreement(g)
	if err != nil {
		return err
	}
	for round, more := 1, 3; more > 0; round++ {
		before := v.Stats()
		if err := send(T(round%100*10 + g.Rank())); err != nil {
			return err
		}
		written := v.Stats().Written > before.Written
		var failed error
		n, err := v.Gather(ctx, func(_ *Vector[T], in []Incoming[T]) {
			for _, u := range in {
				failed = errors.Join(failed, check(u, T(round%100*10+u.Rank)))
			}
		})
		if err = errors.Join(err, failed); err != nil || n != len(g.Members())-1 {
			return fmt.Errorf("round %d: merged %d updates, want %d: %w", round, n, len(g.Members())-1, err)
		}
		all, err := ready.all(ctx, written || !f.written)
		if err != nil {
			return err
		}
		if all {
			more--
		}
	}
	return g.Done(ctx)
}

// TestDelivery sends dense, sparse and compressed updates of both element types, small and large, in both synchronies by
// rounds. Each update arrives once, in its round, with its values.
func TestDelivery(t *testing.T) {
	large := 1 << 20
	if testing.Short() || os.Getenv("GVW_RDMA_GUEST") != "" {
		large = 1 << 16
		t.Logf("sampled: the largest updates have %d entries", large)
	}
	onEach(t, func(t *testing.T, f fabric) {
		for _, sync := range []string{"bsp", "notify_ack"} {
			for _, length := range []int{1, 1000, large} {
				deliver[float32](t, f, sync, length, Format{})
				deliver[float64](t, f, sync, length, Format{})
			}
			deliver[float32](t, f, sync, 777, Format{Code: F16, NoFeedback: true})
			deliver[float64](t, f, sync, 777, Format{Code: Q8, NoFeedback: true})
			deliver[float32](t, f, sync, 777, Format{Top: 5, NoFeedback: true})
		}
	})
}

func deliver[T Element](t *testing.T, f fabric, sync string, length int, format Format) {
	t.Helper()
	c := f.job(t, 3, Config{})
	c.must(func(g *Group) error {
		ctx := context.Background()
		config := VectorConfig{ObjectConfig: ObjectConfig{Sync: sync}, Format: format}
		v, err := NewVector[T](g, "dense", length, config)
		if err != nil {
			return err
		}
		s, err := NewVector[T](g, "sparse", length, config)
		if err != nil {
			return err
		}
		indices := []uint32{uint32(length - 1), 0}[:min(length, 2)]
		return lockstep(f, g, v, func(x T) error {
			for i := range v.Values() {
				v.Values()[i] = x
			}
			if err := s.ScatterSparse(ctx, indices, []T{x, x}[:len(indices)]); err != nil {
				return err
			}
			_, err := s.Gather(ctx, func(_ *Vector[T], in []Incoming[T]) {
				for _, u := range in {
					if !slices.Equal(u.Indices, indices) {
						t.Errorf("got indices %v, want %v", u.Indices, indices)
					}
				}
			})
			return errors.Join(err, v.Scatter(ctx))
		}, func(u Incoming[T], x T) error {
			want := length
			if format.Top > 0 {
				want = min(want, format.Top)
			}
			for i, y := range u.Values {
				if d := y - x; d > x/64 || d < -x/64 || format.Code == Plain && d != 0 {
					return fmt.Errorf("value %d from rank %d is %v, want %v", i, u.Rank, y, x)
				}
			}
			if len(u.Values) != want {
				return fmt.Errorf("got %d values, want %d", len(u.Values), want)
			}
			return nil
		})
	})
}

// TestOldestAreOverwritten sends more than a receiver reads.
func TestOldestAreOverwritten(t *testing.T) {
	onEach(t, func(t *testing.T, f fabric) {
		f.job(t, 3, Config{}).must(func(g *Group) error {
			ctx := context.Background()
			// A send queue for all updates: only receivers drop any.
			v, err := NewVector[float32](g, "v", 4, VectorConfig{ObjectConfig: ObjectConfig{Depth: 3, Queue: 10}})
			if err != nil {
				return err
			}
			if err := f.settle(ctx, g, v); err != nil {
				return err
			}
			before := v.Stats()
			if err := g.Barrier(ctx); err != nil {
				return err
			}
			for i := range 10 {
				v.Values()[0] = float32(i)
				if err := v.Scatter(ctx); err != nil {
					return err
				}
			}
			if err := g.Barrier(ctx); err != nil {
				return err
			}
			got := map[int][]float32{}
			if _, err := v.Gather(ctx, func(_ *Vector[float32], in []Incoming[float32]) {
				for _, u := range in {
					got[u.Rank] = append(got[u.Rank], u.Values[0])
				}
			}); err != nil {
				return err
			}
			for rank := range 3 {
				if rank != g.Rank() && !slices.Equal(got[rank], []float32{7, 8, 9}) {
					return fmt.Errorf("got %v from rank %d, want the newest three", got[rank], rank)
				}
			}
			s := v.Stats()
			if s.Received-before.Received != 20 || s.Overwritten-before.Overwritten != 14 || s.Sent-before.Sent != 20 || s.Dropped+s.Damaged != 0 {
				return fmt.Errorf("got %+v after %+v, want 20 sent, 20 received, 14 overwritten", s, before)
			}
			if wrote := s.Written - before.Written; wrote != 0 && wrote != 20 || f.written != (wrote > 0) {
				return fmt.Errorf("%d of 20 updates were written into the receivers' memory", wrote)
			}
			return g.Done(ctx)
		})
	})
}

// TestBackPressure sends large updates without pause. All updates arrive that were not dropped or refused.
func TestBackPressure(t *testing.T) {
	const updates, length = 30, 100_000
	for _, full := range []Full{DropOldest, Block, Fail} {
		onEach(t, func(t *testing.T, f fabric) {
			f.job(t, 2, Config{}).must(func(g *Group) error {
				ctx := context.Background()
				v, err := NewVector[float32](g, "v", length, VectorConfig{ObjectConfig: ObjectConfig{Queue: 1, Full: full}})
				if err != nil {
					return err
				}
				refused := 0
				for range updates {
					if err := v.Scatter(ctx); errors.Is(err, ErrFull) && full == Fail {
						refused++
					} else if err != nil {
						return err
					}
				}
				if err := g.Barrier(ctx); err != nil {
					return err
				}
				if _, err := v.Gather(ctx, Sum); err != nil {
					return err
				}
				s := v.Stats()
				if s.Sent+s.Dropped+uint64(refused) != updates || full != DropOldest && s.Dropped > 0 || s.Damaged > 0 {
					return fmt.Errorf("got %+v and %d refused, want %d in all", s, refused, updates)
				}
				arrived, err := NewSegment(g, "arrived", 8, SegmentConfig{ObjectConfig: ObjectConfig{Sync: "bsp"}})
				if err != nil {
					return err
				}
				if err := arrived.Scatter(ctx, []byte{byte(s.Sent)}); err != nil {
					return err
				}
				if _, err := arrived.Gather(ctx, func(u IncomingBytes) {
					if uint64(u.Data[0]) != s.Received {
						t.Errorf("rank %d: received %d updates, rank %d has sent %d", g.Rank(), s.Received, u.Rank, u.Data[0])
					}
				}); err != nil {
					return err
				}
				return g.Done(ctx)
			})
		})
	}
}

// TestAtomicGatherIsNeverTorn gathers from a sender that never pauses. All values of an update are its number.
func TestAtomicGatherIsNeverTorn(t *testing.T) {
	onEach(t, func(t *testing.T, f fabric) {
		for _, format := range sampled.Race(t, []Format{{}, {Code: F16, NoFeedback: true}}, 0, 2) {
			neverTorn(t, f, format, false)
		}
		neverTorn(t, f, Format{}, true)
	})
}

func neverTorn(t *testing.T, f fabric, format Format, sparse bool) {
	const length, intact = 30_000, 50
	f.job(t, 2, Config{}).must(func(g *Group) error {
		ctx := context.Background()
		c := ObjectConfig{Depth: 1, Full: Block} // a sender that only drops updates would take all processors
		v, err := NewVector[float32](g, "v", length, VectorConfig{ObjectConfig: c, Format: format})
		if err != nil {
			return err
		}
		back, err := NewSegment(g, "stop", 1, SegmentConfig{ObjectConfig: c})
		if err != nil {
			return err
		}
		if err := f.settle(ctx, g, v); err != nil {
			return err
		}
		if g.Rank() == 0 {
			indices := make([]uint32, length)
			for i := range indices {
				indices[i] = uint32(i)
			}
			for stop, n := 0, 1; stop == 0; n++ {
				for i := range v.Values() {
					v.Values()[i] = float32(n % 1000)
				}
				err := v.Scatter(ctx)
				if sparse {
					err = errors.Join(err, v.ScatterSparse(ctx, indices, v.Values()))
				}
				if err != nil {
					return err
				}
				if stop, err = back.Gather(ctx, func(IncomingBytes) {}); err != nil {
					return err
				}
				if f.bubble {
					time.Sleep(time.Microsecond)
				}
			}
			return g.Done(ctx)
		}
		for n := 0; n < intact; {
			more, err := v.AtomicGather(ctx, func(_ *Vector[float32], in []Incoming[float32]) {
				for _, u := range in {
					for i, x := range u.Values {
						if x != u.Values[0] || u.Indices != nil && u.Indices[i] != uint32(i) {
							t.Errorf("an update was torn: entry %d is %v, entry 0 is %v", i, x, u.Values[0])
							return
						}
					}
				}
			})
			if err != nil {
				return err
			}
			if n += more; f.bubble {
				time.Sleep(time.Microsecond)
			}
			runtime.Gosched()
		}
		return errors.Join(back.Scatter(ctx, []byte{1}), g.Done(ctx))
	})
}

// TestPeerIsLost ends a rank in the middle of training. The others continue without it.
func TestPeerIsLost(t *testing.T) {
	onEach(t, func(t *testing.T, f fabric) {
		for _, sync := range sampled.Race(t, sampled.Short(t, []string{"asp", "bsp", "ssp:1", "notify_ack"}, 1, 2), 0, 2) {
			f.job(t, 4, Config{OnLoss: Shrink}).must(func(g *Group) error {
				ctx := context.Background()
				v, err := NewVector[float64](g, "v", 5000, VectorConfig{ObjectConfig: ObjectConfig{Sync: sync}})
				if err != nil {
					return err
				}
				for round := 0; len(g.Members()) == 4 || round < 200; round++ {
					if g.Rank() == 2 && round == 100 {
						return g.Close()
					}
					if err := v.Scatter(ctx); err != nil {
						return err
					}
					if _, err := v.AtomicGather(ctx, AverageIncludingSelf); err != nil {
						return err
					}
					if f.bubble {
						time.Sleep(time.Millisecond)
					}
				}
				if err := g.Done(ctx); err != nil {
					return err
				}
				if live := g.Members(); !slices.Equal(live, []int{0, 1, 3}) {
					return fmt.Errorf("the members are %v, want all but rank 2", live)
				}
				return nil
			})
		}
	})
}

// TestSegmentsOnAllWays carries bytes of changing length.
func TestSegmentsOnAllWays(t *testing.T) {
	onEach(t, func(t *testing.T, f fabric) {
		f.job(t, 3, Config{}).must(func(g *Group) error {
			ctx := context.Background()
			s, err := NewSegment(g, "s", 1000, SegmentConfig{ObjectConfig: ObjectConfig{Sync: "notify_ack"}})
			if err != nil {
				return err
			}
			text := func(rank, round int) []byte {
				return slices.Repeat(fmt.Appendf(nil, "%d of %d.", round, rank), 1+round%90)
			}
			for round := range 200 {
				if err := s.Scatter(ctx, text(g.Rank(), round)); err != nil {
					return err
				}
				if n, err := s.AtomicGather(ctx, func(u IncomingBytes) {
					if want := text(u.Rank, round); !slices.Equal(u.Data, want) {
						t.Errorf("got %q, want %q", u.Data, want)
					}
				}); err != nil || n != 2 {
					return fmt.Errorf("got %d updates and error %v, want 2", n, err)
				}
			}
			return g.Done(ctx)
		})
	})
}
