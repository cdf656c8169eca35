// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
)

func TestPlacesAmongLevels(t *testing.T) {
	levels := []float32{-2, 0, 0, 0, 4}
	for _, c := range []struct{ x, share float32 }{
		{-9, 0}, {-2, 0}, {-1, 0.125}, {0, 0.5}, {1, 0.8125}, {3, 0.9375}, {4, 1}, {9, 1},
	} {
		want := (c.share - 0.5) * deviations
		if got := place(levels, c.x); math.Abs(float64(got-want)) > 1e-6 {
			t.Errorf("place of %v: got %v, want %v", c.x, got, want)
		}
	}
	if got := place([]float32{5, 5}, 5); got != 0 {
		t.Errorf("place of the only value: got %v, want 0", got)
	}
}

func TestQuantilesCountAbsentFeaturesAsZero(t *testing.T) {
	var sample [][]feature.Feature
	for i := range 201 { // input 0: 0 to 200; input 1: −1 in a quarter of the examples; input 2 twice in each; 7 is unknown
		x := []feature.Feature{{Index: 0, Value: float32(i)}, {Index: 2, Value: 1}, {Index: 2, Value: 2}, {Index: 7, Value: 1}}
		if i%4 == 0 {
			x = append(x, feature.Feature{Index: 1, Value: -1})
		}
		sample = append(sample, x)
	}
	got := Quantiles(sample, 3)
	if len(got) != 3*quantileLevels {
		t.Fatalf("got %d levels, want %d", len(got), 3*quantileLevels)
	}
	for i, x := range got[:quantileLevels] {
		if x != float32(2*i) {
			t.Errorf("level %d of 0 to 200: got %v, want %d", i, x, 2*i)
		}
	}
	for i, x := range got[quantileLevels : 2*quantileLevels] {
		if want := i <= 25; (x == -1) != want || !want && x != 0 {
			t.Errorf("level %d: got %v, want −1 up to level 25 and then 0", i, x)
		}
	}
	if diff := cmp.Diff(slices.Repeat([]float32{3}, quantileLevels), got[2*quantileLevels:]); diff != "" {
		t.Error("values of a feature that occurs twice are added:", diff)
	}
	if got := Quantiles(nil, 3); got != nil {
		t.Errorf("no examples: got %v, want nil", got)
	}
}

// TestPlacesHaveMeanZeroAndDeviationOne is about data without ties, and shows that places do not depend on the scale.
func TestPlacesHaveMeanZeroAndDeviationOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfNDistinct(rapid.Float32Range(-100, 100), 300, 600, rapid.ID).Draw(t, "values")
		var sample [][]feature.Feature
		for _, x := range values {
			sample = append(sample, []feature.Feature{{Index: 0, Value: x}})
		}
		levels := Quantiles(sample, 1)
		sum, squares := 0.0, 0.0
		for _, x := range values {
			z := float64(place(levels, x))
			sum += z
			squares += z * z
		}
		n := float64(len(values))
		if mean, variance := sum/n, squares/n; math.Abs(mean) > 0.05 || math.Abs(variance-1) > 0.05 {
			t.Errorf("got mean %v and variance %v, want 0 and 1", mean, variance)
		}
	})
}

// TestQuantilesOfAnInput: a present value, a greater one than all levels, and an absent feature, which is 0.
func TestQuantilesOfAnInput(t *testing.T) {
	m, err := New(Config{
		Inputs: 3, Outputs: 1, Continue: true, Quantiles: []float32{0, 1, 2, 0, 1, 2, -1, 0, 5},
		Weights: [][]float32{{1, 10, 100, 0}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := m.Scores([]feature.Feature{{Index: 1, Value: 9}, {Index: 0, Value: 0.25}, {Index: 0, Value: 0.25}, {Index: 3, Value: 1}})
	want := (0.25-0.5)*deviations + 10*0.5*deviations
	if math.Abs(float64(got[0])-want) > 1e-5 {
		t.Errorf("got %v, want %v", got, want)
	}
}
