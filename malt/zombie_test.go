// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/sampled"
)

// TestZombiesAreRefused stops a rank until the others have continued without it. Its later updates arrive
// at no rank, and it gets an error that says why.
func TestZombiesAreRefused(t *testing.T) {
	for _, sync := range sampled.Race(t, []string{"asp", "bsp", "ssp:2", "notify_ack"}, 0, 2) {
		bubble(t, sync, func(t *testing.T) {
			const total, zombie = 4, 2
			c := newCluster(t, total, Config{OnLoss: Shrink})
			errs := c.each(func(g *Group) error {
				ctx := context.Background()
				v, err := NewVector[float32](g, "v", 10, VectorConfig{ObjectConfig: ObjectConfig{Sync: sync}})
				if err != nil {
					return err
				}
				for begun := time.Now(); time.Since(begun) < time.Minute; {
					if g.Rank() == zombie && v.Iteration() == 20 {
						c.fabric.Hold("h2", true)
						time.Sleep(20 * time.Second)
						c.fabric.Hold("h2", false)
					}
					if time.Since(begun) > 15*time.Second && g.Rank() == zombie {
						v.Values()[0] = 1000
					}
					time.Sleep(50 * time.Millisecond)
					if err := v.Scatter(ctx); err != nil {
						return err
					}
					if _, err := v.Gather(ctx, AverageIncludingSelf); err != nil {
						return err
					}
				}
				if v.Values()[0] != 0 {
					return fmt.Errorf("the value is %v: an update of rank %d has arrived", v.Values()[0], zombie)
				}
				return g.Done(ctx)
			})
			for rank, err := range errs {
				switch {
				case rank != zombie && err != nil:
					t.Errorf("rank %d: %v", rank, err)
				case rank == zombie && (err == nil || !strings.Contains(err.Error(), "malt: rank 2") || !strings.Contains(err.Error(), "the job counts this process as lost")):
					t.Errorf("the stopped rank got %v, want its rank and the reason", err)
				}
			}
		})
	}
}

// TestLossAtTheEnd loses a rank that is done, before the server knows: the others end without it. Where ranks are
// replaced, its next attempt is told that the job has finished.
func TestLossAtTheEnd(t *testing.T) {
	for _, policy := range []OnLoss{Wait, Shrink, Grow} {
		bubble(t, policy.String(), func(t *testing.T) {
			c := newCluster(t, 4, Config{OnLoss: policy, Job: Job{UniqueID: 1, RunKey: "end"}})
			begun := time.Now()
			c.must(func(g *Group) error {
				ctx := context.Background()
				if _, err := mean(g, ObjectConfig{Graph: "ring", Sync: "bsp"}, 20, 0); err != nil {
					return err
				}
				if g.Rank() != 1 {
					return g.Done(ctx)
				}
				g.carrier.LeaveAll()
				time.Sleep(time.Millisecond) // the others have the message
				g.Close()
				time.Sleep(time.Second)
				if _, err := c.join(1, c.fabric.Host("again")); !errors.Is(err, ErrFinished) {
					return fmt.Errorf("the next attempt got %v, want ErrFinished", err)
				}
				return nil
			})
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("the end took %v of virtual time", took)
			}
		})
	}
}

// TestSparesTakeLostRanks has a process without a rank, which takes that of a lost one.
func TestSparesTakeLostRanks(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		const total, updates = 4, 200
		c := newCluster(t, total, Config{OnLoss: Wait})
		o := ObjectConfig{Graph: "halton", Sync: "notify_ack"}
		spare := make(chan error, 1)
		c.must(func(g *Group) error {
			if g.Rank() == 0 {
				go func() {
					cfg := c.cfg
					cfg.Server, cfg.Job, cfg.Total, cfg.Spare = c.server, Job{UniqueID: 7}, total, true
					cfg.Network, cfg.Host = c.fabric.Host("spare"), "spare"
					s, err := Join(context.Background(), cfg)
					if err == nil {
						defer s.Close()
						if s.Rank() != 2 || !s.Inherits() {
							err = fmt.Errorf("the spare has rank %d, inherits: %v", s.Rank(), s.Inherits())
						}
						if _, e := mean(s, o, updates, 0); err == nil {
							err = e
						}
						err = errors.Join(err, s.Done(context.Background()))
					}
					spare <- err
				}()
			}
			die := uint64(0)
			if g.Rank() == 2 {
				die = 50
			}
			if _, err := mean(g, o, updates, die); err != nil {
				return err
			}
			if die > 0 {
				return g.Close()
			}
			return g.Done(context.Background())
		})
		if err := <-spare; err != nil {
			t.Error(err)
		}
	})
}

// TestNewRanksWaitForABusyLearner joins a job whose only rank with values computes for a minute: the new rank waits for
// its next call, and reports that it does.
func TestNewRanksWaitForABusyLearner(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		c := newCluster(t, 2, Config{OnLoss: Wait})
		o := ObjectConfig{Sync: "asp"}
		c.must(func(g *Group) error {
			ctx := context.Background()
			if g.Rank() == 0 {
				v, err := mean(g, o, 50, 0)
				if err != nil {
					return err
				}
				time.Sleep(time.Minute) // and changes the values meanwhile
				v.Values()[3] = 42
				if err := v.Scatter(ctx); err != nil {
					return err
				}
				time.Sleep(time.Second)
				return g.Done(ctx)
			}
			if _, err := mean(g, o, 100, 40); err != nil {
				return err
			}
			g.Close()
			begun := time.Now()
			g, err := c.join(1, c.fabric.Host("again"))
			if err != nil {
				return err
			}
			if took := time.Since(begun); took < 50*time.Second {
				return fmt.Errorf("it took %v to join, want the end of the computation", took)
			}
			v, err := NewVector[float32](g, "v", 20, VectorConfig{ObjectConfig: o})
			if err != nil {
				return err
			}
			if _, err := NewVector[float64](g, "u", 3, VectorConfig{ObjectConfig: ObjectConfig{Graph: "ring"}}); err != nil {
				return err
			}
			if v.Values()[3] != 42 || v.Iteration() < 50 {
				return fmt.Errorf("got %v after %d updates, want the values after the computation", v.Values(), v.Iteration())
			}
			return g.Done(ctx)
		})
	})
}
