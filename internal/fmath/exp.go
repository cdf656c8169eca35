// SPDX-License-Identifier: Apache-2.0

package fmath

import "math"

const (
	ln2Hi = 6.93147180369123816490e-01 // the upper 33 bits of ln 2: times any exponent it is exact
	ln2Lo = 1.90821492927058770002e-10 // the rest

	expMax = 709.782712893384 // the greatest x whose exponential is finite
	expMin = -745.1332191019411
)

// Exp returns e**x, within 1 unit in the last place. Exp(NaN) = NaN,
// Exp(+Inf) = +Inf, Exp(-Inf) = 0.
//
// x = k·ln 2 + r with |r| ≤ ln(2)/2. e**r is its Taylor series up to r¹³,
// whose remainder is below 2⁻⁵⁸.
func Exp(x float64) float64 {
	switch {
	case x > expMax:
		return math.Inf(1)
	case x < expMin:
		return 0
	case x != x:
		return x
	}
	k := int(float64(x*math.Log2E) + math.Copysign(0.5, x)) // nearest, ties away from 0
	hi := x - float64(float64(k)*ln2Hi)
	lo := float64(float64(k) * ln2Lo)
	r := hi - lo

	// (e**r - 1 - r)/r², by pairs of coefficients to keep the chain short.
	const (
		c2, c3, c4, c5    = 1. / 2, 1. / 6, 1. / 24, 1. / 120
		c6, c7, c8, c9    = 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880
		c10, c11, c12, cD = 1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800
	)
	r2 := float64(r * r)
	r4 := float64(r2 * r2)
	a := float64(r2*(c4+float64(r*c5))) + (c2 + float64(r*c3))
	b := float64(r2*(c8+float64(r*c9))) + (c6 + float64(r*c7))
	c := float64(r2*(c12+float64(r*cD))) + (c10 + float64(r*c11))
	q := a + float64(r4*(b+float64(r4*c)))

	y := 1 + (hi + (float64(r2*q) - lo)) // hi, not r: what r lost is in lo
	return scale(y, k)
}

// scale returns y·2**k for y near 1, rounding once.
func scale(y float64, k int) float64 {
	if k < -1021 { // the result may be subnormal
		return math.Float64frombits(math.Float64bits(y)+uint64(k+64)<<52) * 0x1p-64
	}
	if k > 1022 {
		return math.Float64frombits(math.Float64bits(y)+uint64(k-2)<<52) * 4
	}
	return math.Float64frombits(math.Float64bits(y) + uint64(k)<<52)
}

// Exp32 is Exp for float32, as C's expf.
func Exp32(x float32) float32 { return float32(Exp(float64(x))) }

// small is the limit below which 1+x loses so many digits of x that two terms of the
// series are more accurate. At the limit the remainder of the series and the lost digits
// are both below 2⁻³³ of x.
const small = 1e-5

// Expm132 returns e**x - 1, as C's expm1f.
func Expm132(x float32) float32 {
	d := float64(x)
	if -small < d && d < small {
		return float32(d + float64(d*d)/2)
	}
	return float32(Exp(d) - 1)
}
