// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// act plays a story on a stage of four ranks in a bubble.
func act(t *testing.T, cfg Config, story func(t *testing.T, s *stage, want [32]byte)) {
	t.Helper()
	want := expected(t, 4, toySteps)
	synctest.Test(t, func(t *testing.T) { story(t, newStage(t, 4, toySteps, cfg), want) })
}

// startAll starts the first attempt of all ranks.
func (s *stage) startAll() (all []*actor) {
	for rank := range s.total {
		all = append(all, s.start(rank, nil))
	}
	return all
}

// replace kills some ranks and starts their next attempts.
func (s *stage) replace(all []*actor, ranks ...int) {
	for _, r := range ranks {
		all[r].kill()
	}
	time.Sleep(time.Second)
	for _, r := range ranks {
		all[r] = s.start(r, nil)
	}
}

func TestSeveralAreLostAtOnce(t *testing.T) {
	for _, lost := range [][]int{{1, 2}, {0, 3}, {0, 1, 2}, {1, 2, 3}} {
		act(t, Config{}, func(t *testing.T, s *stage, want [32]byte) {
			all := s.startAll()
			time.Sleep(2500 * time.Millisecond) // in the third step
			s.replace(all, lost...)
			s.end(want, all...)
		})
	}
}

// A rank that must leave (ErrLeaving) is lost without ending the job: while the others wait for
// it to be ready, in a collective, and at the end.
func TestLeavingRankIsReplaced(t *testing.T) {
	for _, after := range []time.Duration{500 * time.Millisecond, 2500 * time.Millisecond} {
		for _, rank := range []int{0, 2} {
			act(t, Config{}, func(t *testing.T, s *stage, want [32]byte) {
				all := s.startAll()
				time.Sleep(after)
				left := all[rank]
				left.cancel(fmt.Errorf("told to end (SIGTERM): %w", ErrLeaving))
				<-left.done
				if !errors.Is(left.err, ErrLeaving) {
					t.Errorf("rank %d ended with %v, want ErrLeaving", rank, left.err)
				}
				all[rank] = s.start(rank, nil)
				s.end(want, all...)
			})
		}
	}
}

// A rank whose group is closed during a collective is lost without ending the job, too.
func TestClosedRankIsReplaced(t *testing.T) {
	for _, rank := range []int{1, 2} {
		act(t, Config{}, func(t *testing.T, s *stage, want [32]byte) {
			var all []*actor
			for r := range 4 {
				all = append(all, s.start(r, func(a *actor) {
					a.toy.at = func(step int, at string) {
						switch {
						case step != 3 || at != "exchange":
						case r == 0:
							time.Sleep(2 * time.Second)
						case r == rank:
							g := a.toy.group
							time.AfterFunc(time.Second, func() { g.Close() })
						}
					}
				}))
			}
			left := all[rank]
			<-left.done
			if !errors.Is(left.err, ErrClosed) {
				t.Errorf("rank %d ended with %v, want ErrClosed", rank, left.err)
			}
			all[rank] = s.start(rank, nil)
			s.end(want, all...)
		})
	}
}

// Close ends Run with ErrClosed, also while it waits for another attempt of a lost rank.
func TestClosedRankWaitsForNoReplacement(t *testing.T) {
	act(t, Config{}, func(t *testing.T, s *stage, _ [32]byte) {
		joined, closed := make(chan *Group, 1), make(chan error, 1)
		var all []*actor
		for rank := range s.total {
			all = append(all, s.start(rank, func(a *actor) {
				if rank == 1 {
					a.meet = func(g *Group) error {
						joined <- g
						return nil
					}
				}
			}))
		}
		g := <-joined
		time.Sleep(2500 * time.Millisecond)
		all[2].kill()
		time.AfterFunc(time.Second, func() { closed <- g.Close() })
		<-all[1].done
		if err := all[1].err; !errors.Is(err, ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
		if err := <-closed; err != nil {
			t.Errorf("Close: %v", err)
		}
		for _, a := range all {
			a.cancel(errors.New("enough"))
		}
		s.wait.Wait()
	})
}

// In a job that does not recover, ErrLeaving ends the job, and the error names the rank.
func TestLeavingRankEndsAJobWithoutRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2, toySteps, Config{})
		s.cfg.OnLoss = Abort
		all := []*actor{s.start(0, nil), s.start(1, nil)}
		time.Sleep(1500 * time.Millisecond)
		all[1].cancel(fmt.Errorf("told to end (SIGTERM): %w", ErrLeaving))
		s.wait.Wait()
		if err := all[0].err; err == nil || !strings.Contains(err.Error(), "rank 1") || !strings.Contains(err.Error(), "SIGTERM") {
			t.Errorf("rank 0 ended with %v, want rank 1 and its reason", err)
		}
	})
}

// memoryCheckpoints keeps the newest one in memory.
type memoryCheckpoints struct {
	mu     sync.Mutex
	at     client.Point
	state  []byte
	saved  []uint64
	owners []Owner
	gone   bool // the next Load finds nothing
}

func (c *memoryCheckpoints) Own(o Owner) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owners = append(c.owners, o)
}

func (c *memoryCheckpoints) Clear() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.state = client.Point{}, nil
	return nil
}

func (c *memoryCheckpoints) Newest() (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at.Step, nil
}

func (c *memoryCheckpoints) Load(step uint64, read func(io.Reader) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if gone := c.gone; gone || step != c.at.Step {
		c.gone = false
		return errors.New("it is another step")
	}
	return read(bytes.NewReader(c.state))
}

func (c *memoryCheckpoints) Save(_ context.Context, at client.Point, write func(io.Writer) error, lease func() error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.state = at, b.Bytes()
	c.saved = append(c.saved, at.Step)
	return lease()
}

// TestAllAreLost checks that a job of which all ranks are lost continues from its checkpoint, and
// starts over without one.
func TestAllAreLost(t *testing.T) {
	for _, every := range []int{0, 2} {
		var cfg Config
		kept := &memoryCheckpoints{}
		if every > 0 {
			cfg.Checkpoints, cfg.CheckpointEvery = kept, every
		}
		act(t, cfg, func(t *testing.T, s *stage, want [32]byte) {
			all := s.startAll()
			time.Sleep(3500 * time.Millisecond) // in the fourth step
			s.replace(all, 0, 1, 2, 3)
			s.end(want, all...)
			first := []int{1, 2, 3, 4, 5} // what the second attempts have worked on
			if every > 0 {
				first = []int{1, 3, 4, 5}
				if !slices.Contains(kept.saved, 2) || !slices.Contains(kept.saved, 4) || len(kept.saved) != 2 {
					t.Errorf("checkpoints were kept of steps %v, want 2 and 4", kept.saved)
				}
				if len(kept.owners) != 2 || kept.owners[0] != kept.owners[1] || kept.owners[0].Options == [32]byte{} {
					t.Errorf("they belong to %v, want the same for both attempts of rank 0", kept.owners)
				}
				if kept.state != nil {
					t.Error("the job has finished, and one is left")
				}
			}
			for _, a := range all {
				if !slices.Equal(a.toy.worked, first) {
					t.Errorf("%s has worked on %v, want %v", a.host, a.toy.worked, first)
				}
			}
		})
	}
}

// TestTheCheckpointIsGone checks that the job continues with the next attempt of rank 0 if the
// checkpoint that an attempt found at its start is removed before it is read.
func TestTheCheckpointIsGone(t *testing.T) {
	kept := &memoryCheckpoints{gone: true}
	act(t, Config{Checkpoints: kept}, func(t *testing.T, s *stage, want [32]byte) {
		all := s.startAll()
		time.Sleep(3500 * time.Millisecond) // in the fourth step
		s.replace(all, 0, 1, 2, 3)
		<-all[0].done
		if err := all[0].err; err == nil || !strings.Contains(err.Error(), "it is another step") {
			t.Fatalf("the first attempt to go on: %v", err)
		}
		all[0] = s.start(0, nil)
		s.end(want, all...)
		if !slices.Equal(all[0].toy.worked, []int{1, 4, 5}) {
			t.Errorf("rank 0 has worked on %v, want step 1, then those after the third", all[0].toy.worked)
		}
	})
}

// TestNewcomerIsLost checks that an attempt that dies while it takes the state is replaced like
// any other.
func TestNewcomerIsLost(t *testing.T) {
	act(t, Config{}, func(t *testing.T, s *stage, want [32]byte) {
		all := s.startAll()
		time.Sleep(2500 * time.Millisecond)
		all[2].kill()
		time.Sleep(time.Second)
		newcomer := s.start(2, func(a *actor) {
			a.toy.at = func(_ int, where string) {
				if where == "take" {
					a.kill()
				}
			}
		})
		<-newcomer.done
		all[2] = s.start(2, nil)
		s.end(want, all...)
	})
}

// TestStoppedRank checks that a stopped rank is lost after LostAfter. When it continues, it takes
// its rank again if that is free. Otherwise it becomes a standby or is fenced, and the job is not
// disturbed.
func TestStoppedRank(t *testing.T) {
	for rank := range 4 {
		act(t, Config{}, func(t *testing.T, s *stage, want [32]byte) {
			all := s.startAll()
			time.Sleep(2500 * time.Millisecond)
			stopped := all[rank]
			s.net.Hold(stopped.host, true)
			time.Sleep(12 * time.Second)
			all[rank] = s.start(rank, nil)
			time.Sleep(time.Second)
			s.net.Hold(stopped.host, false)
			s.wait.Wait()
			if stopped.err == nil { // it was back before the other one was ready, which then was not needed
				stopped, all[rank] = all[rank], stopped
			}
			s.end(want, all...)
			refused, fenced := errors.AsType[*RefusedError](stopped.err)
			if _, stoodBy := errors.AsType[*FinishedError](stopped.err); !stoodBy && !(fenced && refused.Code == protocol.AttemptFenced) {
				t.Errorf("the other attempt ended with %v, want that it is fenced or has stood by", stopped.err)
			}
			for r, a := range all {
				if log := s.logs[a.host].String(); r != rank && !strings.Contains(log, "was lost: silent for 10") {
					t.Errorf("the log of %s does not name the lost rank:\n%s", a.host, log)
				}
			}
		})
	}
}

// TestStandbyTakesOver checks that a standby replaces a lost rank at once, and that a standby that
// is not needed gets a FinishedError.
func TestStandbyTakesOver(t *testing.T) {
	act(t, Config{}, func(t *testing.T, s *stage, want [32]byte) {
		all := s.startAll()
		second := s.start(1, nil)
		third := s.start(1, nil)
		time.Sleep(2500 * time.Millisecond)
		all[1].kill()
		began := time.Now()
		s.wait.Wait()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the other steps took %v", took)
		}
		errs := []error{second.err, third.err}
		idle := slices.IndexFunc(errs, func(err error) bool { return err != nil })
		if idle < 0 {
			t.Fatal("both attempts say that they have done it")
		}
		if done, ok := errors.AsType[*FinishedError](errs[idle]); !ok || done.Model != want {
			t.Errorf("the attempt that was not needed: %v", errs[idle])
		}
		all[1] = []*actor{second, third}[1-idle]
		s.end(want, all...)
	})
}

// TestOtherShard checks that a replacement with other data is refused, and that the next one is
// accepted.
func TestOtherShard(t *testing.T) {
	act(t, Config{}, func(t *testing.T, s *stage, want [32]byte) {
		all := s.startAll()
		time.Sleep(2500 * time.Millisecond)
		all[3].kill()
		wrong := s.start(3, func(a *actor) { a.toy.shard = 77 })
		<-wrong.done
		if refused, ok := errors.AsType[*RefusedError](wrong.err); !ok || refused.Code != protocol.ShardDiffers {
			t.Errorf("another shard: %v", wrong.err)
		}
		all[3] = s.start(3, nil)
		s.end(want, all...)
	})
}

// TestLossesAtTheEnd checks that all files are delivered, if necessary by another attempt, when a
// rank is lost between the last step and the last file.
func TestLossesAtTheEnd(t *testing.T) {
	for rank := range 4 {
		for _, where := range []string{"finish", "deliver"} {
			if where == "deliver" && rank > 0 {
				continue
			}
			act(t, Config{}, func(t *testing.T, s *stage, want [32]byte) {
				var all []*actor
				for r := range 4 {
					all = append(all, s.start(r, func(a *actor) {
						a.toy.at = func(_ int, at string) {
							if r == rank && at == where {
								a.kill()
							}
						}
					}))
				}
				<-all[rank].done
				time.Sleep(2 * time.Second)
				all[rank] = s.start(rank, nil)
				s.wait.Wait()
				if finished(all[rank].err) {
					all[rank].err, all[rank].model = nil, want
				}
				s.end(want, all...)
			})
		}
	}
}

// TestEdgeThatDropsAllBytes drops all bytes between two ranks, so that neither sees the other
// enter the collective. The server must detect it and end the epoch. When it happens again, the
// server must evict one of the two attempts.
func TestEdgeThatDropsAllBytes(t *testing.T) {
	act(t, Config{Stall: 20 * time.Second}, func(t *testing.T, s *stage, want [32]byte) {
		all := s.startAll()
		time.Sleep(2500 * time.Millisecond)
		s.net.Part(all[0].host, all[1].host, true)
		began := time.Now()
		for i := range all[:2] {
			s.wait.Go(func() {
				<-all[i].done
				if all[i].err != nil {
					all[i] = s.start(i, nil)
				}
			})
		}
		s.end(want, all...)
		if took := time.Since(began); took > 5*time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}
