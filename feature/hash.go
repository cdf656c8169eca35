// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"encoding/binary"
	"math/bits"
)

// The constants of MurmurHash3_x86_32.
const (
	murmurC1 = 0xcc9e2d51
	murmurC2 = 0x1b873593
)

// Murmur3 returns MurmurHash3_x86_32 of data, vw's hash of features and checksum
// of models.
func Murmur3(data []byte, seed uint32) uint32 {
	h, n := seed, uint32(len(data))
	for len(data) >= 4 {
		h = murmurBlock(h, binary.LittleEndian.Uint32(data))
		data = data[4:]
	}
	var k uint32
	switch len(data) {
	case 3:
		k = uint32(data[2]) << 16
		fallthrough
	case 2:
		k |= uint32(data[1]) << 8
		fallthrough
	case 1:
		k |= uint32(data[0])
		h ^= murmurScramble(k)
	}
	return murmurFinish(h ^ n)
}

func murmurScramble(k uint32) uint32 {
	return bits.RotateLeft32(k*murmurC1, 15) * murmurC2
}

func murmurBlock(h, k uint32) uint32 {
	return bits.RotateLeft32(h^murmurScramble(k), 13)*5 + 0xe6546b64
}

func murmurFinish(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// murmurWord returns Murmur3 of the low n < 8 bytes of w; its other bytes must be 0.
// A last block of zero bytes changes nothing, so it needs no branch.
func murmurWord(w uint64, n int, seed uint32) uint32 {
	h := seed
	if n >= 4 {
		h = murmurBlock(h, uint32(w))
		w >>= 32
	}
	return murmurFinish(h ^ murmurScramble(uint32(w)) ^ uint32(n))
}

// HashStrings returns the hash of vw's --hash strings. s is first trimmed of control
// characters and blanks. If only digits (or nothing) remain, the hash is their value plus
// the seed, otherwise Murmur3 of the trimmed s.
func HashStrings(s []byte, seed uint32) uint32 {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	var value uint32
	for _, c := range s {
		d := uint32(c - '0')
		if d > 9 {
			return Murmur3(s, seed)
		}
		value = value*10 + d // modulo 2^32, as only these bits are ever used
	}
	return value + seed
}

// hasher returns the function behind --hash.
func hasher(all bool) func(s []byte, seed uint32) uint32 {
	if all {
		return Murmur3
	}
	return HashStrings
}
