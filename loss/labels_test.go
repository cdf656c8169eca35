// SPDX-License-Identifier: Apache-2.0

package loss

import (
	"math"
	"testing"
)

// --logistic_min and --logistic_max only name the classes: the loss of a label
// is that of its place between them.
func TestLogisticLabelsAreMappedToTheClasses(t *testing.T) {
	l, err := NewWith("logistic", Params{Logistic: Range{Min: 2, Max: 6}})
	if err != nil {
		t.Fatal(err)
	}
	plain := logistic{-1, 1}
	for _, y := range []float32{2, 3, 4, 5.5, 6} {
		as := (y-2)/4*2 - 1
		for _, p := range []float32{-3, 0, 0.7} {
			for _, c := range []struct {
				what      string
				got, want float32
			}{
				{"Loss", l.Loss(wide, p, y), plain.Loss(wide, p, as)},
				{"First", l.First(wide, p, y), plain.First(wide, p, as)},
				{"Second", l.Second(wide, p, y), plain.Second(wide, p, as)},
				{"SquareGrad", l.SquareGrad(p, y), plain.SquareGrad(p, as)},
				{"Update", l.Update(p, y, 0.4, 1.5), plain.Update(p, as, 0.4, 1.5)},
				{"UnsafeUpdate", l.UnsafeUpdate(p, y, 0.4), plain.UnsafeUpdate(p, as, 0.4)},
			} {
				if !near(float64(c.got), float64(c.want), 1e-6, 1e-5) {
					t.Errorf("%s(%v, %v) = %v, want that of %v: %v", c.what, p, y, c.got, as, c.want)
				}
			}
		}
	}
	for _, r := range []Range{{Min: 1, Max: 1}, {Min: 2, Max: 1}} {
		if _, err := NewWith("logistic", Params{Logistic: r}); err == nil {
			t.Errorf("classes %v are accepted", r)
		}
	}
}

func TestLabelsOfALoss(t *testing.T) {
	if _, ok := Labels(squared{}); ok {
		t.Error("the squared loss takes any label")
	}
	if r, ok := Labels(logistic{0, 1}); !ok || r != (Range{0, 1}) {
		t.Errorf("logistic: %v, %v", r, ok)
	}
	if r, ok := Labels(poisson{}); !ok || r.Min != 0 {
		t.Errorf("poisson: %v, %v", r, ok)
	}
}

// The recorded numbers are those of vw 9.11.9 for one example of weight 1 with this initial
// prediction. Beyond 44 the exponential is constant, in the loss and in the update.
func TestPoissonIsCutAt44(t *testing.T) {
	for _, c := range []struct{ p, y, loss float32 }{
		{48, 1, 25703199759635841024},
		{-48, 3, 264.591675},
		{-48, 0, 0},
		{30, 0, 21372948447232},
	} {
		if got := (poisson{}).Loss(wide, c.p, c.y); !near(float64(got), float64(c.loss), 1e-9, 1e-6) {
			t.Errorf("Loss(%v, %v) = %v, want %v", c.p, c.y, got, c.loss)
		}
	}
	// A label below 0 has no loss: vw computes NaN and learns nothing.
	if got := (poisson{}).Loss(wide, 0, -1); !math.IsNaN(float64(got)) {
		t.Errorf("loss of label -1 = %v, want NaN", got)
	}
	for _, c := range []struct{ p, y, scale, q float32 }{
		{0, 0, 1e15, 1e15}, {44, 0, 1e20, 1}, {-3, 5, 1e9, 2}, {2, 0.1, 1e-9, 1},
	} {
		if u := (poisson{}).Update(c.p, c.y, c.scale, c.q); math.IsNaN(float64(u)) || math.IsInf(float64(u), 0) {
			t.Errorf("Update(%v, %v, %v, %v) = %v", c.p, c.y, c.scale, c.q, u)
		}
	}
}
