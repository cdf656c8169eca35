// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/sampled"
)

// mean trains a vector to the mean of the ranks' targets: each rank pulls towards its own, and averages. It returns
// after a number of updates, or before the update with number die, if that is not 0.
func mean(g *Group, c ObjectConfig, updates, die uint64) (*Vector[float32], error) {
	ctx := context.Background()
	v, err := NewVector[float32](g, "v", 20, VectorConfig{ObjectConfig: c})
	if err != nil {
		return nil, err
	}
	u, err := NewVector[float64](g, "u", 3, VectorConfig{ObjectConfig: ObjectConfig{Graph: "ring"}})
	if err != nil {
		return nil, err
	}
	if (v.Iteration() > 0) != g.Inherits() {
		return nil, fmt.Errorf("rank %d begins at update %d, inherits: %v", g.Rank(), v.Iteration(), g.Inherits())
	}
	if g.Inherits() && u.Values()[1] != 7 {
		return nil, fmt.Errorf("rank %d inherits %v, want [0 7 0]", g.Rank(), u.Values())
	}
	u.Values()[1] = 7
	for v.Iteration() < updates {
		if die > 0 && v.Iteration() >= die {
			return v, nil
		}
		rate := 1 / float32(v.Iteration()+2)
		for i := range v.Values() {
			v.Values()[i] += rate * (float32(g.Rank()) - v.Values()[i])
		}
		if err := v.Scatter(ctx); err != nil {
			return nil, fmt.Errorf("update %d: %w", v.Iteration(), err)
		}
		time.Sleep(time.Duration(1+g.Rank()) * time.Millisecond)
		if _, err := v.Gather(ctx, AverageIncludingSelf); err != nil {
			return nil, fmt.Errorf("update %d: %w", v.Iteration(), err)
		}
	}
	return v, nil
}

// near returns an error unless all values are near the mean of the ranks.
func near(v *Vector[float32], want, tolerance float64) error {
	for i, x := range v.Values() {
		if math.Abs(float64(x)-want) > tolerance {
			return fmt.Errorf("entry %d is %v, want %v ± %v", i, x, want, tolerance)
		}
	}
	return nil
}

// TestVectorDuringAChange creates a vector while the newest membership is being prepared.
func TestVectorDuringAChange(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		newCluster(t, 2, Config{OnLoss: Wait}).must(func(g *Group) error {
			ctx := context.Background()
			if err := g.Barrier(ctx); err != nil {
				return err
			}
			g.mu.Lock()
			c := g.carrier
			g.carrier = nil // as between begin and publish
			g.mu.Unlock()
			v, err := NewVector[float32](g, "v", 3, VectorConfig{ObjectConfig: ObjectConfig{Sync: "bsp"}})
			if err != nil {
				return err
			}
			if err := g.publish(c); err != nil {
				return err
			}
			v.Values()[0] = float32(g.Rank())
			if err := v.Scatter(ctx); err != nil {
				return err
			}
			if n, err := v.Gather(ctx, AverageIncludingSelf); err != nil || n != 1 || v.Values()[0] != 0.5 {
				return fmt.Errorf("%d updates, value %v, %v", n, v.Values()[0], err)
			}
			return g.Done(ctx)
		})
	})
}

// TestReplacementsContinue loses a rank and starts it again on another host, in each synchrony. The new attempt
// begins with the values of another rank, and all ranks come to the end.
func TestReplacementsContinue(t *testing.T) {
	const total, updates = 5, 300
	for i, sync := range []string{"asp", "bsp", "ssp:2", "notify_ack"} {
		for _, name := range sampled.Short(t, []string{"all", "halton", "ring", "one_peer"}, i, 4) {
			bubble(t, sync+"/"+name, func(t *testing.T) {
				c := newCluster(t, total, Config{OnLoss: Wait})
				o := ObjectConfig{Graph: name, Sync: sync}
				c.must(func(g *Group) error {
					if g.Rank() == 3 {
						if _, err := mean(g, o, updates, 100); err != nil {
							return err
						}
						g.Close()
						time.Sleep(3 * time.Second) // the launcher notices
						var err error
						if g, err = c.join(3, c.fabric.Host("spare")); err != nil {
							return err
						}
						if !g.Inherits() {
							return errors.New("the new attempt has begun from nothing")
						}
					}
					v, err := mean(g, o, updates, 0)
					if err != nil {
						return err
					}
					if err := g.Done(context.Background()); err != nil {
						return err
					}
					if g.Rank() != 3 && g.Epoch() != 2 {
						return fmt.Errorf("%d memberships, want 2", g.Epoch())
					}
					if sync == "asp" {
						return near(v, 2, 2) // slow ranks end alone
					}
					return near(v, 2, 0.7)
				})
			})
		}
	}
}

// TestLostRanksReturn loses a rank of a job that grows. The others continue without it, and it returns later.
func TestLostRanksReturn(t *testing.T) {
	const total, updates = 5, 800
	for _, sync := range sampled.Race(t, []string{"asp", "bsp", "ssp:2", "notify_ack"}, 1, 2) {
		bubble(t, sync, func(t *testing.T) {
			c := newCluster(t, total, Config{OnLoss: Grow, Job: Job{UniqueID: 1, RunKey: "run"}})
			o := ObjectConfig{Graph: "halton", Sync: sync}
			c.must(func(g *Group) error {
				if g.Rank() == 3 {
					if _, err := mean(g, o, updates, 100); err != nil {
						return err
					}
					before := c.sent(0)
					g.Close()
					time.Sleep(time.Second)
					if now := c.sent(0); now < before+100 {
						return fmt.Errorf("rank 0 had sent %d updates, and has sent %d: it has waited", before, now)
					}
					var err error
					if g, err = c.join(3, c.fabric.Host("spare")); err != nil {
						return err
					}
					if !g.Inherits() {
						return errors.New("the new attempt has begun from nothing")
					}
				}
				_, err := mean(g, o, updates, 0)
				if err != nil {
					return err
				}
				if err := g.Done(context.Background()); err != nil {
					return err
				}
				if len(g.Members()) != total || g.Rank() != 3 && g.Epoch() != 3 {
					return fmt.Errorf("%d members and %d memberships, want %d and 3", len(g.Members()), g.Epoch(), total)
				}
				return nil
			})
		})
	}
}

// TestLateRanksJoin starts a job without two of its ranks. They join later, one of them when all others are done.
func TestLateRanksJoin(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		const total, updates = 5, 1500
		c := newCluster(t, total, Config{OnLoss: Grow, Elastic: time.Second, Job: Job{UniqueID: 1, RunKey: "late"}})
		c.late = map[int]time.Duration{1: 4 * time.Second, 4: time.Hour}
		o := ObjectConfig{Graph: "ring", Sync: "ssp:3"}
		errs := c.each(func(g *Group) error {
			if g.Inherits() != (g.Rank() == 1) {
				return fmt.Errorf("inherits: %v", g.Inherits())
			}
			if _, err := mean(g, o, updates, 0); err != nil {
				return err
			}
			if len(g.Members()) != 4 {
				return fmt.Errorf("the members are %v, want all but rank 4", g.Members())
			}
			return g.Done(context.Background())
		})
		for rank, err := range errs {
			if rank == 4 && !errors.Is(err, ErrFinished) || rank != 4 && err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
	})
}

// TestSharesBelongToOneRank draws members: each share has one owner, own shares stay, and a further loss moves only
// the shares of the rank that is lost.
func TestSharesBelongToOneRank(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		total := rapid.IntRange(1, 12).Draw(rt, "total")
		var live members.Set
		for rank := range total {
			if rapid.Bool().Draw(rt, "live") {
				live = append(live, rank)
			}
		}
		if len(live) < 2 {
			return
		}
		owners := func(live members.Set) []int {
			of := make([]int, total)
			for i := range of {
				of[i] = -1
			}
			for _, rank := range live {
				for _, share := range sharesOf(live, rank, total) {
					if of[share] >= 0 {
						rt.Fatalf("share %d belongs to ranks %d and %d", share, of[share], rank)
					}
					of[share] = rank
				}
			}
			return of
		}
		before := owners(live)
		lost := rapid.SampledFrom(live).Draw(rt, "lost")
		var left members.Set
		for _, rank := range live {
			if before[rank] != rank {
				rt.Fatalf("rank %d is without its own share", rank)
			}
			if rank != lost {
				left = append(left, rank)
			}
		}
		for share, owner := range owners(left) {
			if owner < 0 || before[share] != lost && owner != before[share] {
				rt.Fatalf("share %d: rank %d before the loss of rank %d, rank %d after it", share, before[share], lost, owner)
			}
		}
	})
}
