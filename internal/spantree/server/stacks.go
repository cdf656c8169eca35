// SPDX-License-Identifier: Apache-2.0

package server

import (
	"runtime"
	"sync"
)

// stacks runs functions on goroutines of their own, and keeps a few of these for later functions:
// a new goroutine's stack would have to grow, by copying, for each frame. It is safe for
// concurrent use.
type stacks struct {
	tasks chan func() // to idle goroutines
	work  sync.WaitGroup

	mu   sync.Mutex
	quit chan struct{} // closed: the idle goroutines end
	idle int           // their number
	used bool          // a goroutine has become idle since the last trim
	over bool          // close was called: no goroutine stays idle
}

func newStacks() *stacks { return &stacks{tasks: make(chan func()), quit: make(chan struct{})} }

// maxIdle is the number of goroutines that are kept.
func maxIdle() int { return 2 * runtime.GOMAXPROCS(0) }

// start runs f and does not wait for its end.
func (s *stacks) start(f func()) {
	select {
	case s.tasks <- f:
	default:
		s.work.Go((&stack{s, f}).use)
	}
}

// stack is a goroutine of a stacks, with its first function.
type stack struct {
	of *stacks
	f  func()
}

// use runs functions until the goroutine is not kept any more.
func (s *stack) use() {
	for s.f != nil {
		s.f()
		s.f = s.of.next()
	}
}

// run runs f and waits for its end.
func (s *stacks) run(f func()) {
	var done sync.WaitGroup
	done.Add(1)
	s.start(func() {
		defer done.Done()
		f()
	})
	done.Wait()
}

// next waits for the next function of an idle goroutine; nil: the goroutine ends.
func (s *stacks) next() (f func()) {
	s.mu.Lock()
	keep, quit := !s.over && s.idle < maxIdle(), s.quit
	if keep {
		s.idle++
	}
	s.used = true
	s.mu.Unlock()
	if !keep {
		return nil
	}
	select {
	case f = <-s.tasks:
	case <-quit:
	}
	s.mu.Lock()
	s.idle--
	s.mu.Unlock()
	return f
}

// trim ends the idle goroutines if nothing has run since the last call.
func (s *stacks) trim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.used && s.idle > 0 && !s.over {
		close(s.quit)
		s.quit = make(chan struct{})
	}
	s.used = false
}

// close ends the idle goroutines and waits for all. Nothing is started afterwards. It is
// idempotent.
func (s *stacks) close() {
	s.mu.Lock()
	if !s.over {
		s.over = true
		close(s.quit)
	}
	s.mu.Unlock()
	s.work.Wait()
}
