// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestASpareTakesTheRank kills each rank at several places of a step. A spare must take the rank,
// and the next lost rank goes to the next spare.
func TestASpareTakesTheRank(t *testing.T) {
	for victim := range 4 {
		for _, at := range []struct {
			step  int
			where string
		}{{1, "work"}, {1, "commit"}, {3, "exchange"}, {toySteps, "between"}, {toySteps + 1, "finish"}} {
			act(t, Config{}, func(t *testing.T, s *stage, want [32]byte) {
				var all []*actor
				for r := range 4 {
					all = append(all, s.start(r, func(a *actor) {
						a.toy.at = func(step int, where string) {
							if r == victim && step == at.step && where == at.where {
								a.kill()
							}
						}
					}))
				}
				first := s.start(-1, nil)
				time.Sleep(time.Millisecond)
				second := s.start(-1, nil)
				<-all[victim].done
				all[victim] = first
				s.wait.Wait()
				if finished(first.err) && at.step > toySteps && victim > 0 {
					first.err, first.model = nil, want // a rank that owes nothing is not replaced any more
				} else if first.rank != victim {
					t.Errorf("rank %d in %s of step %d: the spare has rank %d", victim, at.where, at.step, first.rank)
				}
				s.end(want, all...)
				if !stoodBy(second) || second.rank != -1 || !strings.Contains(second.err.Error(), "this spare is not needed") {
					t.Errorf("the second spare: rank %d, %v", second.rank, second.err)
				}
			})
		}
	}
}

// TestSparesForSeveral loses two ranks at once, then a spare that has taken a rank. A spare works
// on its first step, whose contribution is not used, and on the steps after the loss.
func TestSparesForSeveral(t *testing.T) {
	act(t, Config{}, func(t *testing.T, s *stage, want [32]byte) {
		all := s.startAll()
		var spares []*actor
		for range 3 {
			spares = append(spares, s.start(-1, nil))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(2500 * time.Millisecond) // in the third step
		all[1].kill()
		all[3].kill()
		time.Sleep(1500 * time.Millisecond)
		spares[0].kill()
		s.wait.Wait()
		ranks := []int{spares[0].rank, spares[1].rank, spares[2].rank}
		if ranks[0] != ranks[2] || ranks[0]+ranks[1] != 4 {
			t.Errorf("the spares have had ranks %v, want 1 and 3, and the first one's again", ranks)
		}
		all[spares[1].rank], all[spares[2].rank] = spares[1], spares[2]
		s.end(want, all...)
		for _, a := range spares[1:] {
			if w := a.toy.worked; len(w) > 4 || w[0] != 1 || slices.Contains(w, 2) {
				t.Errorf("%s has worked on %v", a.host, w)
			}
		}
	})
}

// TestSparesWithCheckpoint loses all ranks: as many spares continue from the checkpoint.
func TestSparesWithCheckpoint(t *testing.T) {
	kept := &memoryCheckpoints{}
	act(t, Config{Checkpoints: kept, CheckpointEvery: 2}, func(t *testing.T, s *stage, want [32]byte) {
		all := s.startAll()
		var spares []*actor
		for range 4 {
			spares = append(spares, s.start(-1, nil))
		}
		time.Sleep(3500 * time.Millisecond) // in the fourth step
		for _, a := range all {
			a.kill()
		}
		s.end(want, spares...)
		for _, a := range spares {
			if !slices.Equal(a.toy.worked, []int{1, 3, 4, 5}) {
				t.Errorf("%s, rank %d, has worked on %v", a.host, a.rank, a.toy.worked)
			}
		}
	})
}

// TestSpareThatMayNotBe checks that a job that replaces no ranks refuses spares.
func TestSpareThatMayNotBe(t *testing.T) {
	for _, cfg := range []Config{
		{Server: "server:1", Total: 2},
		{Server: "server:1", Total: 2, OnLoss: Shrink},
		{Server: "server:1", OnLoss: Wait},
	} {
		cfg.Spare = true
		if g, err := Join(ctx, cfg); err == nil {
			t.Errorf("%+v: no error", cfg)
			g.Close()
		}
	}
}
