// SPDX-License-Identifier: Apache-2.0

package core

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// straggles compares a rank with the lower medians of what at least half of the ranks have reported.
func TestStragglesComparesWithMedians(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := &job{holders: map[int]*attempt{}}
		j.slowFactor = rapid.SampledFrom([]float64{1.5, 2, 3}).Draw(t, "factor")
		var paces []float64
		var times []time.Duration
		for rank := range rapid.IntRange(1, 9).Draw(t, "ranks") {
			a := &attempt{rank: rank, vw: true}
			if rapid.IntRange(0, 3).Draw(t, "reported") > 0 {
				a.pace, a.took = float64(rapid.IntRange(1, 6).Draw(t, "pace")), time.Duration(rapid.IntRange(1, 6).Draw(t, "took"))
				paces, times = append(paces, a.pace), append(times, a.took)
			}
			j.setHolder(a)
		}
		slices.Sort(paces)
		slices.Sort(times)
		for _, a := range j.inOrder {
			n := len(paces)
			want := n >= 2 && 2*n >= len(j.inOrder) && a.pace > j.slowFactor*paces[(n-1)/2] && a.took > times[(n-1)/2]
			if got := j.straggles(a); got != want {
				t.Fatalf("rank %d with pace %v and time %v among %v and %v: %v, want %v", a.rank, a.pace, a.took, paces, times, got, want)
			}
		}
		if n := len(paces); n > 0 && j.medianPace() != paces[(n-1)/2] {
			t.Fatalf("median %v of %v", j.medianPace(), paces)
		}
	})
}
