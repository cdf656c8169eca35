// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// checkRefused checks that a collective has failed with an error that names the call to make.
func checkRefused(t *testing.T, when string, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: a collective succeeded", when)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: the error lacks %q: %v", when, w, err)
		}
	}
}

// TestCollectiveBeforeTheStateIsFetched checks that a collective of a replacement fails before
// Run, and that Run then fetches the state.
func TestCollectiveBeforeTheStateIsFetched(t *testing.T) {
	act(t, Config{}, func(t *testing.T, s *stage, want [32]byte) {
		all := s.startAll()
		time.Sleep(2500 * time.Millisecond) // in the third step
		all[2].kill()
		all[2] = s.start(2, func(a *actor) {
			a.meet = func(g *Group) error {
				if err := g.Ready(a.ctx, toyShard(2)); err != nil {
					return err
				}
				for range 2 {
					err := g.Barrier(a.ctx)
					checkRefused(t, "before Run", err, "rank 2", "lacks the state of step 2", "call Group.Run")
					if again, is := errors.AsType[*InterruptedError](err); is {
						t.Errorf("the error is %v, which asks for a repetition", again)
					}
				}
				return nil
			}
		})
		s.end(want, all...)
	})
}

// TestCollectiveInTheEnding checks that collectives of a replacement fail, before and after Run,
// if the other ranks have completed all steps.
func TestCollectiveInTheEnding(t *testing.T) {
	act(t, Config{}, func(t *testing.T, s *stage, want [32]byte) {
		all := s.loseInTheEnding(2)
		all[2] = s.start(2, func(a *actor) {
			a.meet = func(g *Group) error {
				if err := g.Ready(a.ctx, toyShard(2)); err != nil {
					return err
				}
				checkRefused(t, "before Run", g.Barrier(a.ctx), "rank 2", "lacks the state of step 5", "call Group.Run")
				return nil
			}
			a.toy.at = func(_ int, at string) {
				if at == "finish" {
					checkRefused(t, "after Run", a.toy.group.Barrier(a.ctx), "rank 2", "its last step, 5,", "call Group.Finish")
				}
			}
		})
		s.end(want, all...)
	})
}
