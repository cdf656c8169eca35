// SPDX-License-Identifier: Apache-2.0

package fmath

import "math"

// Log returns the natural logarithm of x, within 1 unit in the last place.
// Log(+Inf) = +Inf, Log(0) = -Inf, Log(x < 0) = NaN, Log(NaN) = NaN.
//
// x = 2**k·(1+f) with 1+f between √½ and √2. With s = f/(2+f),
//
//	ln(1+f) = 2·artanh(s) = 2s + s·R = f - (f²/2 - s·(f²/2 + R)),
//	R = 2s²/3 + 2s⁴/5 + 2s⁶/7 + …
//
// The last form is that of FreeBSD's libm: f is exact and all the rest is
// small. Here R is the series up to s²⁰, whose rest is below 2⁻⁵⁷·s.
func Log(x float64) float64 {
	switch {
	case x == 0:
		return math.Inf(-1)
	case x < 0 || x != x:
		return math.NaN()
	case x > math.MaxFloat64:
		return x
	}
	k := 0
	if x < 0x1p-1022 { // subnormal
		x *= 0x1p54
		k = -54
	}
	// Counting exponents from √½ puts 1+f into [√½, √2).
	const sqrtHalf = 0x3fe6a09e667f3bcd // bits of √½
	bits := math.Float64bits(x)
	e := int64(bits-sqrtHalf) >> 52
	k += int(e)
	f := math.Float64frombits(bits-uint64(e)<<52) - 1

	const (
		l1, l2, l3, l4, l5  = 2. / 3, 2. / 5, 2. / 7, 2. / 9, 2. / 11
		l6, l7, l8, l9, l10 = 2. / 13, 2. / 15, 2. / 17, 2. / 19, 2. / 21
	)
	s := f / (2 + f)
	z := float64(s * s)
	w := float64(z * z)
	odd := float64(z * (l1 + float64(w*(l3+float64(w*(l5+float64(w*(l7+float64(w*l9)))))))))
	even := float64(w * (l2 + float64(w*(l4+float64(w*(l6+float64(w*(l8+float64(w*l10)))))))))
	r := odd + even

	half := float64(0.5 * float64(f*f))
	dk := float64(k)
	tail := half - (float64(s*(half+r)) + float64(dk*ln2Lo))
	return float64(dk*ln2Hi) - (tail - f)
}

// Log32 is Log for float32, as C's logf.
func Log32(x float32) float32 { return float32(Log(float64(x))) }

// Pow32 returns x**y for x ≥ 0, as C's powf; NaN for negative x.
// Anything**0 = 1 and 0**y = +Inf for y < 0.
//
// y·ln x is at most 104 where the result is representable, so its rounding
// error in float64 is below 2⁻⁴⁴ relative in the result: invisible in float32.
func Pow32(x, y float32) float32 {
	if y == 0 {
		return 1
	}
	return float32(Exp(float64(y) * Log(float64(x))))
}

// Log1p returns ln(1+x) for x > -1, also where 1+x is 1. The quotient corrects the rounding of 1+x.
func Log1p(x float64) float64 {
	u := 1 + x
	if u == 1 {
		return x
	}
	return x * (Log(u) / (u - 1))
}

// Log1p32 returns ln(1+x), as C's log1pf.
func Log1p32(x float32) float32 {
	d := float64(x)
	if -small < d && d < small {
		return float32(d - float64(d*d)/2)
	}
	return float32(Log(1 + d))
}
