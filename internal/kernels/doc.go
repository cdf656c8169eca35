// SPDX-License-Identifier: Apache-2.0

// Package kernels computes reductions over vectors: dst = a op b, the sum of
// many vectors at once, and averages with weights.
//
// Vectors are bytes with a [Kind]. [Combine] applies an [Op] to two of them,
// [Fold] sums several in one pass over memory, with AVX where the processor
// has it and with the same bits where it has not. [NewOp] registers an
// operation of the program's own.
//
// The package knows no ranks and no network. Lengths and kinds are checked by
// its callers; a fault of theirs panics.
package kernels
