// SPDX-License-Identifier: Apache-2.0

package fmath

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDigamma(t *testing.T) {
	const euler = 0.57721566490153286061
	for _, c := range []struct{ x, want float64 }{
		{1, -euler}, {0.5, -euler - 2*math.Ln2}, {2, 1 - euler}, {0.1, -10.423754940411076232}, {10, 2.2517525890667211077}, {100, 4.6001618527380874002},
	} {
		for _, cut := range []struct{ at, bar float64 }{{9, 1e-8}, {49, 5e-13}} {
			if got := Digamma(c.x, cut.at); math.Abs(got-c.want) > cut.bar*max(1, math.Abs(c.want)) {
				t.Errorf("ψ(%v) with cut %v = %v, want %v", c.x, cut.at, got, c.want)
			}
		}
	}
}

func TestTrigamma(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{
		{1, math.Pi * math.Pi / 6}, {0.5, math.Pi * math.Pi / 2}, {2, math.Pi*math.Pi/6 - 1}, {1e-3, 1000001.642533195868},
	} {
		if got := Trigamma(c.x); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("ψ'(%v) = %v, want %v", c.x, got, c.want)
		}
	}
	for x := 1e-4; x < 1e6; x *= 1.7 { // the derivative of ψ
		h := x * 1e-4
		want := (Digamma(x+h, 49) - Digamma(x-h, 49)) / (2 * h)
		if got := Trigamma(x); math.Abs(got-want) > 1e-6*want {
			t.Errorf("ψ'(%v) = %v, by differences of ψ %v", x, got, want)
		}
	}
}

func TestLgamma(t *testing.T) {
	for x := 1e-6; x < 1e7; x *= 1.3 {
		want, _ := math.Lgamma(x)
		if got := Lgamma(x); math.Abs(got-want) > 1e-11*max(1, math.Abs(want)) {
			t.Errorf("ln Γ(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestExpDigamma(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	worst := 0.0
	for range 20000 {
		x := float32(Exp(rng.NormFloat64() * 4))
		want := Exp(Digamma(float64(x), 49))
		if want < 1e-10 {
			continue
		}
		if e := math.Abs(float64(ExpDigamma32(x))/want - 1); e > worst {
			worst = e
			if e > 1e-5 {
				t.Errorf("e^ψ(%v) = %v, want %v", x, ExpDigamma32(x), want)
			}
		}
	}
	t.Logf("worst relative error: %.2g", worst)
	if got := ExpDigamma32(0); !(got >= 0 && got < 1e-35) {
		t.Errorf("e^ψ(0) = %v, want nearly 0", got)
	}
}
