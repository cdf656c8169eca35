// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

package crc32c

import "golang.org/x/sys/cpu"

var (
	hasBlocks  = cpu.X86.HasAVX2 && cpu.X86.HasSSE42 && cpu.X86.HasPCLMULQDQ && hasVPCLMULQDQ()
	multiplier = newFactors()
)

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
