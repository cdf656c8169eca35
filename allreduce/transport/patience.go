// SPDX-License-Identifier: Apache-2.0

package transport

import "time"

// Patience is how long who waits tries again and again, with [Yield] in between, before it
// sleeps. Where waits turn out to be long, trying is in vain and takes the processor from
// those who are waited for, or from a device that is emulated on it: then it shrinks, down
// to a sixteenth. One wait that is not long restores it.
type Patience struct {
	Turns int           // at least so many tries, however long they take
	Spin  time.Duration // and for so long
	vain  uint          // powers of two by which both are shorter
}

const (
	most = 4 // how far Patience shrinks
	long = 4 // times Spin: shorter waits cost more by the sleep than by the tries
)

// Over says that it is time to sleep, after so many turns since the wait began. It looks at the
// clock, which costs as much as a try, only when there were enough of them.
func (p *Patience) Over(turns int, begun time.Time) bool {
	return turns > p.Turns>>p.vain && time.Since(begun) > p.Spin>>p.vain
}

// Slept says how long a wait has taken that came to a sleep.
func (p *Patience) Slept(waited time.Duration) {
	if waited > long*p.Spin {
		p.vain = min(p.vain+1, most)
		return
	}
	p.vain = 0
}
