// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"
	"slices"
	"testing"
)

// TestFinishMakesWeightsTheirMean compares with a model that notes its weights at the end of each pass.
func TestFinishMakesWeightsTheirMean(t *testing.T) {
	const passes = 5
	examples := spirals(1, 200, 3)
	c := Config{Inputs: 2, Hidden: []int{6}, Outputs: 3, Rate: 0.05}
	plain := trained(t, c, nil, 0)
	var want [][]float64
	for pass := range passes {
		for _, ex := range examples {
			plain.Update(ex, pass)
		}
		plain.Flush(pass)
		for i, l := range plain.layers {
			if pass == 0 {
				want = append(want, make([]float64, len(l.w)))
				continue
			}
			for j, w := range l.w {
				want[i][j] += float64(w) / (passes - 1)
			}
		}
	}
	for _, average := range []bool{false, true} {
		c.Average = average
		m := trained(t, c, nil, 0)
		for pass := range passes {
			for _, ex := range examples {
				m.Update(ex, pass)
			}
			m.EndPass(pass)
		}
		for i, l := range m.layers {
			if !slices.Equal(l.w, plain.layers[i].w) {
				t.Errorf("average %v, layer %d: the mean has changed the training", average, i)
			}
		}
		m.Finish()
		m.Finish() // the mean is that of no pass now
		for i, l := range m.layers {
			for j, w := range l.w {
				if average && math.Abs(float64(w)-want[i][j]) > 1e-5 {
					t.Fatalf("layer %d, weight %d: got %v, want the mean %v", i, j, w, want[i][j])
				}
				if !average && w != plain.layers[i].w[j] {
					t.Fatalf("layer %d, weight %d: Finish has changed it without Average", i, j)
				}
			}
		}
	}
}

// TestOnePassHasNoMean: the mean begins with pass 2.
func TestOnePassHasNoMean(t *testing.T) {
	examples := spirals(1, 50, 3)
	c := Config{Inputs: 2, Hidden: []int{4}, Outputs: 3}
	want := trained(t, c, examples, 1)
	c.Average = true
	got := trained(t, c, examples, 1)
	got.EndPass(0)
	got.Finish()
	if !slices.Equal(got.layers[0].w, want.layers[0].w) {
		t.Error("after one pass the weights have changed")
	}
}
