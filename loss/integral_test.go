// SPDX-License-Identifier: Apache-2.0

package loss

import (
	"math"
	"testing"
)

// TestDerivativesByDifferences compares First with differences of Loss, and Second
// with differences of First, for every loss that is smooth.
func TestDerivativesByDifferences(t *testing.T) {
	r := Range{Min: -50, Max: 50}
	for _, tc := range []struct {
		name   string
		labels []float32
	}{
		{"squared", []float32{-2, 0.5}}, {"classic", []float32{-2, 0.5}}, {"logistic", []float32{-1, 1}}, {"poisson", []float32{0, 1, 7}},
	} {
		l, err := New(tc.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, y := range tc.labels {
			for _, p := range []float32{-3, -0.75, 0.125, 1, 2.5} {
				const h = 1.0 / 64
				first := Integral(l) * float64(l.Loss(r, p+h, y)-l.Loss(r, p-h, y)) / (2 * h)
				second := float64(l.First(r, p+h, y)-l.First(r, p-h, y)) / (2 * h)
				for _, d := range []struct {
					name      string
					got, want float64
				}{{"First", float64(l.First(r, p, y)), first}, {"Second", float64(l.Second(r, p, y)), second}} {
					if !(math.Abs(d.got-d.want) <= 2e-3*max(1, math.Abs(d.want))) {
						t.Errorf("%s, p = %v, y = %v: %s is %v, differences say %v", tc.name, p, y, d.name, d.got, d.want)
					}
				}
			}
		}
	}
}
