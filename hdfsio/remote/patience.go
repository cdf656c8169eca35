// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"fmt"
	"time"
)

// After each failed attempt the delay before the next one doubles, within these limits.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// persist retries until success, a permanent error, the end of Patience, or the
// end of ctx.
func (f *FS) persist(ctx context.Context, op, name string, try func() error) error {
	return f.retry(ctx, op, name, &waiter{}, try)
}

// retry is persist with a waiter, whose done restarts Patience.
func (f *FS) retry(ctx context.Context, op, name string, w *waiter, try func() error) error {
	for {
		if err := ctx.Err(); err != nil {
			return f.error(op, name, context.Cause(ctx))
		}
		err := try()
		if err == nil {
			return nil
		}
		if werr := w.wait(ctx, f, op, name, err); werr != nil {
			return werr
		}
	}
}

// waiter delays attempts, each time longer.
type waiter struct {
	begun time.Time // time of the first failure since the last progress
	pause time.Duration
}

// wait returns nil when the next attempt is due, or an error if there will be none.
func (w *waiter) wait(ctx context.Context, f *FS, op, name string, err error) error {
	if !Transient(err) {
		return f.error(op, name, err)
	}
	now := time.Now()
	if w.begun.IsZero() {
		w.begun, w.pause = now, firstPause
	}
	left := f.cfg.Patience - now.Sub(w.begun)
	if left <= 0 {
		return f.error(op, name, fmt.Errorf("%w (tried for %v)", err, now.Sub(w.begun).Round(time.Second)))
	}
	f.cfg.Log.Warn("cannot "+op+" a file; retrying", "file", name, "by", f.b.String(), "why", err.Error(), "for", left.Round(time.Second))
	pause := time.NewTimer(min(w.pause, left))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return f.error(op, name, fmt.Errorf("%w, while waiting to retry after: %w", context.Cause(ctx), err))
	}
	w.pause = min(2*w.pause, lastPause)
	return nil
}

// done records progress: a success, or a failed attempt that got further than those before it.
func (w *waiter) done() { *w = waiter{} }
