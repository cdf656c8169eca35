// SPDX-License-Identifier: Apache-2.0

package core

import (
	"testing"
	"time"
)

// A vw worker whose job does not fill is disconnected after IdleFor.
func TestVWWorkersWaitAtMostIdleFor(t *testing.T) {
	m, now := NewMachine(testRules, 1, 1, constant), birth
	m.Step(now, VWHello{1, Endpoint{Host: "10.0.0.1"}, 7, 2, 0})
	if got := m.Step(now.Add(m.IdleFor), TimePassed{}); len(m.jobs) != 1 {
		t.Fatalf("disconnected too early: %v", got)
	}
	m.Step(now.Add(m.IdleFor+time.Second), TimePassed{})
	if len(m.jobs)+len(m.Conns) != 0 {
		t.Errorf("%d jobs and %d connections are left", len(m.jobs), len(m.Conns))
	}
}
