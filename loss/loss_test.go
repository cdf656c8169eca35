// SPDX-License-Identifier: Apache-2.0

package loss

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

var wide = Range{Min: -50, Max: 50}

// losses holds all losses.
var losses = []Loss{squared{}, classic{}, hinge{}, logistic{-1, 1}, quantile{0.3}, expectile{0.3}, poisson{}}

// draw returns a random prediction and a valid label of l.
func draw(l Loss, rng *rand.Rand) (p, y float32) {
	p = float32(rng.NormFloat64() * 3)
	y = float32(rng.NormFloat64() * 3)
	if l.Name() == "expectile" {
		p, y = p/3, y/3 // smaller losses, finer differences in float32
	}
	if l.Name() == "poisson" {
		p, y = p/3, float32(rng.IntN(4))
	}
	if l.Name() == "logistic" || l.Name() == "hinge" {
		y = float32(1 - 2*rng.IntN(2))
		if l.Name() == "logistic" && rng.IntN(4) == 0 {
			y = rng.Float32()*2 - 1 // a soft label
		}
	}
	return p, y
}

func near(got, want, abs, rel float64) bool {
	return math.Abs(got-want) <= max(abs, rel*math.Abs(want))
}

func TestNewAcceptsAllLosses(t *testing.T) {
	for _, name := range names {
		l, err := NewWith(name, Params{Expectile: 0.3})
		if err != nil {
			t.Fatal(err)
		}
		if l.Name() != name {
			t.Errorf("New(%q) is called %q", name, l.Name())
		}
	}
	for _, c := range []struct{ name, want string }{
		{"expectile", "q is 0, want more than 0"},
		{"sqared", `unknown loss function "sqared": use squared, classic, hinge, logistic, quantile, expectile or poisson`},
		{"", "unknown loss function"},
	} {
		_, err := New(c.name)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%q): error %v, want one with %q", c.name, err, c.want)
		}
	}
}

func TestDefaultRange(t *testing.T) {
	if r, fixed := DefaultRange(squared{}); r != (Range{}) || fixed {
		t.Errorf("squared: %v, %v", r, fixed)
	}
	if r, fixed := DefaultRange(logistic{-1, 1}); r != wide || !fixed {
		t.Errorf("logistic: %v, %v", r, fixed)
	}
}

func TestRange(t *testing.T) {
	r := Range{}.Include(2).Include(-1).Include(1)
	if r != (Range{Min: -1, Max: 2}) {
		t.Fatalf("range of 0, 2, -1, 1 is %v", r)
	}
	nan := float32(math.NaN())
	for _, c := range [][2]float32{{-3, -1}, {-1, -1}, {0.5, 0.5}, {2, 2}, {9, 2}, {nan, 0}} {
		if got := r.Clip(c[0]); got != c[1] {
			t.Errorf("Clip(%v) = %v, want %v", c[0], got, c[1])
		}
	}
}

// The derivatives are those of the loss, by central differences.
// With --max_prediction -1 vw has the range from 0 to -1. Its predictions are -1 then, and the slopes of the squared loss
// are those at 0 for predictions below 0 (measured with 9.11.9, by the weights of --nn).
func TestRangeOfOneGivenLimit(t *testing.T) {
	r := Range{Min: 0, Max: -1}
	squared, err := New("squared")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ p, clipped, slope float32 }{{-2, 0, 2}, {-0.5, -1, 2}, {3, -1, 0}} {
		if got := r.Clip(c.p); got != c.clipped {
			t.Errorf("Clip(%v) = %v, want %v", c.p, got, c.clipped)
		}
		if got := squared.First(r, c.p, -1); got != c.slope {
			t.Errorf("First(%v) = %v, want %v", c.p, got, c.slope)
		}
	}
}

func TestDerivativesAreThoseOfTheLoss(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, l := range losses {
		for range 2000 {
			p, y := draw(l, rng)
			const h = 1.0 / 64 // a power of two, so p±h is exact
			if l.Name() == "hinge" && math.Abs(float64(1-y*p)) < 2*h || math.Abs(float64(y-p)) < 2*h {
				continue // a kink has no derivative
			}
			up, at, down := float64(l.Loss(wide, p+h, y)), float64(l.Loss(wide, p, y)), float64(l.Loss(wide, p-h, y))
			first, second := (up-down)/(2*h), (up-2*at+down)/(h*h)
			if l.Name() == "poisson" {
				first, second = first/2, second/2 // vw's derivatives are those of half the deviance
			}
			if got := float64(l.First(wide, p, y)); !near(got, first, 2e-3, 2e-3) {
				t.Fatalf("%s.First(%v, %v) = %v, differences say %v", l.Name(), p, y, got, first)
			}
			if got := float64(l.Second(wide, p, y)); !near(got, second, 0.08, 0.05) { // float32 loss over h²
				t.Fatalf("%s.Second(%v, %v) = %v, differences say %v", l.Name(), p, y, got, second)
			}
			d := l.First(wide, p, y)
			if got := l.SquareGrad(p, y); !near(float64(got), float64(d*d), 0, 1e-5) {
				t.Fatalf("%s.SquareGrad(%v, %v) = %v, want %v", l.Name(), p, y, got, d*d)
			}
			if got := l.UnsafeUpdate(p, y, 0.3); !near(float64(got), float64(-0.3*d), 0, 1e-5) {
				t.Fatalf("%s.UnsafeUpdate(%v, %v, 0.3) = %v, want %v", l.Name(), p, y, got, -0.3*d)
			}
		}
	}
}

// The logistic loss's second derivative in closed form, where differences of
// float32 losses are too coarse.
func TestLogisticSecondIsSigmoidTimesComplement(t *testing.T) {
	for p := -30.0; p <= 30; p += 0.37 {
		s := 1 / (1 + math.Exp(-p))
		want := s * (1 - s)
		if got := (logistic{-1, 1}).Second(wide, float32(p), 1); !near(float64(got), want, 1.2e-7, 1e-5) {
			t.Errorf("Second(%v) = %v, want %v", p, got, want)
		}
	}
}

// tolerance of a prediction after an invariant update: vw's approximation of
// Lambert's function errs by up to 9e-5.
func tolerance(l Loss) float64 {
	if l.Name() == "logistic" {
		return 2e-4
	}
	return 2e-5
}

// The defining property of Karampatziakis and Langford: an update of weight a+b
// is an update of weight a followed by one of weight b.
func TestInvariantUpdatesCompose(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, l := range losses {
		if l.Name() == "classic" {
			continue // its update is the plain step by definition
		}
		for range 3000 {
			p, y := draw(l, rng)
			if l.Name() == "logistic" && float32(math.Abs(float64(y))) != 1 {
				continue // vw mixes the updates of both classes, which do not commute
			}
			a, b := rng.Float32()*3+0.01, rng.Float32()*3+0.01
			q := float32(math.Exp(rng.NormFloat64()))
			once := p + float32(q*l.Update(p, y, a+b, q))
			half := p + float32(q*l.Update(p, y, a, q))
			twice := half + float32(q*l.Update(half, y, b, q))
			if !near(float64(once), float64(twice), tolerance(l), tolerance(l)) {
				t.Fatalf("%s: p=%v y=%v q=%v: weight %v+%v leads to %v, in one step to %v", l.Name(), p, y, q, a, b, twice, once)
			}
		}
	}
}

// The same in the limit: an invariant update is the result of infinitely many infinitely small
// gradient steps, integrated here by the Runge-Kutta method.
func TestInvariantUpdateFollowsTheGradientFlow(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	slope := func(l Loss, p float64, y float32) float64 {
		if l.Name() == "poisson" {
			return float64(y) - math.Exp(p)
		}
		if l.Name() == "squared" {
			return 2 * (float64(y) - p)
		}
		return float64(y) / (1 + math.Exp(float64(y)*p))
	}
	for _, l := range []Loss{squared{}, logistic{-1, 1}, poisson{}} { // the smooth ones
		for range 300 {
			p, y := draw(l, rng)
			if l.Name() == "logistic" && float32(math.Abs(float64(y))) != 1 {
				continue
			}
			scale, q := rng.Float64()*2, math.Exp(rng.NormFloat64())
			const steps = 400
			z, h := float64(p), scale*q/steps
			for range steps {
				k1 := slope(l, z, y)
				k2 := slope(l, z+h/2*k1, y)
				k3 := slope(l, z+h/2*k2, y)
				k4 := slope(l, z+h*k3, y)
				z += h / 6 * (k1 + 2*k2 + 2*k3 + k4)
			}
			got := float64(p) + q*float64(l.Update(p, y, float32(scale), float32(q)))
			if !near(got, z, tolerance(l), tolerance(l)) {
				t.Fatalf("%s: p=%v y=%v scale=%v q=%v leads to %v, the flow to %v", l.Name(), p, y, scale, q, got, z)
			}
		}
	}
}

// The prediction does not pass the label, however large the weight.
func TestInvariantUpdateDoesNotOvershoot(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 3000 {
		p, y := draw(squared{}, rng)
		scale, q := float32(math.Exp(rng.NormFloat64()*4)), float32(math.Exp(rng.NormFloat64()))
		after := p + float32(q*squared{}.Update(p, y, scale, q))
		if past := (y - after) * float32(math.Copysign(1, float64(p-y))); past > 1e-6*(1+max(y, -y)+max(p, -p)) { // more than rounding
			t.Fatalf("p=%v y=%v scale=%v q=%v: overshoots to %v", p, y, scale, q, after)
		}
	}
}

// Where the closed form gives way to the plain step, both must agree.
func TestUpdateIsContinuousAtTheSwitch(t *testing.T) {
	for _, l := range losses {
		if l.Name() == "poisson" {
			continue // one form for all steps
		}
		for _, p := range []float32{-2, -0.3, 0.1, 4} {
			below := l.Update(p, 1, 0.999e-6, 1)
			plain := l.UnsafeUpdate(p, 1, 0.999e-6)
			if below != plain {
				t.Errorf("%s: tiny update %v is not the plain step %v", l.Name(), below, plain)
			}
		}
	}
	// Above the switch the squared update has few digits left (1 - e**-2e-6 in
	// float32), as vw's; it must still be of the right size.
	if got := (squared{}).Update(0, 1, 1.1e-6, 1); !near(float64(got), 2.2e-6, 1e-7, 0) {
		t.Errorf("update just above the switch = %v, want about 2.2e-6", got)
	}
}

func TestSquaredLossOutsideTheRange(t *testing.T) {
	r := Range{Min: 0, Max: 2}
	for _, c := range []struct{ p, y, want float32 }{
		{1, 2, 1},
		{-1, 0, 0}, // beyond the border on the label's side
		{3, 2, 0},
		{-1, 1, 1 + 2*1*1}, // (y-min)² + 2(y-min)(min-p)
		{4, 1, 1 + 2*1*2},
	} {
		if got := (squared{}).Loss(r, c.p, c.y); got != c.want {
			t.Errorf("Loss(%v, %v) = %v, want %v", c.p, c.y, got, c.want)
		}
	}
	if got := (squared{}).First(r, 5, 1); got != 2 {
		t.Errorf("First beyond the range = %v, want that at the border, 2", got)
	}
	if got := (squared{}).Second(r, 5, 1); got != 0 {
		t.Errorf("Second beyond the range = %v, want 0", got)
	}
}

// vw's loss is in float32, so a sure and right prediction has none at all.
func TestLogisticLossVanishes(t *testing.T) {
	if got := (logistic{-1, 1}).Loss(wide, 17, 1); got != 0 {
		t.Errorf("loss at y·p = 17 is %v, want 0", got)
	}
	if got := (logistic{-1, 1}).Loss(wide, 16, 1); got <= 0 {
		t.Errorf("loss at y·p = 16 is %v, want more than 0", got)
	}
	if got := (logistic{-1, 1}).Loss(wide, -50, 1); !near(float64(got), 50, 0, 1e-6) {
		t.Errorf("loss at y·p = -50 is %v, want 50", got)
	}
}

func TestSoftLabelsMixTheClasses(t *testing.T) {
	l := logistic{-1, 1}
	for _, p := range []float32{-2, 0.5} {
		want := 0.75*l.Loss(wide, p, 1) + 0.25*l.Loss(wide, p, -1)
		if got := l.Loss(wide, p, 0.5); !near(float64(got), float64(want), 0, 1e-6) {
			t.Errorf("loss of label 0.5 at %v = %v, want %v", p, got, want)
		}
		s := 1 / (1 + math.Exp(-float64(p)))
		if got := l.First(wide, p, 0.5); !near(float64(got), s-0.75, 1e-7, 1e-6) {
			t.Errorf("derivative for label 0.5 at %v = %v, want %v", p, got, s-0.75)
		}
	}
}

// lambert is within vw's stated error of the solution of z + ln z = x.
func TestLambert(t *testing.T) {
	worst := 0.0
	for x := -60.0; x <= 700; x += 0.0137 {
		x := float64(float32(x))
		z := math.Exp(x) // solve by Newton's method on z·e**z = e**x, in logarithms
		if x > 1 {
			z = x - math.Log(x)
		}
		for range 60 {
			z -= (z + math.Log(z) - x) / (1 + 1/z)
			if z <= 0 {
				z = math.SmallestNonzeroFloat64
			}
		}
		// The result is a float32 of the size of x.
		limit := 9e-5 + 1e-7*math.Abs(x)
		d := math.Abs(float64(lambert(float32(x))) - (z - x))
		worst = max(worst, d-1e-7*math.Abs(x))
		if !(d <= limit) {
			t.Fatalf("lambert(%v) = %v, want %v", x, lambert(float32(x)), z-x)
		}
	}
	t.Logf("largest error %.1e", worst)
}

func TestUpdatesDoNotAllocate(t *testing.T) {
	var sum float32
	for _, l := range losses {
		if n := testing.AllocsPerRun(100, func() {
			sum += l.Loss(wide, 0.5, 1) + l.Update(0.5, 1, 0.5, 2) + l.SquareGrad(0.5, 1)
		}); n != 0 {
			t.Errorf("%s: %v allocations an example", l.Name(), n)
		}
	}
}

var sink float32

func BenchmarkUpdate(b *testing.B) {
	for _, l := range losses {
		b.Run(l.Name(), func(b *testing.B) {
			p := float32(0.3)
			for b.Loop() {
				sink += l.Loss(wide, p, 1) + l.SquareGrad(p, 1) + l.Update(p, 1, 0.5, 2)
				p = 1.1 - p
			}
		})
	}
}
