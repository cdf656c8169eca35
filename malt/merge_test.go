// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/malt/internal/pack"
)

// TestRepeatedUpdate encodes an update again, as after the end of a membership: it has the same bytes, and what it drops
// is added to the next one once.
func TestRepeatedUpdate(t *testing.T) {
	encode := func(times int) (updates [][]byte) {
		e, err := pack.NewEncoder[float32](pack.Format{Top: 1}, 3)
		if err != nil {
			t.Fatal(err)
		}
		v := &Vector[float32]{encoder: e}
		for _, values := range [][]float32{{4, 3, 1}, {1, 2, 1}, {0, 0, 2}} {
			fill := v.dense(values)
			for range times {
				head, view, err := fill(nil)
				if err != nil {
					t.Fatal(err)
				}
				updates = append(updates, slices.Concat(head, view))
			}
		}
		return updates
	}
	once, twice := encode(1), encode(2)
	for i, u := range twice {
		if d := cmp.Diff(once[i/2], u); d != "" {
			t.Errorf("update %d, encoding %d, -once +twice:\n%s", i/2, i%2, d)
		}
	}
}

// TestMergers merges two dense updates, of which one replaces an older one, and a sparse one.
func TestMergers(t *testing.T) {
	dense := []Incoming[float64]{
		{Rank: 1, Weight: 0.25, Factor: 1, Scale: 1, Values: []float64{100, 100, 100}},
		{Rank: 1, Weight: 0.25, Factor: 1, Scale: 1, Values: []float64{1, 2, 3}},
		{Rank: 2, Weight: 0.25, Factor: 0.5, Scale: 2, Values: []float64{3, 4, 5}},
	}
	sparse := Incoming[float64]{Rank: 3, Weight: 0.5, Factor: 1, Scale: 1, Indices: []uint32{2, 0}, Values: []float64{10, 20}}
	mixed := append(slices.Clone(dense[1:]), sparse)
	onlySparse := []Incoming[float64]{sparse, {Rank: 4, Weight: 0.5, Factor: 1, Scale: 1, Indices: []uint32{2}, Values: []float64{30}}}
	for _, c := range []struct {
		name  string
		merge Merger[float64]
		in    []Incoming[float64]
		want  []float64 // of a local value of 8, 8, 8
	}{
		{"Average", Average[float64], dense, []float64{2, 3, 4}},
		{"AverageIncludingSelf", AverageIncludingSelf[float64], dense, []float64{4, 14. / 3, 16. / 3}},
		{"Average of sparse updates", Average[float64], onlySparse, []float64{20, 8, 20}},
		{"AverageIncludingSelf of sparse updates", AverageIncludingSelf[float64], onlySparse, []float64{14, 8, 16}},
		{"Average of both", Average[float64], mixed, []float64{8, 3, 6}},
		{"Sum", Sum[float64], mixed, []float64{8 + 1 + 1.5 + 20, 8 + 2 + 2, 8 + 3 + 2.5 + 10}},
		{"Replace", Replace[float64], mixed, []float64{20, 4, 10}},
		{"WeightedAverage", WeightedAverage[float64], dense, []float64{4 + 0.25 + 0.75, 4 + 0.5 + 1, 4 + 0.75 + 1.25}},
		{"WeightedAverage of sparse updates", WeightedAverage[float64], onlySparse[:1], []float64{14, 8, 9}},
		{"RescaledAverage", RescaledAverage[float64](func() float64 { return 4 }), dense, []float64{(32 + 1 + 6) / 12., (32 + 2 + 8) / 12., (32 + 3 + 10) / 12.}},
	} {
		v := &Vector[float64]{local: []float64{8, 8, 8}}
		for range 2 { // scratch is clean again
			copy(v.local, []float64{8, 8, 8})
			c.merge(v, slices.Clone(c.in))
		}
		if d := cmp.Diff(c.want, v.local, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestMergingAllocatesNothing(t *testing.T) {
	const length = 1000
	v := &Vector[float32]{local: make([]float32, length)}
	in := []Incoming[float32]{
		{Rank: 1, Weight: 0.5, Factor: 1, Scale: 1, Values: make([]float32, length)},
		{Rank: 2, Weight: 0.5, Factor: 1, Scale: 1, Indices: []uint32{5, 7}, Values: []float32{1, 2}},
	}
	for name, merge := range map[string]Merger[float32]{
		"Average": Average[float32], "Sum": Sum[float32], "Replace": Replace[float32], "WeightedAverage": WeightedAverage[float32],
	} {
		merge(v, in) // scratch
		if n := testing.AllocsPerRun(20, func() { merge(v, in) }); n != 0 {
			t.Errorf("%s allocates %v times, want 0", name, n)
		}
	}
}
