// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"testing"
	"time"
)

// A vw worker whose job does not fill is let go in the end.
func TestVWWorkersDoNotWaitForEver(t *testing.T) {
	m, now := newMachine(testRules, 1, 1, constant), birth
	m.step(now, vwHello{1, endpoint{host: "10.0.0.1"}, 7, 2, 0})
	if got := m.step(now.Add(m.idleFor), ticked{}); len(m.jobs) != 1 {
		t.Fatalf("let go too early: %v", got)
	}
	m.step(now.Add(m.idleFor+time.Second), ticked{})
	if len(m.jobs)+len(m.conns) != 0 {
		t.Errorf("%d jobs and %d connections are left", len(m.jobs), len(m.conns))
	}
}
