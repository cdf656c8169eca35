// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"context"
	"net"
	"sync"
	"time"
)

// interruptible is a connection that the end of a context interrupts for good. Its user moves the deadline
// before every message. Such a deadline must not replace the one in the past by which the end of the
// context interrupts reads and writes.
type interruptible struct {
	net.Conn

	mu   sync.Mutex
	over bool // the context has ended
}

// newInterruptible returns c as a connection that the end of ctx interrupts. stop releases it from ctx.
func newInterruptible(ctx context.Context, c net.Conn) (_ net.Conn, stop func() bool) {
	i := &interruptible{Conn: c}
	return i, context.AfterFunc(ctx, i.interrupt)
}

func (i *interruptible) interrupt() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.over = true
	i.Conn.SetDeadline(time.Unix(1, 0))
}

// SetDeadline does nothing after the end of the context, as the two following methods.
func (i *interruptible) SetDeadline(t time.Time) error { return i.set(i.Conn.SetDeadline, t) }

func (i *interruptible) SetReadDeadline(t time.Time) error { return i.set(i.Conn.SetReadDeadline, t) }

func (i *interruptible) SetWriteDeadline(t time.Time) error { return i.set(i.Conn.SetWriteDeadline, t) }

func (i *interruptible) set(deadline func(time.Time) error, t time.Time) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.over {
		return nil
	}
	return deadline(t)
}
