// SPDX-License-Identifier: Apache-2.0

package nn

import "math"

// tanh approximates the hyperbolic tangent with the arithmetic of vw, to about 1e-4. Its bits
// decide those of all weights.
func tanh(x float32) float32 { return -1 + 2/(1+exp(-2*x)) }

func exp(x float32) float32 { return pow2(float32(1.442695040) * x) }

// pow2 computes 2 to the power of p: p becomes the exponent of the result's bits, and a rational
// function of its fraction the mantissa.
func pow2(p float32) float32 {
	offset := float32(0)
	if p < 0 {
		offset = 1
	}
	p = max(p, -126)
	z := p - float32(int32(p)) + offset
	return math.Float32frombits(uint32((1 << 23) * (p + float32(121.2740575) + float32(27.7280233)/(float32(4.84252568)-z) - float32(float32(1.49012907)*z))))
}
