// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Calls makes the calls on one open file, one at a time, on another goroutine, which starts
// with the first call and ends with Last. Slow calls are logged. A call that exceeds its limit
// is abandoned to its goroutine. Time in which the process is stopped does not count. A call
// that returns in time does not allocate.
type Calls struct {
	w      *Watched
	name   string
	within time.Duration   // limit of each call; 0: none
	ctx    context.Context // its end ends waits

	mu     sync.Mutex // held during a call
	caller *caller    // nil: none has been started, or Last has ended it
	timer  *time.Timer
	left   error // why a call was abandoned; nil: none was
	ended  bool  // Last was called
}

// Calls returns the caller for one open file, with the limit of w. The end of ctx also ends a
// wait.
func (w *Watched) Calls(ctx context.Context, name string) *Calls { return w.calls(ctx, name, w.Within) }

func (w *Watched) calls(ctx context.Context, name string, within time.Duration) *Calls {
	return &Calls{w: w, name: name, within: within, ctx: ctx}
}

// Do runs f, which does op to the file. If f exceeds its limit, Do returns an [*Error] that
// unwraps to [ErrHung] while f still runs: memory that f uses must not be reused. All later
// calls of Do return that error.
func (c *Calls) Do(op string, f func() error) error {
	_, err := c.call(op, f)
	return err
}

// call is Do. It also reports whether f has been called and has returned.
func (c *Calls) call(op string, f func() error) (returned bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.left != nil:
		return false, c.left
	case c.ctx.Err() != nil:
		return false, newError(op, c.name, context.Cause(c.ctx), "")
	}
	err = c.do(c.ctx.Done(), op, f)
	return c.left == nil, err
}

// Last runs f, which closes the file, as the last call, even after the end of the context. If
// an earlier call was abandoned, Last returns nil at once, and f runs when that call has
// returned. A second Last does nothing.
func (c *Calls) Last(op string, f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil
	}
	c.ended = true
	if c.left != nil {
		c.caller.finally(f)
		return nil
	}
	err := c.do(nil, op, f)
	if c.left == nil {
		close(c.caller.queue)
		c.caller = nil
	}
	return err
}

// do runs f until it returns, ended is closed, or the limit is reached.
func (c *Calls) do(ended <-chan struct{}, op string, f func() error) error {
	pause := c.pause(0)
	if c.caller == nil {
		c.caller = newCaller()
	}
	if c.timer == nil {
		c.timer = time.NewTimer(pause)
	} else {
		c.timer.Reset(pause)
	}
	defer c.timer.Stop()
	c.caller.queue <- f
	for waited := time.Duration(0); ; {
		select {
		case err := <-c.caller.done:
			return err
		case asked := <-c.caller.asks:
			c.timer.Stop()
			c.caller.answers <- asked()
			pause = c.pause(waited)
			c.timer.Reset(pause)
		case <-ended:
			return c.leave(newError(op, c.name, context.Cause(c.ctx), ""))
		case <-c.timer.C:
			if waited += pause; c.within > 0 && waited >= c.within {
				return c.leave(newError(op, c.name, fmt.Errorf("%w (after %v)", ErrHung, waited), "check its disk or server"))
			}
			if c.w.Log != nil {
				c.w.Log.Warn("waiting for the file system", "to", op, "file", c.name, "since", waited)
			}
			pause = c.pause(waited)
			c.timer.Reset(pause)
		}
	}
}

// pause returns the time to the next log line or to the limit of a call, whichever comes first.
func (c *Calls) pause(waited time.Duration) time.Duration {
	if c.within > 0 {
		return min(sayHung, c.within-waited)
	}
	return sayHung
}

func (c *Calls) leave(err error) error {
	c.left = err
	close(c.caller.left)
	return err
}

// caller is a goroutine that makes calls.
type caller struct {
	queue chan func() error // closed after the last call
	done  chan error
	left  chan struct{} // closed when the current call is abandoned

	asks    chan func() error // functions for the goroutine that waits for the current call, see ask
	answers chan error

	mu       sync.Mutex
	returned bool         // the abandoned call has returned
	last     func() error // to be called then; nil: none
}

func newCaller() *caller {
	c := &caller{
		queue: make(chan func() error), done: make(chan error), left: make(chan struct{}),
		asks: make(chan func() error), answers: make(chan error),
	}
	go c.run()
	return c
}

func (c *caller) run() {
	for f := range c.queue {
		err := f()
		select {
		case c.done <- err:
		case <-c.left:
			c.mu.Lock()
			c.returned = true
			last := c.last
			c.mu.Unlock()
			if last != nil {
				_ = last() // the file was abandoned: no caller is left to report it to
			}
			return
		}
	}
}

// errLeft is the error of ask in a call that was abandoned.
var errLeft = errors.New("the call was abandoned")

// ask lets the goroutine that waits for the current call run f, and returns its error. Meanwhile the limit of the call
// stands still. In a call that was abandoned, f is not run, and ask returns errLeft.
func (c *caller) ask(f func() error) error {
	select {
	case c.asks <- f:
		return <-c.answers
	case <-c.left:
		return errLeft
	}
}

// finally runs f when the abandoned call has returned.
func (c *caller) finally(f func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.returned:
		c.last = f
	default:
		go func() { _ = f() }() // it may hang again
	}
}
