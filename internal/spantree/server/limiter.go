// SPDX-License-Identifier: Apache-2.0

package server

import (
	"sync"
	"time"
)

// maxWarnings is how many lines a second the log takes about clients that are refused. Who
// has nothing to lose could fill a disk with them.
const maxWarnings = 200

// limiter lets some events through a second, and counts the others.
type limiter struct {
	mu         sync.Mutex
	second     time.Time
	n          int
	suppressed int // out, since the last one that was let through
}

// let reports whether an event is let through, and how many were not before it.
func (l *limiter) allow(now time.Time) (ok bool, left int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.second) >= time.Second {
		l.second, l.n = now, 0
	}
	if l.n++; l.n > maxWarnings {
		l.suppressed++
		return false, 0
	}
	left, l.suppressed = l.suppressed, 0
	return true, left
}
