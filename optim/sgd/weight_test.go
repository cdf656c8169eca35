// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"math"
	"testing"

	"github.com/gvw-project/gvw/loss"
)

// Put is the inverse of At, also while regularisation is pending.
func TestAtReturnsTheValueOfPut(t *testing.T) {
	l, err := loss.New("squared")
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range []Flags{{Bits: 4}, {Bits: 4, SGD: true}} {
		lr, err := New(flags.Config(), l)
		if err != nil {
			t.Fatal(err)
		}
		lr.Remember(new(Past))
		for _, pending := range []Scalars{{Contraction: 1}, {Contraction: 0.5, Gravity: 0.25}} {
			s := lr.Scalars()
			s.Contraction, s.Gravity = pending.Contraction, pending.Gravity
			lr.SetScalars(s)
			for i, v := range []float32{0, 1, -1, 0.001, -123.5} {
				lr.Put(uint32(i), v)
				if got := lr.At(uint32(i)); math.Abs(float64(got-v)) > 1e-6*math.Abs(float64(v))+1e-7 {
					t.Errorf("stride %d, %+v: got %v, want %v", lr.Stride(), pending, got, v)
				}
			}
		}
	}
}
