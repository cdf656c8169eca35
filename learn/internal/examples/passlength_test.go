// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"slices"
	"testing"
)

// Without a cache passes end as vw's do, at 5, 16 and 39 of 40 examples.
func TestPassesEndWhereThoseOfVWDo(t *testing.T) {
	var ends []int
	p := PassLength{N: 5}.Ends()
	for n := 1; n <= 40; n++ {
		if p.Before(n) {
			ends = append(ends, n-1)
		}
	}
	if want := []int{5, 16, 39}; !slices.Equal(ends, want) {
		t.Errorf("passes end after %v examples, want %v", ends, want)
	}
}

func TestPassesOverACacheDouble(t *testing.T) {
	p := PassLength{12, true}
	for examples, want := range map[int]bool{11: false, 12: true, 13: true} {
		if got := p.Doubles(examples); got != want {
			t.Errorf("%d examples: doubles %t, want %t", examples, got, want)
		}
	}
	if ends := p.Ends(); ends.Before(13) || p.Limit(0) != 12 {
		t.Error("a pass over a cache does not end after the first 12 examples")
	}
}
