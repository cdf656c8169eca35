// SPDX-License-Identifier: Apache-2.0

// Package clock measures silence and waits in a process that may be paused.
//
// A process that is stopped, swapped out or moved to another machine does not
// read what its peers send meanwhile. When it runs again, every deadline seems
// to have passed. A Clock therefore stands still while its process does not
// run: deadlines that are kept in the clock's time shift by themselves.
//
// The owner reads the clock regularly, at least once a Tick. A gap of more than
// two ticks between two readings is a pause. After a pause the clock stands
// still for as long again, at most two minutes: what peers have sent meanwhile
// must arrive first, and TCP doubles the time between its retransmissions.
package clock

import "time"

// maxSettle is the longest time for which the clock stands still after a pause:
// the largest retransmission timeout of TCP.
const maxSettle = 2 * time.Minute

// Clock is a monotonic time without the pauses of its process. It is a pure
// value: the caller passes the current time and guards against races.
type Clock struct {
	// Tick is the longest time between two readings of a process that runs;
	// 0: no gap counts as a pause.
	Tick time.Duration

	last   time.Time     // of the newest reading
	at     time.Time     // what the clock showed then
	settle time.Duration // for which it stands still
}

// Read returns the clock's time at now, and the length of the pause that ended
// with this reading, 0 if there was none. The first reading returns now.
func (c *Clock) Read(now time.Time) (at time.Time, pause time.Duration) {
	if c.last.IsZero() {
		c.last, c.at = now, now
		return now, 0
	}
	passed := max(0, now.Sub(c.last))
	if c.last = c.last.Add(passed); c.Tick > 0 && passed > 2*c.Tick {
		// The clock advances by one tick even so: a process with one pause after
		// the other must notice in the end that a peer is silent.
		pause = passed - c.Tick
		c.at = c.at.Add(c.Tick)
		c.settle = max(c.settle, min(pause, maxSettle))
		return c.at, pause
	}
	still := min(c.settle, passed)
	c.settle -= still
	c.at = c.at.Add(passed - still)
	return c.at, 0
}

// Settling reports whether the clock stands still after a pause.
func (c *Clock) Settling() bool { return c.settle > 0 }
