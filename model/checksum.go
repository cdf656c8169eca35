// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"math/bits"
)

// murmur3 is the 32-bit MurmurHash3 of p. Each piece of a header is hashed
// with the hash of the pieces before it for a seed.
func murmur3(seed uint32, p []byte) uint32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	h, n := seed, uint32(len(p))
	for ; len(p) >= 4; p = p[4:] {
		k := binary.LittleEndian.Uint32(p) * c1
		h ^= bits.RotateLeft32(k, 15) * c2
		h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
	}
	if len(p) > 0 {
		var tail [4]byte
		copy(tail[:], p)
		h ^= bits.RotateLeft32(binary.LittleEndian.Uint32(tail[:])*c1, 15) * c2
	}
	h ^= n
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}
