// SPDX-License-Identifier: Apache-2.0

// Package examples makes the passes over the shard of one rank. A [Reader] decides which
// examples a pass has, in which order they come, and which of them are held out. What
// becomes of an example is up to the [Visit] of the caller.
//
// [Reader.Pass] serves online learning, example by example. [Reader.Batches] serves batch
// solvers, which share the examples of a batch out to several threads. A batch belongs to
// the reader again when the visit or the call for it has returned.
//
// The order is fixed by the data, the seed, the rank and the number of the pass, so that a
// replacement of a rank reads the same examples in the same order.
package examples
