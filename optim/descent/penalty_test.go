// SPDX-License-Identifier: Apache-2.0

package descent

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestPrecondition(t *testing.T) {
	for _, tc := range []struct {
		h, want []float32
		p       Penalty
		spare   bool
	}{
		{[]float32{1, 4, 0}, []float32{1, 0.25, 0}, Penalty{}, true},
		{[]float32{1, 3, 0}, []float32{0.5, 0.25, 1}, Penalty{L2: 1}, true},
		{[]float32{100, 1e-9}, []float32{0.01, 100}, Penalty{}, true}, // 10000/max
		{[]float32{0, 0}, []float32{0, 0}, Penalty{}, true},
		{[]float32{4, 4}, []float32{0.2, 0.25}, Penalty{L2: 1, Free: []uint32{1}}, true},
		{[]float32{4, 4}, []float32{0.2, 0.2}, Penalty{L2: 1, Free: []uint32{1}}, false},
		{[]float32{4, 4}, []float32{0.125, 0.2}, Penalty{Precision: []float32{4, 1}, Mean: []float32{9, 9}}, true},
	} {
		got := slices.Clone(tc.h)
		tc.p.Precondition(got, got, tc.spare) // in place, as InPlace has it
		for i := range got {
			if math.Abs(float64(got[i]-tc.want[i])) > 1e-7*float64(tc.want[i]) {
				t.Errorf("H %v with %+v: got %v, want %v", tc.h, tc.p, got, tc.want)
				break
			}
		}
	}
}

// TestPenaltyByDifferences compares the penalty's gradient and curvature with
// differences of its value.
func TestPenaltyByDifferences(t *testing.T) {
	for _, p := range []Penalty{
		{L2: 0.7},
		{L2: 3, Free: []uint32{2}},
		{Precision: []float32{1, 2, 3, 0}, Mean: []float32{-1, 0.5, 2, 7}},
		{Precision: []float32{1, 2, 3, 0}, Mean: []float32{-1, 0.5, 2, 7}, Free: []uint32{0, 1}},
	} {
		x, d := []float32{1, -2, 3, 0.25}, []float32{0.5, 1, -0.25, 2}
		const h = 1.0 / 16
		at := func(h float32) (float64, []float32) {
			y, g := slices.Clone(x), make([]float32, len(x))
			for i := range y {
				y[i] += h * d[i]
			}
			f := p.Gradient(g, make([]float32, len(x)), y)
			return f, g
		}
		up, _ := at(h)
		down, _ := at(-h)
		mid, g := at(0)
		var slope float64
		for i := range g {
			slope += float64(g[i]) * float64(d[i])
		}
		// Of a parabola the differences are exact but for rounding.
		if want := (up - down) / (2 * h); math.Abs(slope-want) > 1e-5*math.Abs(want) {
			t.Errorf("%+v: g'd is %v, differences say %v", p, slope, want)
		}
		if got, want := p.quadratic(d, false, true), (up-2*mid+down)/(h*h); math.Abs(got-want) > 1e-4*math.Abs(want) {
			t.Errorf("%+v: d'Hd is %v, differences say %v", p, got, want)
		}
	}
}

func TestPenaltyFaults(t *testing.T) {
	for want, p := range map[string]Penalty{
		"l2 regularisation is -1":       {L2: -1},
		"weight 3 is to be free":        {Free: []uint32{3}},
		"use one of them":               {L2: 1, Precision: make([]float32, 3), Mean: make([]float32, 3)},
		"regularisers of 2 and 3":       {Precision: make([]float32, 2), Mean: make([]float32, 3)},
		"regulariser of weight 1 is -2": {Precision: []float32{0, -2, 0}, Mean: make([]float32, 3)},
		"pulls towards +Inf":            {Precision: make([]float32, 3), Mean: []float32{0, 0, float32(math.Inf(1))}},
	} {
		if err := p.validate(3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
}
