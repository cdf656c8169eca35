// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"testing"
	"time"
)

func TestPatience(t *testing.T) {
	p := Patience{Turns: 64, Spin: 100 * time.Microsecond}
	over := func(turns int, waited time.Duration, want bool) {
		t.Helper()
		if got := p.Over(turns, waited); got != want {
			t.Errorf("%d turns in %v: over %v, want %v", turns, waited, got, want)
		}
	}
	over(65, 90*time.Microsecond, false)
	over(60, time.Second, false)
	over(65, 101*time.Microsecond, true)
	for range 10 {
		p.Slept(time.Millisecond)
	}
	over(4, time.Second, false)
	over(5, 6*time.Microsecond, false)
	over(5, 7*time.Microsecond, true)
	p.Slept(300 * time.Microsecond)
	over(5, 7*time.Microsecond, false)
	over(65, 101*time.Microsecond, true)
}
