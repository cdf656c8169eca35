// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
)

const (
	// dialTimeout limits one attempt to connect to another rank. A packet filter that drops
	// packets would keep the system busy for minutes.
	dialTimeout = 5 * time.Second
	// RedialAfter is the pause between two attempts to connect to a rank.
	RedialAfter = 200 * time.Millisecond
	// logEvery is the number of attempts of which one is logged: one in about 5 s.
	logEvery = 25
)

// dialOnce makes one attempt to connect to another rank.
func dialOnce(ctx context.Context, n transport.Network, address string) (net.Conn, error) {
	once, cancel := context.WithTimeoutCause(ctx, dialTimeout, fmt.Errorf("no answer within %v", dialTimeout))
	defer cancel()
	c, err := n.Dial(once, address)
	if err != nil && once.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("dial %s: %w", address, context.Cause(once))
	}
	return c, err
}

// dial connects to a rank and installs the connection. It retries until ctx ends or the rank
// is found to be unreachable.
func (e *Epoch) dial(ctx context.Context, rank int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.ctx, func() { cancel(ErrOver) })()
	host := e.wiring.Parent
	if !e.wiring.Stream {
		host = e.wiring.Address(rank)
	}
	reached := time.Now() // the last time that an attempt found a listener
	for tries := 1; ; tries++ {
		bare, err := dialOnce(ctx, e.cfg.Network, host)
		c := Conn{Conn: bare, Host: host}
		if err == nil {
			reached = time.Now()
		}
		if err == nil && !e.wiring.Stream {
			if c, err = e.dialHandshake(ctx, bare, rank); err != nil {
				bare.Close()
			}
		}
		if err == nil {
			if err = e.install(rank, c); err != nil {
				c.Close()
			}
			return err
		}
		if ctx.Err() == nil {
			if tries%logEvery == 1 {
				e.logUnreached(rank, "rank", e.cfg.Rank, "address", host, "tries", tries, "error", err)
			}
			if final := e.notReached(rank, tries, time.Since(reached), err); final != nil {
				return final
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w, and %d tries: %w%s", context.Cause(ctx), tries, err, e.advice(rank, e.cfg.Rank))
		case <-time.After(RedialAfter):
		}
	}
}

// logUnreached logs a connection that does not open. In vw's tree the parent has no known rank.
func (e *Epoch) logUnreached(rank int, fields ...any) {
	if rank == e.parent() {
		e.cfg.Log.Warn("cannot reach the parent in the tree yet", fields...)
		return
	}
	e.cfg.Log.Warn("cannot reach a rank yet", append(fields, "to", rank)...)
}

// Reach starts to open the connection to a rank, if this rank is the one that connects. If it
// is not open within the time, or the rank is found to be unreachable, fail is called with the
// reason. within 0 is no limit.
func (e *Epoch) Reach(rank int, within time.Duration, fail func(err error)) {
	if !e.dials(e.cfg.Rank, rank) {
		return
	}
	e.work.Go(func() {
		ctx := e.ctx
		if within > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, within, fmt.Errorf("no answer within %v", within))
			defer cancel()
		}
		if err := e.dial(ctx, rank); err != nil && e.ctx.Err() == nil {
			fail(err)
		}
	})
}
