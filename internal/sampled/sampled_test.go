// SPDX-License-Identifier: Apache-2.0

package sampled

import (
	"slices"
	"testing"
)

func TestEveryNthCase(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		i, n int
		want []int
	}{{0, 3, []int{0, 3, 6}}, {2, 3, []int{2, 5}}, {1, 1, all[1:]}, {7, 2, nil}} {
		if got := every(all, c.i, c.n); !slices.Equal(got, c.want) {
			t.Errorf("every %d from %d: %v, want %v", c.n, c.i, got, c.want)
		}
	}
	for name, got := range map[string][]int{"Short": Short(t, all, 1, 2), "Race": Race(t, all, 1, 2)} {
		if some := map[string]bool{"Short": testing.Short(), "Race": UnderRace}[name]; some != (len(got) == 3) || !some && !slices.Equal(got, all) {
			t.Errorf("%s: %v of %v", name, got, all)
		}
	}
}

// skipper records whether a test would be skipped.
type skipper struct {
	testing.TB
	skipped bool
}

func (*skipper) Helper() {}

func (s *skipper) Skip(...any) { s.skipped = true }

func TestNotInCheck(t *testing.T) {
	for value, want := range map[string]bool{"": false, "0": false, "1": true} {
		getenv := func(name string) string { return map[string]string{"GVW_CHECK": value}[name] }
		var s skipper
		NotInCheck(&s, getenv)
		if in := InCheck(getenv); s.skipped != want || in != want {
			t.Errorf("GVW_CHECK=%s: skipped %v, in make check %v, want %v", value, s.skipped, in, want)
		}
	}
}
