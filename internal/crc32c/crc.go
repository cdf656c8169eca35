// SPDX-License-Identifier: Apache-2.0

package crc32c

import "hash/crc32"

var table = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of b.
func Checksum(b []byte) uint32 { return Update(0, b) }

// Update returns the CRC-32C of the bytes whose CRC-32C is sum, followed by b.
func Update(sum uint32, b []byte) uint32 {
	if n := len(b) &^ (block - 1); n > 0 && hasBlocks {
		sum = ^updateBlocks(^sum, b[:n])
		b = b[n:]
	}
	return crc32.Update(sum, table, b)
}

// The division of a block: the first half is folded in vectors, and each quarter of the second
// half is a stream of instructions CRC32. Blocks of 8 KiB are as fast; of 16 KiB, whose parts
// are 4 KiB apart, they take 40 % longer.
const (
	block  = 4096
	stream = block / 8
)

// factors are the powers of x by which the kernel multiplies, modulo the polynomial.
type factors struct {
	fold    [2]uint64 // move the two halves of 16 bytes by 128 bytes, the distance of two folds
	join    [2]uint64 // move them by 32 bytes, from one vector to the next
	streams [4]uint64 // move a state of 4 bytes by four, three, two streams and one stream
}

// newFactors returns the factors. A product of two reflected numbers of 64 and 32 bits is too
// large by x^33, as its lowest bit is bit 94 of 128. So a half that stands d bits before its
// place is multiplied by x^(d-33).
func newFactors() (f factors) {
	f.fold = [2]uint64{power(64 + 1024 - 33), power(1024 - 33)}
	f.join = [2]uint64{power(64 + 256 - 33), power(256 - 33)}
	for i := range f.streams {
		f.streams[i] = power(8*stream*(4-i) - 33)
	}
	return f
}

// power returns x^n modulo the polynomial, reflected: bit 31 is the coefficient of 1.
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
