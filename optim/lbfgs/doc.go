// SPDX-License-Identifier: Apache-2.0

// Package lbfgs minimises a loss over data plus λ/2‖w‖² by the limited-memory
// BFGS method, with the decisions and the arithmetic of Vowpal Wabbit 7.10.
//
// # The method
//
// Let f(w) be the sum of the losses of all examples plus λ/2‖w‖², g its
// gradient and H the diagonal of its Hessian at the start.
//
//   - Pass 1 computes f, g and H. The preconditioner is C = 1/(H+λ), where no
//     element exceeds 10000/max(H+λ), and 0 where H+λ is 0 (a weight that no
//     example touches does not move). The first direction is d = −Cg.
//   - Pass 2 computes the curvature d'∇²f d. The step is −g'd over it.
//   - Every further pass computes f and g at the new weights and judges the
//     step by wolfe1 = (f − f₀)/(step·g₀'d). Below 0.01, or when f grew, the
//     step is halved and the weights move back. Otherwise the pair
//     (s, y) = (w − w₀, g − g₀) enters the memory, the two-loop recursion with
//     the initial matrix γC, γ = y's/(y'Cy), gives the next direction, and the
//     weights move by a whole step.
//
// It ends when f fell by less than the Termination fraction (the direction
// found in that pass is still followed), when the curvature y's is not
// positive, or after MaxPasses passes.
//
// Later versions of vw invert the diagonal before it is summed over the
// cluster and lose it after the first pass; their traces differ.
//
// # State
//
// A [Solver] holds 4+2·Mem vectors of the weights' length: weights, gradient,
// direction, preconditioner, and Mem slots of two. The slots are a ring: all
// but one hold pairs (y, s), newest first, and the one that the next pair will
// fill holds the gradient and the weights from which that pair starts. All but
// the gradient, which every pass makes anew, and every number besides is in
// [State]: take it between two passes, ship it, and [Restore] goes on where the
// first one stood, to the last bit.
//
// # Arithmetic
//
// Vectors are float32. Dot products are added in float64, in the order that
// the function dot fixes; no fused multiply-add changes them, so equal inputs
// give equal bits on one architecture.
package lbfgs
