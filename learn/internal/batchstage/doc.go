// SPDX-License-Identifier: Apache-2.0

// Package batchstage is training by passes of a batch solver: L-BFGS or conjugate
// gradients.
//
// A step is one pass over the shard. Its work adds up what the solver has asked for, its
// exchange adds the sums of all ranks in vw's order, and its commit passes them to the
// solver, which takes the same decision on every rank.
//
// Sums accumulate in float64, in the order of the examples, and become float32 before they
// are exchanged. The number of threads does not change a bit of them.
package batchstage
