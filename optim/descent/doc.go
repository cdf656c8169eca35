// SPDX-License-Identifier: Apache-2.0

// Package descent has the parts that the batch solvers share: the first pass, the
// preconditioner, the regulariser, the line search and the trace, with the
// decisions of Vowpal Wabbit. A [Method] finds the next direction;
// package lbfgs has one, package cg another. Use those packages.
//
// # The passes
//
// Let f(w) be the sum of the losses of all examples plus the [Penalty], g its
// gradient and H the diagonal of the Hessian of the losses at the start.
//
//   - Pass 1 computes f, g and H. The preconditioner is C = 1/(H+λ), where no
//     element exceeds 10000/max(H+λ), and 0 where H+λ is 0 (a weight that no
//     example touches does not move). The first direction is d = −Cg.
//   - Pass 2 computes the curvature d'∇²f d. The step is −g'd over it.
//   - Every further pass computes f and g at the new weights and judges the
//     step by wolfe1 = (f − f₀)/(step·g₀'d). Below 0.01, or when f grew, the
//     step is halved and the weights move back. Otherwise the method gives the
//     next direction, and the weights move by a whole step; with
//     Config.Curvature another curvature pass finds the step, as in pass 2.
//
// It ends when f fell by less than the Termination fraction (the direction
// found in that pass is still followed, unless a curvature pass would have to
// find the step), when the method finds no direction, when a derivative along
// the direction is zero, when a halved step promises less than 2⁻⁵² of f (vw
// halves it in every further pass, to no effect), or after MaxPasses passes. A
// sum that is infinite or not a number is an [optim.DivergeError].
//
// # Two semantics
//
// With [optim.VW9] the preconditioner is made before the sums of the ranks are
// added, which is what Prepare is for, and from pass 2 on it is 1/λ: what vw
// does since 8.2.0. Weights without a regulariser then lose it in f and g only.
//
// # Arithmetic
//
// That of package vector: float32 vectors, float64 sums in a fixed order. Equal
// inputs give equal bits on one architecture, whatever the number of threads.
package descent
