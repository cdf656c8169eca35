// SPDX-License-Identifier: Apache-2.0

package server

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// All functions run, run waits for its function, few goroutines are kept, and none after an idle
// tick or after close.
func TestStacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStacks()
		idle := func() int {
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.idle
		}
		var ran atomic.Int64
		var callers sync.WaitGroup
		blocked := make(chan struct{})
		for range 100 {
			callers.Go(func() {
				done := false
				s.run(func() {
					<-blocked
					ran.Add(1)
					done = true
				})
				if !done {
					t.Error("run has returned before its function")
				}
			})
		}
		synctest.Wait() // all run at the same time
		close(blocked)
		callers.Wait()
		if n := ran.Load(); n != 100 {
			t.Errorf("%d functions have run, want 100", n)
		}
		if n := idle(); n != maxIdle() {
			t.Errorf("%d goroutines are kept, want %d", n, maxIdle())
		}
		s.trim()
		if n := idle(); n != maxIdle() {
			t.Errorf("%d goroutines are kept after a tick with work, want %d", n, maxIdle())
		}
		s.run(func() {})
		s.trim()
		if n := idle(); n != maxIdle() {
			t.Errorf("%d goroutines are kept after another tick with work, want %d", n, maxIdle())
		}
		s.trim()
		if n := idle(); n != 0 {
			t.Errorf("%d goroutines are kept after a tick without work, want none", n)
		}
		s.run(func() { ran.Add(1) })
		s.start(func() { ran.Add(1) })
		s.close() // waits for all
		s.close()
		if n := ran.Load(); n != 102 {
			t.Errorf("%d functions have run, want 102", n)
		}
		if n := idle(); n != 0 {
			t.Errorf("%d goroutines are kept after close, want none", n)
		}
	})
}
