// SPDX-License-Identifier: Apache-2.0

// Package kernels computes reductions over vectors: dst = a op b, the sum of
// many vectors at once, and averages with weights. [Rows] has the kernels of
// topic models, over selected rows of a table.
//
// Vectors are bytes with a [Kind]. [Combine] applies an [Op] to two of them.
// [Fold] sums several vectors in one pass over memory. It uses AVX if the processor has
// it; the bits of the result are the same without. [NewOp] registers an
// operation of the program.
//
// The package does not depend on ranks or the network. Its callers check lengths and kinds; it
// panics on a violation.
package kernels
