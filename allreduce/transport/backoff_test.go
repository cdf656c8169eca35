// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	const spin = time.Hour // so long that the test's own time does not count
	p := Backoff{Tries: 64, Spin: spin}
	over := func(turns int, waited time.Duration, want bool) {
		t.Helper()
		if got := p.Over(turns, time.Now().Add(-waited)); got != want {
			t.Errorf("%d turns in %v: over %v, want %v", turns, waited, got, want)
		}
	}
	over(65, spin/2, false)
	over(60, 10*spin, false)
	over(65, 2*spin, true)
	for range 10 {
		p.Slept(10 * spin)
	}
	over(4, 10*spin, false)
	over(5, spin/32, false)
	over(5, spin/8, true)
	p.Slept(3 * spin)
	over(5, spin/8, false)
	over(65, 2*spin, true)
}
