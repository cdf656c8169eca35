// SPDX-License-Identifier: Apache-2.0

package fmath

import "math"

// The constants of ExpDigamma32. The kernel of internal/kernels for vectors has the same.
const (
	edShift = 3.5 // y = x + edShift
	edC1    = 1. / 24
	edC2    = 37. / 5760
	edC3    = 10313. / 2903040

	edMost  = 87 // exponents beyond underflow
	edLog2E = math.Log2E
	edMagic = 12582912 // 1.5·2²³: adding it rounds to an integer, in the low bits
	edLn2Hi = 0.693359375
	edLn2Lo = -2.12194440e-4

	edP2, edP3, edP4, edP5, edP6 = 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720
)

// ExpDigamma32 returns e^ψ(x) for x ≥ 0. Results above 1e-10 have a relative error below 1e-5; the
// error of smaller ones grows to 1e-4, and none is below e⁻⁸⁷.
//
// With x shifted by 4, e^ψ(x) = e^ψ(x+4)·e^-s with s = 1/x + 1/(x+1) + 1/(x+2) + 1/(x+3). The
// first factor needs no logarithm: with y = x + 3.5 it is y + 1/(24y) - 37/(5760y³) +
// 10313/(2903040y⁵) - … All is float32, rounded step by step.
func ExpDigamma32(x float32) float32 {
	a := float32(x * (x + 3)) // the product of the outer two; that of the inner two is a + 2
	s := float32(((x + x) + 3) / a)
	s = float32(s * (2 - 2/(a+2)))
	s = min(s, edMost)

	y := x + edShift
	r := 1 / y
	z := float32(r * r)
	e := y + float32(r*(edC1-float32(z*(edC2-float32(z*edC3)))))

	t := float32(s*edLog2E) + edMagic
	k := t - edMagic
	f := (s - float32(k*edLn2Hi)) - float32(k*edLn2Lo) // e^-s = 2^-k·e^-f
	p := edP5 - float32(f*edP6)
	p = edP4 - float32(f*p)
	p = edP3 - float32(f*p)
	p = edP2 - float32(f*p)
	p = 1 - float32(f*p)
	p = 1 - float32(f*p)
	scale := math.Float32frombits(127<<23 - math.Float32bits(t)<<23) // the bits of edMagic are shifted out
	return float32(e * float32(p*scale))
}
