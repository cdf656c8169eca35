// SPDX-License-Identifier: Apache-2.0

// Package optim is the vocabulary of batch optimisation by passes over data.
//
// Three parties meet here and know nothing else of each other:
//
//   - An [Objective] answers a [Request] with [Sums] over all examples: the
//     loss, its gradient, the diagonal of its Hessian, or its curvature along
//     a direction. On a cluster the sums are already reduced over all ranks,
//     so this package never sees a network.
//   - A [Solver] decides what to compute next. It is a pure state machine: Request
//     returns the needed sums, and Accept advances the state with them.
//     One request is one pass over the data.
//   - A [Recorder] gets one [Row] per pass.
//
// [Minimize] is the loop for one process:
//
//	s, err := lbfgs.New(lbfgs.Config{L2: 1, MaxPasses: 20}, weights)
//	if err != nil { … }
//	res, err := optim.Minimize(ctx, objective, s, recorder)
//
// A cluster drives the same Solver step by step, since there the loop must
// survive the loss of a rank: work is "compute this rank's Sums for Request",
// exchange is "reduce them", commit is Accept. Two solvers that start from
// equal states and accept equal sums are equal to the last bit. Ranks therefore
// need not exchange their decisions.
//
// # Contract
//
// Sums never contain the regulariser: the solver adds it, once. Vectors are
// float32; sums over examples or weights are float64 and are added in a fixed
// order. A product of two float32 is exact in float64, so a fused multiply-add
// cannot change such a sum.
package optim
