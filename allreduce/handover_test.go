// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// paced starts the first attempt of all ranks. Work takes the given time on each; if it is
// negative, only the first Work takes a second. A shard has as many bytes as milliseconds.
func (s *stage) paced(pauses, shards []time.Duration) (all []*actor) {
	for rank := range s.total {
		all = append(all, s.start(rank, func(a *actor) {
			if a.toy.pause = pauses[rank]; a.toy.pause < 0 {
				a.toy.pause = time.Second
				a.toy.at = func(step int, where string) {
					if step == 2 && where == "work" {
						a.toy.pause = -pauses[rank]
					}
				}
			}
			a.toy.bytes = uint64(shards[rank] / time.Millisecond)
		}))
	}
	return all
}

// stoodBy reports whether an attempt ended as a standby that was not needed.
func stoodBy(a *actor) bool {
	_, ok := errors.AsType[*FinishedError](a.err)
	return ok
}

// TestTheFasterAttemptIsKept checks that a faster attempt replaces a slow one that is still in
// its first step.
func TestTheFasterAttemptIsKept(t *testing.T) {
	act(t, Config{SlowFactor: 2}, func(t *testing.T, s *stage, want [32]byte) {
		second := time.Second
		all := s.paced([]time.Duration{second, second, 10 * second, second}, []time.Duration{second, second, second, second})
		slow := all[2]
		time.Sleep(2 * second)
		all[2] = s.start(2, nil)
		s.end(want, all...)
		if !stoodBy(slow) {
			t.Errorf("the slow attempt ended with %v, want that it has stood by", slow.err)
		}
		if worked := slow.toy.worked; !slices.Equal(worked, []int{1}) {
			t.Errorf("the slow attempt has worked on %v", worked)
		}
	})
}

// TestAStragglerIsHandedOver checks that a standby replaces a slow rank at the end of a step, and
// takes the state.
func TestAStragglerIsHandedOver(t *testing.T) {
	for _, later := range []bool{false, true} {
		act(t, Config{SlowFactor: 2}, func(t *testing.T, s *stage, want [32]byte) {
			second := time.Second
			pauses := []time.Duration{second, second, 10 * second, second}
			if later {
				pauses[2] = -10 * second // from its second step on
			}
			all := s.paced(pauses, []time.Duration{second, second, second, second})
			slow := all[2]
			time.Sleep(15 * second)
			all[2] = s.start(2, nil)
			s.end(want, all...)
			if !stoodBy(slow) {
				t.Errorf("the slow attempt ended with %v, want that it has stood by", slow.err)
			}
			if worked := all[2].toy.worked; len(worked) < 2 || worked[0] != 1 || !slices.Contains(worked, 5) || slices.Contains(worked, 2) {
				t.Errorf("the attempt that took over has worked on %v, want the first step, and the last ones", worked)
			}
			if log := s.logs[all[0].host].String(); !strings.Contains(log, "its steps take 10.0 times as long as the median") {
				t.Errorf("rank 0 does not say why:\n%s", log)
			}
		})
	}
}

// TestLargerShardIsNoStraggler checks that neither a rank with a larger shard nor one with a
// tiny shard and a fixed cost counts as slow.
func TestLargerShardIsNoStraggler(t *testing.T) {
	act(t, Config{SlowFactor: 2}, func(t *testing.T, s *stage, want [32]byte) {
		second := time.Second
		pauses := []time.Duration{second / 10, second, 3 * second, second}
		all := s.paced(pauses, []time.Duration{time.Millisecond, second, 3 * second, second})
		time.Sleep(4 * second)
		faster := func(rank int) *actor {
			return s.start(rank, func(a *actor) {
				a.toy.pause = time.Millisecond
				a.toy.bytes = all[rank].toy.bytes
			})
		}
		idle := []*actor{faster(0), faster(2)}
		s.end(want, all...)
		for _, a := range idle {
			if !stoodBy(a) {
				t.Errorf("%s ended with %v, want that it has stood by", a.host, a.err)
			}
		}
	})
}
