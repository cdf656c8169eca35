// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"runtime"
	"testing"
	"time"
)

// watches waits until the watcher has ended a look at the links after which is holds. is is called
// with io held.
func (r *rank) watches(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(wakeLimit); ; time.Sleep(time.Millisecond) {
		r.loop.io.Lock()
		ok := is()
		r.loop.io.Unlock()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("rank %d: %s has not come about within %v", r.set.Rank, what, wakeLimit)
		}
	}
}

// sleeps waits until the goroutine in Carry sleeps.
func (r *rank) sleeps() {
	for !r.loop.bell.sleeping() {
		runtime.Gosched()
	}
}

// TestTheWatcherLooksAgain: a watcher that has set a link aside, or has asked for the wake-ups of a ring,
// notices the failure of the peer after the work that has read from the link.
func TestTheWatcherLooksAgain(t *testing.T) {
	one := [][]byte{make([]byte, 1000)}
	held := func(t *testing.T, a, b *rank) {
		b.begin([][][]byte{0: one}, []int{0: 0}) // a has no place for it yet
		b.finish(t.Context())
		a.watches(t, "a link set aside", func() bool { return a.loop.conns[0].held })
	}
	rings := func(t *testing.T, a, b *rank) {
		for round := range 4 { // the link turns to a ring
			exchange(t, a, b, round, 50_000)
		}
		a.watches(t, "a wait for the ring", func() bool { return a.loop.partial && !a.loop.rung })
	}
	for _, c := range []struct {
		name   string
		shared bool
		before func(t *testing.T, a, b *rank)
		chunks int  // of a's work
		idle   bool // the work does not call Carry
	}{
		{"a link is set aside", false, held, 1, false},
		{"a link is set aside, and the work sleeps", false, held, 2, false},
		{"a link is set aside, and the work does not use it", false, held, 2, true},
		{"a ring, and the work sleeps", true, rings, 1, false},
		{"a ring, and the work has used up its wake-up", true, func(t *testing.T, a, b *rank) {
			rings(t, a, b)
			a.loop.io.Lock()
			disarmRings(a.loop.conns) // as a sleep does
			a.loop.io.Unlock()
		}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := newPair(t, options{shared: c.shared})
			c.before(t, a, b)
			a.begin(make([][][]byte, 2), []int{1: c.chunks})
			if !c.idle {
				ended := make(chan struct{})
				go func() {
					a.finish(t.Context())
					close(ended)
				}()
				if c.chunks > 1 || c.shared && c.chunks > 0 {
					a.sleeps()
					b.begin([][][]byte{0: one}, []int{0: 0})
					b.finish(t.Context())
				}
				a.awaitEnd(t, ended, "the work")
			}
			b.seal("no data")
			select {
			case err := <-a.fail:
				if err.Error() != "no data" {
					t.Errorf("got %v", err)
				}
			case <-time.After(wakeLimit):
				t.Errorf("the failure of the peer was not noticed within %v", wakeLimit)
			}
		})
	}
}
