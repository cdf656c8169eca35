// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"fmt"
	"time"
)

// Of two tries that fail, the second comes after a pause that doubles each time.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// persist tries until there is success, or no hope, or no patience left.
func (f *FS) persist(op, name string, try func() error) error {
	var w waiter
	for {
		err := try()
		if err == nil {
			return nil
		}
		if werr := w.wait(f, op, name, err); werr != nil {
			return werr
		}
	}
}

// waiter waits between tries, longer and longer.
type waiter struct {
	begun time.Time // of the first failure since the last success
	pause time.Duration
}

// wait returns when it is time for another try; an error says that there is none.
func (w *waiter) wait(f *FS, op, name string, err error) error {
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
	f.cfg.Log.Warn("cannot "+op+" a file now: trying again", "file", name, "by", f.b.String(), "why", err.Error(), "for", left.Round(time.Second))
	time.Sleep(min(w.pause, left))
	w.pause = min(2*w.pause, lastPause)
	return nil
}

// done notes a success.
func (w *waiter) done() { *w = waiter{} }
