// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// TestAnyLosses checks for jobs whose epochs end at random times, with and without the loss of a
// rank, that every rank ends with the state of a job without faults, and that no attempt does
// the work of a step twice unless a state that it took has voided it.
func TestAnyLosses(t *testing.T) {
	kinds := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		total := rapid.IntRange(1, 5).Draw(rt, "total")
		steps := uint64(rapid.IntRange(1, 6).Draw(rt, "steps"))
		seed := rapid.Uint64().Draw(rt, "seed")
		type event struct{ after, lost int }
		events := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) event {
			return event{rapid.IntRange(1, 120).Draw(rt, "ms"), rapid.IntRange(-1, total-1).Draw(rt, "lost")}
		}), 0, 8).Draw(rt, "events")
		var w *world
		synctest.Test(t, func(t *testing.T) {
			w = newWorld(total, steps, seed)
			for _, e := range events {
				time.Sleep(time.Duration(e.after) * time.Millisecond)
				w.interrupt(e.lost)
			}
			limit := time.AfterFunc(time.Minute, func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				for rank, a := range w.attempts {
					w.failures = append(w.failures, fmt.Errorf("no end: rank %d at %+v: %s", rank, a.steps.at(), a.steps.Waits()))
				}
				w.end()
			})
			w.runners.Wait()
			limit.Stop()
		})
		for _, err := range w.failures {
			rt.Error(err)
		}
		for _, kind := range w.transfers {
			kinds[strings.Fields(kind)[0]]++
		}
		want := expected(steps, total)
		for rank, a := range w.attempts {
			if a.m.state != want || a.m.step != steps {
				rt.Errorf("attempt %d of rank %d: got state %x after step %d, want %x after step %d", a.number, rank, a.m.state, a.m.step, want, steps)
			}
			if work := slices.Clone(a.m.worked); !a.m.took && len(slices.Compact(work)) != len(a.m.worked) {
				rt.Errorf("rank %d has worked on steps %v", rank, a.m.worked)
			}
		}
	})
	if testing.Short() {
		t.Log("sampled: a fifth of the jobs, which may not include both kinds of transfers")
		return
	}
	for _, kind := range []string{"results", "state"} {
		if kinds[kind] == 0 {
			t.Errorf("no %s were taken in any job", kind)
		}
	}
}

// TestEveryEndedEpochStaysSealed checks that an exchange which returns after two epochs have ended
// does not complete its step: the server has resumed the job twice without it.
func TestEveryEndedEpochStaysSealed(t *testing.T) {
	w := newWorld(1, 0, 1)
	w.runners.Wait()
	s := w.newAttempt(0, 2).steps
	first, second := protocol.Epoch{Term: 1, N: 1}, protocol.Epoch{Term: 1, N: 2}
	s.Begin(&client.Wiring{Epoch: first})
	s.Seal(first)
	s.Seal(second)
	step := client.Point{Epoch: first, Step: 1}
	if s.complete(step, first) {
		t.Error("a step was completed in an epoch that had ended before the last one")
	}
	third := &client.Wiring{Epoch: protocol.Epoch{Term: 1, N: 3}}
	s.Begin(third)
	if step.Epoch = third.Epoch; !s.complete(step, third.Epoch) {
		t.Error("no step can be completed in the epoch that follows")
	}
	if got := s.Position().Completed; got != step {
		t.Errorf("got position %v, want %v", got, step)
	}
	s.Seal(third.Epoch)
	s.Begin(&client.Wiring{Epoch: third.Epoch, Ending: true})
	if !s.complete(step, third.Epoch) {
		t.Error("a rank cannot take what it lacks in the ending epoch")
	}
}
