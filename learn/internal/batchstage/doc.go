// SPDX-License-Identifier: Apache-2.0

// Package batchstage is training by passes of a batch solver: L-BFGS, conjugate gradients,
// Newton's method or the mean of the ranks' Newton directions (GIANT).
//
// A step is one pass over the shard. Its work adds up what the solver has asked for, its
// exchange adds the sums of all ranks in vw's order, and its commit passes them to the
// solver, which takes the same decision on every rank.
//
// The products with a Hessian, the directions of GIANT and the trials of steps are steps
// without examples in the sums: they are over weights that have been measured, or that are
// only tried. A rank keeps a sample of its examples in memory for them (quadratic), which a
// pass can collect again; so it is no part of the state.
//
// The vectors of the solver have the weights that occur in the data of any rank, which are consecutive
// there (numbers). The first pass finds out which these are (first).
//
// Sums accumulate in float64, in the order of the examples, and become float32 before they
// are exchanged. The number of threads does not change a bit of them.
package batchstage
