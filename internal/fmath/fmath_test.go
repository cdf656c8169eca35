// SPDX-License-Identifier: Apache-2.0

package fmath

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// bigExp is e**x to 200 bits: the Taylor series at x/2**20, squared 20 times.
func bigExp(x float64) *big.Float {
	const prec, halvings = 260, 20
	r := new(big.Float).SetPrec(prec).SetFloat64(x)
	r.SetMantExp(r, -halvings)
	sum := big.NewFloat(1).SetPrec(prec)
	term := big.NewFloat(1).SetPrec(prec)
	for i := int64(1); i < 40; i++ {
		term.Mul(term, r)
		term.Quo(term, new(big.Float).SetPrec(prec).SetInt64(i))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigLog is ln x to 150 bits or more: ln x = y + ln(x/e**y) for y near the
// root, and the argument is then 1 + something below 1e-12.
func bigLog(x float64) *big.Float {
	const prec = 260
	m, e := math.Frexp(x)
	y := math.Log(m) + float64(e)*math.Ln2 // not math.Log(x): wrong for subnormal x on amd64
	q := new(big.Float).SetPrec(prec).SetFloat64(x)
	q.Quo(q, bigExp(y))
	d := q.Sub(q, big.NewFloat(1)) // ln(1+d) = d - d²/2 + d³/3 - …
	d2 := new(big.Float).SetPrec(prec).Mul(d, d)
	d3 := new(big.Float).SetPrec(prec).Mul(d2, d)
	ln := new(big.Float).SetPrec(prec).SetFloat64(y)
	ln.Add(ln, d)
	ln.Sub(ln, d2.SetMantExp(d2, -1))
	return ln.Add(ln, d3.Quo(d3, big.NewFloat(3)))
}

// ulps is |got - want| in units in the last place of want as a float64.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	_, e := math.Frexp(w)
	unit := math.Ldexp(1, max(e-53, -1074))
	diff := new(big.Float).SetPrec(300).SetFloat64(got)
	diff.Sub(diff, want)
	d, _ := diff.Float64()
	return math.Abs(d) / unit
}

func TestExpIsWithinOneUlp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	worst := 0.0
	check := func(x float64) {
		if u := ulps(Exp(x), bigExp(x)); u > worst {
			worst = u
			if u >= 1 {
				t.Errorf("Exp(%v) = %v is %.3f ulp off", x, Exp(x), u)
			}
		}
	}
	for range 4000 {
		check(rng.NormFloat64())
		check((rng.Float64() - 0.5) * 1400)
		check((rng.Float64() - 0.5) * 1e-3)
	}
	for k := -20.0; k <= 20; k++ { // around the breaks of the reduction
		x := (k + 0.5) * math.Ln2
		check(math.Nextafter(x, 1000))
		check(math.Nextafter(x, -1000))
	}
	for _, x := range []float64{-708.4, -709, -720, -744.9, 709.78, 1e-300, -1e-17} {
		check(x)
	}
	t.Logf("worst error: %.3f ulp", worst)
}

func TestLogIsWithinOneUlp(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	worst := 0.0
	check := func(x float64) {
		if u := ulps(Log(x), bigLog(x)); u > worst {
			worst = u
			if u >= 1 {
				t.Errorf("Log(%v) = %v is %.3f ulp off", x, Log(x), u)
			}
		}
	}
	for range 3000 {
		check(1 + rng.Float64()*0.5)
		check(1 - rng.Float64()*0.5)
		check(1 + (rng.Float64()-0.5)*1e-6)
		check(math.Exp((rng.Float64() - 0.5) * 1400))
	}
	for _, x := range []float64{math.Sqrt2, math.Sqrt2 / 2, 5e-324, 1e-310, math.MaxFloat64, 2, 0.5, math.E} {
		check(x)
		check(math.Nextafter(x, 1))
	}
	t.Logf("worst error: %.3f ulp", worst)
}

func TestSpecialValues(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"Exp(0)", Exp(0), 1},
		{"Exp(+Inf)", Exp(inf), inf},
		{"Exp(-Inf)", Exp(-inf), 0},
		{"Exp(NaN)", Exp(math.NaN()), math.NaN()},
		{"Exp(709.79)", Exp(709.79), inf},
		{"Exp(-746)", Exp(-746), 0},
		{"Exp(-745.13)", Exp(-745.13), 5e-324},
		{"Log(1)", Log(1), 0},
		{"Log(0)", Log(0), -inf},
		{"Log(-1)", Log(-1), math.NaN()},
		{"Log(+Inf)", Log(inf), inf},
		{"Log(NaN)", Log(math.NaN()), math.NaN()},
		{"Exp32(89)", float64(Exp32(89)), inf},
		{"Exp32(1)", float64(Exp32(1)), float64(float32(math.E))},
		{"Pow32(0, -1)", float64(Pow32(0, -1)), inf},
		{"Pow32(0, 2)", float64(Pow32(0, 2)), 0},
		{"Pow32(0, 0)", float64(Pow32(0, 0)), 1},
		{"Pow32(-1, 0.5)", float64(Pow32(-1, 0.5)), math.NaN()},
		{"Pow32(9, -0.5)", float64(Pow32(9, -0.5)), float64(float32(1. / 3))},
		{"Pow32(Inf, -1)", float64(Pow32(float32(inf), -1)), 0},
	} {
		if c.got != c.want && !(c.got != c.got && c.want != c.want) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

// The float32 functions are nearly correctly rounded: math's value, computed
// in float64 too, may differ in the rare cases next to a tie, by one unit.
func TestFloat32FunctionsRoundOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	adjacent := func(a, b float32) bool {
		return a == b || math.Nextafter32(a, b) == b
	}
	differ := 0
	const n = 100_000
	for range n {
		x := float32((rng.Float64() - 0.5) * 170)
		y := float32(math.Exp(float64(x)))
		if got := Exp32(x); got != y {
			differ++
			if !adjacent(got, y) {
				t.Fatalf("Exp32(%v) = %v, want %v", x, got, y)
			}
		}
		if got, want := Log32(y), float32(math.Log(float64(y))); got != want {
			differ++
			if !adjacent(got, want) {
				t.Fatalf("Log32(%v) = %v, want %v", y, got, want)
			}
		}
		e := rng.Float32() - 0.5
		if got, want := Pow32(y, e), float32(math.Pow(float64(y), float64(e))); got != want {
			differ++
			if !adjacent(got, want) {
				t.Fatalf("Pow32(%v, %v) = %v, want %v", y, e, got, want)
			}
		}
	}
	if differ > 3 {
		t.Errorf("%d of %d results differ from the rounded float64 value", differ, 3*n)
	}
}

// These bits are the contract: they must come out on every architecture and
// with every GOAMD64 level.
func TestBitsAreFixed(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	h := uint64(14695981039346656037)
	mix := func(v float64) { h = (h ^ math.Float64bits(v)) * 1099511628211 }
	for range 20_000 {
		x := (rng.Float64() - 0.5) * 200
		mix(Exp(x))
		mix(Log(math.Abs(x)))
		mix(float64(Pow32(float32(math.Abs(x)), float32(rng.Float64()))))
	}
	const want = 0x7f544527dd50267b
	if h != want {
		t.Errorf("digest of 60,000 results = %#x, want %#x", h, uint64(want))
	}
}

var sink float64

func BenchmarkExp(b *testing.B) {
	x := 0.1
	for b.Loop() {
		sink += Exp(x)
		x = 1.5 - x
	}
}

func BenchmarkMathExp(b *testing.B) {
	x := 0.1
	for b.Loop() {
		sink += math.Exp(x)
		x = 1.5 - x
	}
}

func BenchmarkLog(b *testing.B) {
	x := 0.1
	for b.Loop() {
		sink += Log(x)
		x = 1.5 - x
	}
}

func BenchmarkMathLog(b *testing.B) {
	x := 0.1
	for b.Loop() {
		sink += math.Log(x)
		x = 1.5 - x
	}
}

// Expm132 and Log1p32 round once, also where 1+x loses all of x.
func TestDifferencesFromOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		x := float32(math.Exp(rng.Float64()*50-48)) * float32(1-2*rng.IntN(2))
		if got, want := float64(Expm132(x)), math.Expm1(float64(x)); math.Abs(got-want) > 0.501*math.Abs(want)*0x1p-23 {
			t.Fatalf("Expm132(%v) = %v, want %v", x, got, want)
		}
		if x <= -1 {
			continue
		}
		if got, want := float64(Log1p32(x)), math.Log1p(float64(x)); math.Abs(got-want) > 0.501*math.Abs(want)*0x1p-23 {
			t.Fatalf("Log1p32(%v) = %v, want %v", x, got, want)
		}
	}
}

// Log1p is exact to some units in the last place also where 1+x is rounded, or is 1.
func TestLog1p(t *testing.T) {
	for x := 0.9; x > 1e-300; x *= 0.37 {
		for _, x := range []float64{x, -x} {
			got, want := Log1p(x), math.Log1p(x)
			if math.Abs(got-want) > 4e-16*math.Abs(want) {
				t.Errorf("%g: got %v, want %v", x, got, want)
			}
		}
	}
	if got := Log1p(0); got != 0 {
		t.Errorf("0: got %v", got)
	}
}
