// SPDX-License-Identifier: Apache-2.0

package server

import (
	"sync"
	"time"
)

// maxWarnings is the number of log lines per second about refused clients. More of them could fill
// a disk.
const maxWarnings = 200

// limiter admits a number of events per second, and counts the others.
type limiter struct {
	mu         sync.Mutex
	second     time.Time
	n          int
	suppressed int // events since the last one that was admitted
}

// allow reports whether an event is admitted, and how many were suppressed since the last admitted
// one.
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
