// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"math"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/feature"
)

// The recorded weights are those of vw 9.11.9 with --normal_weights --sgd and with
// --truncated_normal_weights -b 3, for features that no example had.
func TestStartWeightsAsVW(t *testing.T) {
	for _, c := range []struct {
		name          string
		start         Start
		floats, pitch int
		want          map[int]float32
	}{
		{"nothing", Start{}, 16, 1, map[int]float32{0: 0, 15: 0}},
		{"one weight", Start{Weight: 0.25, Random: true}, 16, 1, map[int]float32{0: 0.25, 15: 0.25}},
		{"even", Start{Random: true}, 16, 1, map[int]float32{0: -0.499992, 3: 0.207621, 14: 0.277322}},
		{"normal", Start{Normal: true}, 16, 1, map[int]float32{0: 0.429603, 1: -0.176175, 4: 0.390419, 14: 2.36285}},
		{"normal, places of four floats", Start{Normal: true}, 8, 4, map[int]float32{0: 0.429603, 1: 0.390419, 2: -1.00606, 3: 1.27788, 4: -1.92117}},
		{"truncated", Start{Truncated: true}, 8, 4, map[int]float32{0: 0.429603, 4: -0.0516048}},
	} {
		w := make([]float32, c.floats)
		c.start.Fill(w, 1, c.pitch)
		strided := make([]float32, 4*c.floats)
		c.start.Fill(strided, 4, c.pitch)
		for i, want := range c.want {
			if math.Abs(float64(w[i]-want)) > 1e-5 {
				t.Errorf("%s: weight %d is %v, want %v", c.name, i, w[i], want)
			}
		}
		for i := range w {
			if strided[4*i] != w[i] || strided[4*i+1] != 0 {
				t.Fatalf("%s: with four floats a weight, weight %d is %v, want %v and no more", c.name, i, strided[4*i:4*i+4], w[i])
			}
		}
	}
}

// Weights that start at 0 do not change, and their features do not enter the sums of the rule.
func TestMaskedWeightsStay(t *testing.T) {
	for name, cfg := range rules() {
		cfg.Masked = true
		lr := learner(t, cfg, "logistic")
		w := lr.Weights()
		stride := lr.Stride()
		for i := 0; i < len(w)/stride; i += 3 {
			w[i*stride] = 0.01
		}
		before := slices.Clone(w)
		b := batch(100, 20, cfg.Bits)
		for i := range b.Examples {
			ex := &b.Examples[i]
			lr.Learn(b.FeaturesOf(ex), ex)
		}
		lr.Materialize()
		moved := 0
		for i := range len(w) / stride {
			cell, old := w[i*stride:(i+1)*stride], before[i*stride:(i+1)*stride]
			if i%3 != 0 && !slices.Equal(cell, old) {
				t.Fatalf("%s: masked weight %d became %v", name, i, cell)
			}
			if cell[0] != old[0] {
				moved++
			}
		}
		if moved < 50 {
			t.Errorf("%s: %d weights moved, want most of those not masked", name, moved)
		}
	}
}

// sparse_l2 also applies to examples without loss, and only to their own weights.
func TestSparseL2ShrinksTheWeightsAtHand(t *testing.T) {
	cfg := Flags{Bits: 4, SGD: true, SparseL2: 0.1}.Config()
	lr := learner(t, cfg, "hinge")
	w := lr.Weights()
	w[1], w[2] = 3, 5
	lr.Range.Max = 9
	ex := feature.Example{Label: 1, Weight: 1}
	lr.Learn([]feature.Feature{{Index: 1, Value: 1}}, &ex)
	if got, want := w[1], float32(3-0.1*3); math.Abs(float64(got-want)) > 1e-6 || w[2] != 5 {
		t.Errorf("weights %v and %v, want %v and 5", got, w[2], want)
	}
}
