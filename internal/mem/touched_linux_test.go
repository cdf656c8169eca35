// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The ranges ascend, and have each element that was written.
func TestTouched(t *testing.T) {
	const n = 16 << 20 // floats
	s := make([]float32, n+3)[3:]
	written := []int{0, 5, 1 << 20, 1<<20 + 1, 9 << 20, n - 1}
	for _, i := range written {
		s[i] = 1
	}
	end, covered, found := 0, 0, 0
	for lo, hi := range Touched(s) {
		if lo < end || hi <= lo || hi > n {
			t.Fatalf("range [%d, %d) after one that ends at %d, of %d", lo, hi, end, n)
		}
		end, covered = hi, covered+hi-lo
		for _, i := range written {
			if i >= lo && i < hi {
				found++
			}
		}
	}
	if found != len(written) {
		t.Errorf("the ranges have %d of %d elements that were written", found, len(written))
	}
	if covered == n {
		t.Log("the system counts all pages as touched: huge pages, or no page map")
	}
	for lo, hi := range Touched(s[:10]) {
		if lo != 0 || hi != 10 {
			t.Errorf("a short table: [%d, %d), want [0, 10)", lo, hi)
		}
	}
}

// A page map that ends too early, or cannot be read, hides nothing.
func TestTouchedWithoutPageMap(t *testing.T) {
	s := make([]float32, 5000)
	got := [][2]int{}
	touched(bytes.NewReader(nil), s, uintptr(os.Getpagesize()), func(lo, hi int) bool {
		got = append(got, [2]int{lo, hi})
		return true
	})
	if d := cmp.Diff([][2]int{{0, 5000}}, got); d != "" {
		t.Errorf("without a page map (-want +got):\n%s", d)
	}
}
