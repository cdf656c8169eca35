// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

package crc32c

import "golang.org/x/sys/cpu"

var hasBlocks = cpu.X86.HasAVX2 && cpu.X86.HasSSE42 && cpu.X86.HasPCLMULQDQ && hasVPCLMULQDQ()

// factors are the powers of x by which the kernel multiplies, modulo the polynomial and reflected: bit 31 is the
// coefficient of 1. A product of two reflected numbers of 64 and 32 bits is too large by x^33, as its lowest bit is bit 94
// of 128. So a half that stands d bits before its place is multiplied by x^(d-33). TestFactors computes them.
type factors struct {
	fold    [2]uint64 // move the two halves of 16 bytes by 128 bytes, the distance of two folds
	join    [2]uint64 // move them by 32 bytes, from one vector to the next
	streams [4]uint64 // move a state of 4 bytes by four, three, two streams and one stream
}

var multiplier = factors{
	fold:    [2]uint64{0x6992cea2, 0x0d3b6092},
	join:    [2]uint64{0x3da6d0cb, 0xba4fc28e},
	streams: [4]uint64{0xa51b6135, 0x9ef68d35, 0x170076fa, 0xdd7e3b0c},
}

// hasVPCLMULQDQ reports whether VPCLMULQDQ takes vectors of 32 bytes, where there is AVX2: bit 10 of
// ECX in leaf 7 of CPUID. Package cpu names this bit only together with AVX-512.
func hasVPCLMULQDQ() bool { return features7()&(1<<10) != 0 }

// features7 returns ECX of CPUID's leaf 7, or 0 if there is no such leaf.
func features7() uint32

// updateBlocks returns the state of the register after b, which has whole blocks, if it was state before.
func updateBlocks(state uint32, b []byte) uint32 {
	return foldBlocks(state, &b[0], len(b)/block, &multiplier)
}

//go:noescape
func foldBlocks(state uint32, b *byte, blocks int, f *factors) uint32
