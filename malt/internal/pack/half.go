// SPDX-License-Identifier: Apache-2.0

package pack

import "math"

// toHalf returns the float16 (IEEE 754 binary16) nearest to f, the even one of two. Values
// too large become the largest finite float16 with their sign.
func toHalf(f float32) uint16 {
	const (
		tooLarge = 0x477ff000 // 65520, from which on values would be rounded to infinity
		smallest = 0x38800000 // 2^-14, the smallest normal float16
		half     = 0x3f000000 // 0.5: adding it moves the last bit of a subnormal float16 to bit 0
	)
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000: // NaN
		return sign | 0x7e00
	case b >= tooLarge:
		return sign | 0x7bff
	case b < smallest:
		return sign | uint16(math.Float32bits(math.Float32frombits(b)+0.5)-half)
	}
	odd := b >> 13 & 1
	return sign | uint16((b-(127-15)<<23+0xfff+odd)>>13)
}

// fromHalf returns the value of a float16.
func fromHalf(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exponent, fraction := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0: // fraction × 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)*0x1p-24))
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
