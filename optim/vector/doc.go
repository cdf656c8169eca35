// SPDX-License-Identifier: Apache-2.0

// Package vector is the arithmetic of vectors that batch solvers share.
//
//	slope := vector.Dot(gradient, direction)
//	vector.AddScaled(x, start, step, direction) // x = start + step·direction
//
// # Contract
//
// Vectors are float32, sums are float64. Each kernel reads a vector once. A sum
// is taken in blocks of 65,536 elements, each block in four interleaved lanes
// that are added as (0+1)+(2+3), the blocks one after the other: the order of
// additions depends only on the length. Products of two float32 are exact in
// float64, and where rounding between operations matters it is written out, so
// that no fused multiply-add changes a bit. Long vectors are worked by several
// goroutines, all of which have ended when a kernel returns; their number does
// not change the result. Nothing is allocated for short vectors.
//
// Arguments of one call have one length; a destination may be one of the
// sources, and must not overlap one in part.
package vector
