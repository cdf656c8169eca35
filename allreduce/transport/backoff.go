// SPDX-License-Identifier: Apache-2.0

package transport

import "time"

// Backoff decides how long a goroutine polls, with [Yield] between polls, before it
// sleeps. Where waits turn out to be long, polling is useless and takes the processor from
// the threads that are waited for, or from a device that is emulated on it. The limits then
// shrink, down to a sixteenth. One short wait restores them.
type Backoff struct {
	Tries int           // the least number of polls, however long they take
	Spin  time.Duration // the least time of polling
	shift uint          // both limits are divided by 2 to this power
}

const (
	maxShift   = 4 // the largest shift
	longFactor = 4 // times Spin: the length from which a wait is long; shorter ones cost more by sleeping than by polling
)

// Over reports whether it is time to sleep, after turns polls since the wait began. It reads
// the clock, which costs as much as a poll, only after enough polls.
func (p *Backoff) Over(turns int, begun time.Time) bool {
	return turns > p.Tries>>p.shift && time.Since(begun) > p.Spin>>p.shift
}

// Slept adapts the limits to the duration of a wait that ended with a sleep.
func (p *Backoff) Slept(waited time.Duration) {
	if waited > longFactor*p.Spin {
		p.shift = min(p.shift+1, maxShift)
		return
	}
	p.shift = 0
}
