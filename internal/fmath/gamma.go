// SPDX-License-Identifier: Apache-2.0

package fmath

// Digamma returns ψ(x), the derivative of ln Γ, for x > 0. Arguments up to cut are shifted above
// it by ψ(x) = ψ(x+1) - 1/x; above it the result is the series
//
//	ψ(x) = ln x - 1/(2x) - 1/(12x²) + 1/(120x⁴),
//
// whose error is below 1/(252·cut⁶): 8e-9 for a cut of 9, 3e-13 for 49.
func Digamma(x, cut float64) float64 {
	shift := 0.0
	for ; x <= cut; x++ {
		shift += 1 / x
	}
	r := 1 / x
	z := float64(r * r)
	return Log(x) - (shift + (float64(r/2) + float64(z*(1./12-float64(z/120)))))
}

// Trigamma returns ψ'(x), the second derivative of ln Γ, for x > 0. Arguments up to 9 are shifted above
// it by ψ'(x) = ψ'(x+1) + 1/x²; from there the result is the asymptotic series up to x⁻⁷, whose relative
// error is below 1e-9.
func Trigamma(x float64) float64 {
	shift := 0.0
	for ; x <= 9; x++ {
		shift += 1 / float64(x*x)
	}
	r := 1 / x
	z := float64(r * r)
	series := float64(z * (1./6 - float64(z*(1./30-float64(z/42)))))
	return shift + (r + (float64(z/2) + float64(r*series)))
}

// Lgamma returns ln Γ(x) for x > 0. Arguments below 8 are shifted by Γ(x) = Γ(x+1)/x; from there
// the result is Stirling's series up to x⁻⁷, whose error is below 1e-11.
func Lgamma(x float64) float64 {
	const (
		least          = 8
		halfLog2Pi     = 0.91893853320467274178
		s1, s3, s5, s7 = 1. / 12, 1. / 360, 1. / 1260, 1. / 1680
	)
	product := 1.0
	for ; x < least; x++ {
		product *= x
	}
	r := 1 / x
	z := float64(r * r)
	series := float64(r * (s1 - float64(z*(s3-float64(z*(s5-float64(z*s7)))))))
	return (float64((x-0.5)*Log(x)) - x) + (halfLog2Pi + (series - Log(product)))
}
