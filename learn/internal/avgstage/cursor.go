// SPDX-License-Identifier: Apache-2.0

package avgstage

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
)

// cursor reads passes in parts. A pass stays open between two parts.
type cursor struct {
	read  *examples.Reader
	visit examples.Visit

	next   func() (struct{}, bool) // continues the open pass; nil: none is open
	stop   func()
	cancel context.CancelCauseFunc
	err    error // of the open pass

	pass, at int // examples visited or skipped in the open pass
	skip     int // examples that are read and not visited
	end      int // examples after which the pass is suspended
}

// whole is the end of the last part of a pass.
const whole = math.MaxInt

// errClosed ends the reading of a pass that is not needed any longer.
var errClosed = errors.New("avgstage: the pass was closed")

// part visits the examples from number from to number to-1 of a pass. If the last part ended elsewhere, as in a rank that
// replaces another, the pass is opened and the examples before from are skipped.
func (c *cursor) part(ctx context.Context, pass, from, to int) error {
	if c.next == nil || c.pass != pass || c.at != from {
		c.close()
		c.open(ctx, pass, from)
	}
	c.end = to
	// The pass outlives the context of this part, and ends with it if that is cancelled.
	defer context.AfterFunc(ctx, func() { c.cancel(context.Cause(ctx)) })()
	if _, more := c.next(); more {
		return nil
	}
	err, ended := c.err, c.at == to || to == whole
	c.close()
	if err == nil && !ended {
		err = fmt.Errorf("%s: pass %d ended before its example %d, which was there when the examples were counted: has the data changed?", c.read.Name, pass+1, to+1)
	}
	return err
}

// open opens a pass.
func (c *cursor) open(ctx context.Context, pass, from int) {
	ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	c.pass, c.at, c.skip, c.err = pass, 0, from, nil
	c.next, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.err = c.read.Pass(ctx, pass, func(b *feature.Batch, ex *feature.Example, held bool) error {
			for c.at == c.end { // more than once where a part is empty
				if !c.pause(yield) {
					return errClosed
				}
			}
			if c.at++; c.at <= c.skip {
				return nil
			}
			return c.visit(b, ex, held)
		})
	})
}

// pause ends a part. Meanwhile the guard of the reader, which it holds during a visit, is free.
func (c *cursor) pause(yield func(struct{}) bool) bool {
	if g := c.read.Guard; g != nil {
		g.Unlock()
		defer g.Lock()
	}
	return yield(struct{}{})
}

// close ends the open pass, if there is one.
func (c *cursor) close() {
	if c.next == nil {
		return
	}
	c.stop()
	c.cancel(errClosed)
	c.next = nil
}
