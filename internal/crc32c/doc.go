// SPDX-License-Identifier: Apache-2.0

// Package crc32c computes CRC-32C, the checksum with the polynomial of Castagnoli (RFC 3720,
// section 12.1), of frames, caches, models and checkpoints.
//
// The results are those of hash/crc32, which also computes them for short slices. From 4 KiB
// on, a processor with AVX2 and VPCLMULQDQ is about twice as fast as that package, which is bound by
// the instruction CRC32 with 8 bytes a cycle: half of each block goes through carry-less multiplications, which
// use other units of the processor at the same time (V. Gopal et al., "Fast CRC Computation for
// Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009).
package crc32c
