// SPDX-License-Identifier: Apache-2.0

//go:build amd64 && !noasm

package crc32c

import (
	"hash/crc32"
	"testing"
)

func TestFactors(t *testing.T) {
	t.Parallel()
	const fold, join = 8 * 128, 8 * 32 // bits
	want := factors{
		fold: [2]uint64{power(64 + fold - 33), power(fold - 33)},
		join: [2]uint64{power(64 + join - 33), power(join - 33)},
	}
	for i := range want.streams {
		want.streams[i] = power(8*stream*(4-i) - 33)
	}
	if multiplier != want {
		t.Errorf("the factors are %#x, want %#x", multiplier, want)
	}
}

// power returns x^n modulo the polynomial, reflected.
func power(n int) uint64 {
	p := uint32(1) << 31
	for range n {
		low := p & 1
		p >>= 1
		if low == 1 {
			p ^= crc32.Castagnoli
		}
	}
	return uint64(p)
}
