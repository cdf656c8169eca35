// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// counted is a program's own state beside a segment: the number of updates from each rank.
type counted struct {
	From     [3]int
	failures int // of State that are still to come
}

func (c *counted) state() ([]byte, error) {
	if c.failures > 0 {
		c.failures--
		return nil, errors.New("not now")
	}
	return json.Marshal(c)
}

func (c *counted) config(sync string) SegmentConfig {
	return SegmentConfig{
		ObjectConfig: ObjectConfig{Sync: sync}, State: c.state,
		Restore: func(b []byte) error { return json.Unmarshal(b, c) },
	}
}

// TestSegmentsAreInherited loses rank 1 of three and starts it again. Its next attempt has the counts of another rank,
// although the first copies of them fail.
func TestSegmentsAreInherited(t *testing.T) {
	for _, policy := range []OnLoss{Wait, Grow} {
		bubble(t, policy.String(), func(t *testing.T) {
			const updates, dies = 400, 100
			c := newCluster(t, 3, Config{OnLoss: policy, Job: Job{UniqueID: 1, RunKey: "segments"}})
			c.must(func(g *Group) error {
				ctx := context.Background()
				train := func(g *Group, until uint64) (*counted, error) {
					counts := &counted{failures: 2}
					s, err := NewSegment(g, "s", 8, counts.config("asp"))
					if err != nil {
						return nil, err
					}
					if sum := counts.From[0] + counts.From[1] + counts.From[2]; g.Inherits() != (sum > 100) || g.Inherits() != (s.Iteration() > 50) {
						return nil, fmt.Errorf("rank %d begins with %v and update %d, inherits: %v", g.Rank(), counts.From, s.Iteration(), g.Inherits())
					}
					for s.Iteration() < until {
						if err := s.Scatter(ctx, []byte{1}); err != nil {
							return nil, err
						}
						time.Sleep(5 * time.Millisecond)
						if _, err := s.Gather(ctx, func(u IncomingBytes) { counts.From[u.Rank]++ }); err != nil {
							return nil, err
						}
					}
					return counts, nil
				}
				if g.Rank() == 1 {
					if _, err := train(g, dies); err != nil {
						return err
					}
					g.Close()
					time.Sleep(100 * time.Millisecond)
					var err error
					if g, err = c.join(1, c.fabric.Host("spare")); err != nil {
						return err
					}
				}
				if _, err := train(g, updates); err != nil {
					return err
				}
				return g.Done(ctx)
			})
		})
	}
}

// TestSegmentConfigs refuses configurations with one function, those that differ between ranks, and a state that the
// program does not accept.
func TestSegmentConfigs(t *testing.T) {
	bubble(t, "differ", func(t *testing.T) {
		c := newCluster(t, 2, Config{})
		errs := c.each(func(g *Group) error {
			var counts counted
			half := counts.config("bsp")
			half.Restore = nil
			if _, err := NewSegment(g, "half", 8, half); err == nil || !strings.Contains(err.Error(), "only one of State and Restore") {
				return fmt.Errorf("one function: got %v", err)
			}
			cfg := counts.config("bsp")
			if g.Rank() == 1 {
				cfg.State, cfg.Restore = nil, nil
			}
			s, err := NewSegment(g, "s", 8, cfg)
			for err == nil {
				if err = s.Scatter(context.Background(), []byte{1}); err == nil {
					_, err = s.Gather(context.Background(), func(IncomingBytes) {})
				}
			}
			return err
		})
		if all := fmt.Sprint(errs); !strings.Contains(all, "elem is bytes and bytes+state") && !strings.Contains(all, "elem is bytes+state and bytes") {
			t.Errorf("got %v, want the field that differs", errs)
		}
	})
	bubble(t, "refused", func(t *testing.T) {
		c := newCluster(t, 2, Config{OnLoss: Wait})
		c.must(func(g *Group) error {
			ctx := context.Background()
			cfg := (&counted{}).config("asp")
			s, err := NewSegment(g, "s", 8, cfg)
			if err != nil {
				return err
			}
			if g.Rank() == 1 {
				err = errors.Join(s.Scatter(ctx, []byte{1}), g.Barrier(ctx))
				time.Sleep(100 * time.Millisecond) // rank 0 merges
				g.Close()
				g, e := c.join(1, c.fabric.Host("spare"))
				if err = errors.Join(err, e); err != nil {
					return err
				}
				cfg.Restore = func([]byte) error { return errors.New("of another version") }
				if _, err = NewSegment(g, "s", 8, cfg); err == nil || err.Error() != "malt: rank 1: s: restoring the values of another rank: of another version" {
					return fmt.Errorf("the state is refused: got %v", err)
				}
				return g.Done(ctx)
			}
			if err := g.Barrier(ctx); err != nil {
				return err
			}
			for range 100 {
				time.Sleep(10 * time.Millisecond)
				if _, err := s.Gather(ctx, func(IncomingBytes) {}); err != nil {
					return err
				}
			}
			return g.Done(ctx)
		})
	})
}
