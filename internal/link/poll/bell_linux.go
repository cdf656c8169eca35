// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"context"
	"sync/atomic"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// bell wakes the goroutine in Carry, and the watcher. The caller sleeps in four steps:
//
//	b.prepare()        // from here on a wake is noted
//	…                  // the caller tries everything once more
//	if b.commit() {    // false: there was a wake since prepare
//		poll.Wait(…)   // a wake ends the wait
//	}
//	b.wakeUp()
//
// An event first changes the state that the caller looks at, then it calls wake. If wake finds the
// caller before prepare, the caller sees the change in the second step. After prepare it ends the
// sleep. So no wake-up is lost, and a wake while the caller is awake costs one atomic load.
type bell struct {
	*transport.Waker
	state atomic.Uint32 // of the caller

	// Of the goroutine that holds io.
	cancelled <-chan struct{} // of the context whose end rings the bell; nil: of none
	unhook    func() bool     // undoes that; nil: nothing to undo
}

// The states of the caller.
const (
	awake     uint32 = iota // it is not about to sleep, or not in Carry
	preparing               // between prepare and commit
	asleep                  // after commit
	woken                   // a wake has come since prepare
)

// prepare begins a sleep.
func (b *bell) prepare() { b.state.Store(preparing) }

// commit reports whether the caller may wait: there was no wake since prepare.
func (b *bell) commit() bool { return b.state.CompareAndSwap(preparing, asleep) }

// wakeUp ends a sleep.
func (b *bell) wakeUp() { b.state.Store(awake) }

// wake ends the sleep of the caller, if it sleeps or is about to.
func (b *bell) wake() {
	for {
		s := b.state.Load()
		switch {
		case s == awake || s == woken:
			return
		case !b.state.CompareAndSwap(s, woken):
			continue // it has just gone to sleep, or woken up
		case s == asleep:
			b.Wake()
		}
		return
	}
}

// hook calls wake at the end of ctx. Most calls of a rank have the same context: then hook does nothing.
func (b *bell) hook(ctx context.Context) {
	done := ctx.Done()
	if done == b.cancelled {
		return
	}
	if b.unhook != nil {
		b.unhook()
	}
	b.cancelled, b.unhook = done, nil
	if done != nil {
		b.unhook = context.AfterFunc(ctx, b.wake)
	}
}
