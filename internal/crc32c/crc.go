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
