// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"testing"
)

// TestShareCoversAll checks that each number is in exactly one part.
func TestShareCoversAll(t *testing.T) {
	for _, n := range []int{0, 1, 7, 1000} {
		for threads := 1; threads <= 9; threads++ {
			seen := make([]int, n)
			share(n, threads, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					seen[i]++
				}
			})
			for i, c := range seen {
				if c != 1 {
					t.Fatalf("%d of %d is in %d parts of %d", i, n, c, threads)
				}
			}
		}
	}
}
