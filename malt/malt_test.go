// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/malt/graph"
)

// TestEachUpdateArrivesOnce counts: with synchrony by rounds a rank merges each sender's update of each round once.
func TestEachUpdateArrivesOnce(t *testing.T) {
	const total, rounds, length = 6, 20, 300
	for _, sync := range []string{"bsp", "notify_ack"} {
		for _, name := range graph.Names() {
			bubble(t, sync+"/"+name, func(t *testing.T) {
				g, err := graph.New(name, total)
				if err != nil {
					t.Fatal(err)
				}
				c := newCluster(t, total, Config{})
				c.must(func(group *Group) error {
					ctx := context.Background()
					v, err := NewVector[float64](group, "v", length, VectorConfig{ObjectConfig: ObjectConfig{Graph: name, Sync: sync}})
					if err != nil {
						return err
					}
					ones := slices.Repeat([]float64{1}, length)
					want := 0.0
					for round := range rounds {
						// Ranks work at different speeds.
						time.Sleep(time.Duration((group.Rank()*7+round*3)%11) * time.Millisecond)
						if err := v.ScatterValues(ctx, ones); err != nil {
							return err
						}
						n, err := v.Gather(ctx, Sum)
						if err != nil {
							return err
						}
						if in := len(g.In(round, group.Rank())); n != in {
							return fmt.Errorf("round %d: merged %d updates, want %d", round, n, in)
						}
						want += float64(n)
					}
					for i, x := range v.Values() {
						if x != want {
							return fmt.Errorf("entry %d is %v, want %v", i, x, want)
						}
					}
					if s := v.Stats(); s.Overwritten+s.Dropped+s.Damaged != 0 || s.Received != uint64(want) {
						return fmt.Errorf("got %+v, want %v received and nothing lost", s, want)
					}
					return group.Done(ctx)
				})
			})
		}
	}
}

// TestRanksAgreeOnTheMean averages until all ranks have the same value, with all graphs and without waits.
func TestRanksAgreeOnTheMean(t *testing.T) {
	const total, length = 5, 40
	for i, name := range []string{"all", "halton", "ring", "exponential", "one_peer", "tree"} {
		for _, sync := range sampled.Race(t, []string{"asp", "ssp:2", "bsp"}, i%3, 3) {
			bubble(t, name+"/"+sync, func(t *testing.T) {
				c := newCluster(t, total, Config{})
				var mu sync2
				results := map[int][]float32{}
				c.must(func(group *Group) error {
					ctx := context.Background()
					v, err := NewVector[float32](group, "v", length, VectorConfig{ObjectConfig: ObjectConfig{Graph: name, Sync: sync}})
					if err != nil {
						return err
					}
					for i := range v.Values() {
						v.Values()[i] = float32(group.Rank() * 10)
					}
					for range 150 {
						if err := v.Scatter(ctx); err != nil {
							return err
						}
						time.Sleep(time.Millisecond)
						if _, err := v.Gather(ctx, WeightedAverage); err != nil {
							return err
						}
					}
					mu.Lock()
					results[group.Rank()] = slices.Clone(v.Values())
					mu.Unlock()
					return group.Done(ctx)
				})
				for rank, values := range results {
					for i, x := range values {
						if math.Abs(float64(x-results[0][i])) > 1e-3 || x < 0 || x > 40 {
							t.Fatalf("rank %d, entry %d: got %v, rank 0 has %v", rank, i, x, results[0][i])
						}
					}
				}
			})
		}
	}
}

// TestSlowRankOfAPeriodicGraph lets a rank merge updates of several rounds at once: its value stays between those of all
// ranks, and all agree.
func TestSlowRankOfAPeriodicGraph(t *testing.T) {
	const total = 16
	for _, sync := range []string{"asp", "ssp:8"} {
		bubble(t, sync, func(t *testing.T) {
			most := atomic.Int64{} // senders of one merge
			newCluster(t, total, Config{}).must(func(g *Group) error {
				ctx := context.Background()
				v, err := NewVector[float32](g, "v", 4, VectorConfig{ObjectConfig: ObjectConfig{Graph: "one_peer", Sync: sync}})
				if err != nil {
					return err
				}
				v.Values()[0] = float32(g.Rank())
				for round := range 120 {
					if err := v.Scatter(ctx); err != nil {
						return err
					}
					time.Sleep(time.Millisecond)
					if g.Rank() == 3 && round < 60 {
						time.Sleep(7 * time.Millisecond)
					}
					if _, err := v.Gather(ctx, func(v *Vector[float32], in []Incoming[float32]) {
						most.Store(max(most.Load(), int64(len(newest(in)))))
						WeightedAverage(v, in)
					}); err != nil {
						return err
					}
					if x := v.Values()[0]; x < 0 || x > total-1 {
						return fmt.Errorf("round %d: got %v, want 0 to %d", round, x, total-1)
					}
				}
				return g.Done(ctx)
			})
			if most.Load() < 2 {
				t.Errorf("no merge had updates of several senders")
			}
		})
	}
}

// TestPeriodAveragesExactly has ranks of equal speed: after a period of the graph all have the mean, also if no rank waits.
func TestPeriodAveragesExactly(t *testing.T) {
	const total, mean = 6, 2.5
	for _, sync := range []string{"asp", "bsp"} {
		bubble(t, sync, func(t *testing.T) {
			newCluster(t, total, Config{}).must(func(g *Group) error {
				ctx := context.Background()
				v, err := NewVector[float64](g, "v", 1, VectorConfig{ObjectConfig: ObjectConfig{Graph: "one_peer", Sync: sync}})
				if err != nil {
					return err
				}
				v.Values()[0] = float64(g.Rank())
				for range graph.OnePeer(total).Period() {
					if err := v.Scatter(ctx); err != nil {
						return err
					}
					if err := g.Barrier(ctx); err != nil { // all updates of the round have arrived
						return err
					}
					if _, err := v.Gather(ctx, WeightedAverage); err != nil {
						return err
					}
					if err := g.Barrier(ctx); err != nil { // no update of the next round has
						return err
					}
				}
				if got := v.Values()[0]; math.Abs(got-mean) > 1e-12 {
					return fmt.Errorf("got %v after a period, want %v", got, mean)
				}
				return g.Done(ctx)
			})
		})
	}
}

// TestBarrierIsAfterUpdates sends without a wait, and finds all updates after a barrier.
func TestBarrierIsAfterUpdates(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		const total = 7
		c := newCluster(t, total, Config{})
		c.must(func(group *Group) error {
			ctx := context.Background()
			v, err := NewVector[float32](group, "v", 100_000, VectorConfig{})
			if err != nil {
				return err
			}
			for range 3 {
				if err := v.Scatter(ctx); err != nil {
					return err
				}
				if err := v.Barrier(ctx); err != nil {
					return err
				}
				n, err := v.Gather(ctx, Average)
				if err != nil || n != total-1 {
					return fmt.Errorf("got %d updates and error %v after a barrier, want %d", n, err, total-1)
				}
				if err := v.Barrier(ctx); err != nil {
					return err
				}
			}
			return group.Done(ctx)
		})
	})
}

// TestDifferencesAreNamed creates different objects on two ranks.
func TestDifferencesAreNamed(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(name *string, length *int, c *VectorConfig)
	}{
		{"name", "name is ", func(name *string, _ *int, _ *VectorConfig) { *name = "u" }},
		{"length", "length is ", func(_ *string, length *int, _ *VectorConfig) { *length = 11 }},
		{"shape", "shape is ", func(_ *string, _ *int, c *VectorConfig) { c.Shape = []int{2, 5} }},
		{"graph", "graph is ", func(_ *string, _ *int, c *VectorConfig) { c.Graph = "ring" }},
		{"sync", "sync is ", func(_ *string, _ *int, c *VectorConfig) { c.Sync = "bsp" }},
		{"code", "code is ", func(_ *string, _ *int, c *VectorConfig) { c.Format.Code = F16 }},
	} {
		bubble(t, c.name, func(t *testing.T) {
			errs := newCluster(t, 4, Config{}).each(func(g *Group) error {
				name, length, config := "v", 10, VectorConfig{ObjectConfig: ObjectConfig{Graph: "halton"}}
				if g.Rank() == 2 {
					c.change(&name, &length, &config)
				}
				v, err := NewVector[float32](g, name, length, config)
				for err == nil {
					if err = v.Scatter(context.Background()); err == nil {
						_, err = v.Gather(context.Background(), Sum)
					}
					time.Sleep(time.Millisecond)
				}
				return err
			})
			found := false
			for rank, err := range errs {
				if err == nil {
					t.Errorf("rank %d trains on", rank)
				}
				found = found || strings.Contains(fmt.Sprint(err), "object 0 differs between rank") && strings.Contains(fmt.Sprint(err), c.want) && strings.Contains(fmt.Sprint(err), "rank 2")
			}
			if named := slices.ContainsFunc(errs, func(err error) bool {
				return strings.Contains(fmt.Sprint(err), "differs from the others: malt: object 0 differs")
			}); !named {
				t.Errorf("no rank has the reason of the rank that has ended: %v", errs)
			}
			if !found {
				t.Errorf("no error names the ranks and the field: %v", errs)
			}
		})
	}
}

// TestShapes checks the dimensions of a vector against its length.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		shape []int
		good  bool
	}{
		{nil, true},
		{[]int{12}, true},
		{[]int{3, 4}, true},
		{[]int{1, 2, 3, 2}, true},
		{[]int{}, false},
		{[]int{5}, false},
		{[]int{24}, false},
		{[]int{3, 3}, false},
		{[]int{-3, -4}, false},
		{[]int{0, 12}, false},
		{[]int{1, 1, 2, 3, 2}, false},
	} {
		got, err := dimensions(c.shape, 12)
		if (err == nil) != c.good {
			t.Errorf("%v: got %v, want a fault: %t", c.shape, err, !c.good)
		}
		if err == nil && c.shape == nil && !slices.Equal(got, []int{12}) {
			t.Errorf("got the shape %v without one, want [12]", got)
		}
	}
}

// TestSurvivorsContinue loses a rank in the middle of training, in each synchrony.
func TestSurvivorsContinue(t *testing.T) {
	const total, rounds = 5, 60
	for _, sync := range []string{"asp", "bsp", "ssp:1", "notify_ack"} {
		for _, name := range []string{"all", "halton", "ring", "one_peer"} {
			bubble(t, sync+"/"+name, func(t *testing.T) {
				c := newCluster(t, total, Config{OnLoss: Shrink})
				c.must(func(group *Group) error {
					ctx := context.Background()
					v, err := NewVector[float32](group, "v", 50, VectorConfig{ObjectConfig: ObjectConfig{Graph: name, Sync: sync}})
					if err != nil {
						return err
					}
					for round := range rounds {
						if group.Rank() == 3 && round == 20 {
							return group.Close()
						}
						if err := v.Scatter(ctx); err != nil {
							return fmt.Errorf("round %d: %w", round, err)
						}
						time.Sleep(time.Duration(1+group.Rank()) * time.Millisecond)
						if _, err := v.Gather(ctx, AverageIncludingSelf); err != nil {
							return fmt.Errorf("round %d: %w", round, err)
						}
					}
					if err := group.Done(ctx); err != nil {
						return err
					}
					if live := group.Members(); !slices.Equal(live, []int{0, 1, 2, 4}) {
						return fmt.Errorf("the members are %v, want all but rank 3", live)
					}
					return nil
				})
			})
		}
	}
}

// TestLossEndsTheJob loses a rank of a job that aborts: all ranks name it.
func TestLossEndsTheJob(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		errs := newCluster(t, 4, Config{}).each(func(g *Group) error {
			v, err := NewVector[float32](g, "v", 10, VectorConfig{ObjectConfig: ObjectConfig{Sync: "notify_ack"}})
			for round := 0; err == nil; round++ {
				if g.Rank() == 1 && round == 5 {
					return g.Close()
				}
				if err = v.Scatter(context.Background()); err == nil {
					_, err = v.Gather(context.Background(), Sum)
				}
			}
			return err
		})
		for rank, err := range errs {
			if rank != 1 && !strings.Contains(fmt.Sprint(err), "rank 1") {
				t.Errorf("rank %d: got %v, want an error that names rank 1", rank, err)
			}
		}
	})
}

// TestQueuesOverwrite sends more than a receiver reads.
func TestQueuesOverwrite(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		c := newCluster(t, 2, Config{})
		c.must(func(g *Group) error {
			ctx := context.Background()
			v, err := NewVector[float32](g, "v", 4, VectorConfig{ObjectConfig: ObjectConfig{Depth: 3}, MaxDelay: 1000})
			if err != nil {
				return err
			}
			for i := range 10 {
				v.Values()[0] = float32(i)
				if err := v.Scatter(ctx); err != nil {
					return err
				}
				time.Sleep(time.Millisecond)
			}
			if err := g.Barrier(ctx); err != nil {
				return err
			}
			var got []float32
			var behind, oldest uint64
			if _, err := v.Gather(ctx, func(_ *Vector[float32], in []Incoming[float32]) {
				for _, u := range in {
					got = append(got, u.Values[0])
					behind, oldest = behind+uint64(u.Delay), max(oldest, uint64(u.Delay))
					if u.Rank != 1-g.Rank() || u.Delay != int64(10-u.Iteration) || u.Factor != 1 {
						err = fmt.Errorf("got %+v", u)
					}
				}
			}); err != nil {
				return err
			}
			if s := v.Stats(); !slices.Equal(got, []float32{7, 8, 9}) || s.Received != 10 || s.Overwritten != 7 || s.Merged != 3 || s.Behind != behind || s.Oldest != oldest {
				return fmt.Errorf("got %v and %+v, want the newest three, 7 overwritten, %d rounds behind, at most %d", got, s, behind, oldest)
			}
			return errors.Join(err, g.Done(ctx))
		})
	})
}

// TestSegments carries bytes of the caller's.
func TestSegments(t *testing.T) {
	c := newLoopback(t, 3, Config{})
	c.must(func(g *Group) error {
		ctx := context.Background()
		s, err := NewSegment(g, "notes", 100, SegmentConfig{ObjectConfig: ObjectConfig{Graph: "ring", Sync: "bsp"}})
		if err != nil {
			return err
		}
		for round := range 10 {
			if err := s.Scatter(ctx, fmt.Appendf(nil, "rank %d round %d", g.Rank(), round)); err != nil {
				return err
			}
			n, err := s.Gather(ctx, func(u IncomingBytes) {
				if want := fmt.Sprintf("rank %d round %d", u.Rank, round); string(u.Data) != want {
					t.Errorf("got %q, want %q", u.Data, want)
				}
			})
			if err != nil || n != 2 {
				return fmt.Errorf("got %d updates and error %v, want 2", n, err)
			}
		}
		if err := s.Scatter(ctx, nil); err == nil {
			return errors.New("an empty update was sent")
		}
		return g.Done(ctx)
	})
}

// TestWaitsEndWithTheContext ends a wait, and finds the awaited rank in the error.
func TestWaitsEndWithTheContext(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		var stop sync2
		stop.Lock()
		c := newCluster(t, 2, Config{})
		c.must(func(g *Group) error {
			v, err := NewVector[float32](g, "v", 4, VectorConfig{ObjectConfig: ObjectConfig{Sync: "notify_ack"}})
			if err != nil {
				return err
			}
			if g.Rank() == 1 {
				stop.Lock() // computes until rank 0 has given up
				return nil
			}
			defer stop.Unlock()
			if err := v.Scatter(context.Background()); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			_, err = v.Gather(ctx, Sum)
			if want := "malt: rank 0: gathering v: waiting for ranks [1]: context deadline exceeded"; fmt.Sprint(err) != want {
				return fmt.Errorf("got %v, want %s", err, want)
			}
			return nil
		})
	})
}

// sync2 is a lock that a bubble may wait for.
type sync2 struct {
	once sync.Once
	c    chan struct{}
}

func (m *sync2) init() { m.once.Do(func() { m.c = make(chan struct{}, 1) }) }

func (m *sync2) Lock() { m.init(); m.c <- struct{}{} }

func (m *sync2) Unlock() { <-m.c }
