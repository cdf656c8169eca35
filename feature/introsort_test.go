// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Any input is sorted afterwards without a loss; short stretches keep the order of equal
// elements.
func TestIntroSortSorts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) wholeFeature {
			return wholeFeature{Feature: Feature{
				Index: rapid.Uint32Range(0, 30).Draw(t, "index"),
				Value: float32(rapid.IntRange(-2, 2).Draw(t, "value")),
			}}
		}), 0, 300).Draw(rt, "features")
		for i := range fs {
			fs[i].whole = uint64(i)
		}
		stable := slices.Clone(fs)
		order := func(f, g wholeFeature) int {
			return cmp.Or(cmp.Compare(f.Index, g.Index), cmp.Compare(f.Value, g.Value))
		}
		slices.SortStableFunc(stable, order)
		introSort(fs)
		if !slices.IsSortedFunc(fs, order) {
			rt.Fatalf("not in order: %v", fs)
		}
		if len(fs) <= short && !slices.Equal(fs, stable) {
			rt.Fatalf("equal ones change places: %v, want %v", fs, stable)
		}
		byNumber := func(f, g wholeFeature) int { return cmp.Compare(f.whole, g.whole) }
		slices.SortFunc(fs, byNumber)
		slices.SortFunc(stable, byNumber)
		if !slices.Equal(fs, stable) {
			rt.Fatal("features are lost")
		}
	})
}

// The order that GNU's std::sort leaves 40 keys in of which many are equal, as a
// program of g++ 12.2 printed it: their numbers in the order before.
func TestIntroSortLeavesEqualOnesAsGNU(t *testing.T) {
	fs := make([]wholeFeature, 40)
	for i := range fs {
		fs[i] = wholeFeature{Feature: Feature{Index: uint32(i * 7 % 3)}, whole: uint64(i)}
	}
	introSort(fs)
	var got []uint64
	for _, f := range fs {
		got = append(got, f.whole)
	}
	want := []uint64{
		0, 21, 18, 24, 15, 27, 12, 30, 9, 33, 6, 36, 3, 39, 31, 34, 28, 37, 25, 22,
		1, 19, 16, 4, 13, 7, 10, 2, 20, 38, 5, 35, 8, 32, 11, 29, 14, 26, 17, 23,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// Values without an order, such as NaN, are harmless.
func TestIntroSortOfNaN(t *testing.T) {
	nan := float32(math.NaN())
	fs := make([]wholeFeature, 100)
	for i := range fs {
		fs[i] = wholeFeature{Feature: Feature{Value: []float32{nan, float32(i), -1}[i%3]}, whole: uint64(i)}
	}
	introSort(fs)
	seen := map[uint64]bool{}
	for _, f := range fs {
		seen[f.whole] = true
	}
	if len(seen) != len(fs) {
		t.Errorf("%d features of %d are left", len(seen), len(fs))
	}
}
