// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestClock(t *testing.T) {
	const tick = 200 * time.Millisecond
	type reading struct {
		after     time.Duration // since the reading before
		at, pause time.Duration
		settling  bool
	}
	for name, readings := range map[string][]reading{
		"a process that runs":      {{tick, tick, 0, false}, {2 * tick, 3 * tick, 0, false}, {0, 3 * tick, 0, false}},
		"time that goes backwards": {{-tick, 0, 0, false}, {2 * tick, tick, 0, false}},
		"a pause": {
			{tick, tick, 0, false},
			{3 * time.Second, 2 * tick, 3*time.Second - tick, true},
			{tick, 2 * tick, 0, true},
			{tick, 2 * tick, 0, true},
			{2 * tick, 2 * tick, 0, true},
			{2 * tick, 2 * tick, 0, true},
			{2 * tick, 2 * tick, 0, true},
			{2 * tick, 2 * tick, 0, true},
			{2 * tick, 2 * tick, 0, true},
			{2 * tick, 2 * tick, 0, false}, // 3 s after the pause
			{tick, 3 * tick, 0, false},
		},
		"a pause of a day": {{24 * time.Hour, tick, 24*time.Hour - tick, true}},
	} {
		t.Run(name, func(t *testing.T) {
			c, now := Clock{Tick: tick}, start
			c.Read(now)
			for i, r := range readings {
				now = now.Add(r.after)
				at, pause := c.Read(now)
				if at.Sub(start) != r.at || pause != r.pause || c.Settling() != r.settling {
					t.Errorf("reading %d: %v, pause %v, settling %v; want %v, %v, %v", i, at.Sub(start), pause, c.Settling(), r.at, r.pause, r.settling)
				}
			}
		})
	}
}

// Without a Tick the clock is the caller's.
func TestClockWithoutTick(t *testing.T) {
	var c Clock
	c.Read(start)
	if at, pause := c.Read(start.Add(time.Hour)); at != start.Add(time.Hour) || pause != 0 || c.Settling() {
		t.Errorf("got %v, %v", at, pause)
	}
}

// The clock never goes backwards, is never ahead, and advances by a tick in each
// pause, so that no number of pauses stops it.
func TestClockProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tick := time.Duration(rapid.IntRange(1, 1000).Draw(t, "tick")) * time.Millisecond
		c, now := Clock{Tick: tick}, start
		last, _ := c.Read(now)
		for _, ms := range rapid.SliceOfN(rapid.IntRange(-10, 5000), 1, 50).Draw(t, "gaps") {
			now = now.Add(time.Duration(ms) * time.Millisecond)
			at, pause := c.Read(now)
			switch {
			case at.Before(last) || at.After(c.last):
				t.Fatalf("%v after %v at %v", at, last, now)
			case pause > 0 && at.Sub(last) != tick:
				t.Fatalf("a pause of %v advances the clock by %v, want %v", pause, at.Sub(last), tick)
			case pause == 0 && !c.Settling() && at.Sub(last) > 2*tick:
				t.Fatalf("it jumps by %v", at.Sub(last))
			}
			last = at
		}
		// Without further pauses it runs again.
		for range int(maxSettle/tick) + 2 {
			now = now.Add(tick)
			c.Read(now)
		}
		before, _ := c.Read(now)
		if at, _ := c.Read(now.Add(tick)); c.Settling() || !at.After(before) {
			t.Fatalf("it stands still")
		}
	})
}
