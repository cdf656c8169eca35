// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
)

// Numbers ascend with the indices, whichever way they are found, and other indices have the further place.
func TestNumbersAscend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := 1 << rapid.IntRange(1, 24).Draw(t, "bits")
		drawn := rapid.MapOf(rapid.Uint32Range(0, uint32(table-1)), rapid.Just(true)).Draw(t, "indices")
		indices := slices.Sorted(maps.Keys(drawn))
		n := numbered(indices, table)
		byHash := appearance(indices)
		for k, index := range indices {
			if got := n.of(index); got != uint32(k) {
				t.Fatalf("weight %d has the number %d, want %d", index, got, k)
			}
			if got := byHash.of(index); got != uint32(k) {
				t.Fatalf("weight %d has the number %d in the hash table, want %d", index, got, k)
			}
		}
		for range 20 {
			index := rapid.Uint32Range(0, uint32(table-1)).Draw(t, "index")
			if drawn[index] {
				continue
			}
			if a, b := n.of(index), byHash.of(index); int(a) != len(indices) || int(b) != len(indices) {
				t.Fatalf("weight %d, which does not occur, has the numbers %d and %d, want %d", index, a, b, len(indices))
			}
		}
		fs := make([]feature.Feature, len(indices))
		for k, index := range indices {
			fs[len(fs)-1-k] = feature.Feature{Index: index, Value: float32(k)}
		}
		there := slices.Clone(fs)
		n.translate(there, there)
		n.restore(there)
		if d := cmp.Diff(fs, there); d != "" {
			t.Fatalf("indices became numbers and then others:\n%s", d)
		}
	})
}

// Indices that were read ascend and are of weights of the table.
func TestNumbersAreChecked(t *testing.T) {
	for _, c := range []struct {
		indices []uint32
		want    string
	}{
		{nil, ""},
		{[]uint32{0, 3, 7}, ""},
		{[]uint32{3, 1}, "number 1 is of weight 1, want one of 4 to 7"},
		{[]uint32{1, 1}, "number 1 is of weight 1, want one of 2 to 7"},
		{[]uint32{0, 8}, "number 1 is of weight 8, want one of 1 to 7"},
		{[]uint32{1<<32 - 1, 0}, "number 0 is of weight 4294967295, want one of 0 to 7"},
	} {
		err := (&numbers{indices: c.indices, table: 8}).check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.indices, err, c.want)
		}
	}
}

// Weights are numbered as they appear, also where the hash table grows.
func TestNumbersInOrderOfAppearance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := rapid.Uint32Range(1, 1<<31).Draw(t, "span")
		indices := rapid.SliceOfN(rapid.Uint32Range(0, span), 0, 3000).Draw(t, "indices")
		a, want := appearance(nil), map[uint32]uint32{}
		for _, index := range indices {
			k, ok := want[index]
			if !ok {
				k = uint32(len(want))
				want[index] = k
			}
			if got := a.add(index); got != k {
				t.Fatalf("weight %d has the number %d, want %d", index, got, k)
			}
		}
		for k, index := range a.indices {
			if want[index] != uint32(k) || a.of(index) != uint32(k) {
				t.Fatalf("number %d is weight %d, and that has the number %d", k, index, a.of(index))
			}
		}
	})
}
