// SPDX-License-Identifier: Apache-2.0

// Package lbfgs minimises a loss over data plus a regulariser by the
// limited-memory BFGS method, with the decisions and the arithmetic of Vowpal Wabbit 7.10.
//
//	s, err := lbfgs.New(lbfgs.Config{Mem: 10, Penalty: descent.Penalty{L2: 1}, MaxPasses: 20}, weights)
//	if err != nil { … }
//	res, err := optim.Minimize(ctx, objective, s, recorder)
//
// # The method
//
// The passes are those of package descent: a gradient and a curvature for the
// first step, then a gradient for each further one, which judges the step
// before. After an accepted step the pair (s, y) = (w − w₀, g − g₀) enters the
// memory, and the two-loop recursion with the initial matrix γC, γ = y's/(y'Cy),
// gives the next direction. A pair without positive curvature ends the run.
//
// # State
//
// A [Solver] holds 4+2·Mem vectors of the weights' length: weights, gradient,
// direction, preconditioner, and Mem slots of two. The slots are a ring: all
// but one hold pairs (y, s), newest first, and the one that the next pair will
// fill holds the gradient and the weights from which that pair starts. All but
// the gradient, which every pass computes, and every number besides is in
// [State]: take it between two passes, ship it, and [Restore] goes on where the
// first one stood, to the last bit.
//
// # Arithmetic
//
// That of package vector: equal inputs give equal bits on one architecture.
package lbfgs
