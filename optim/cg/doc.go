// SPDX-License-Identifier: Apache-2.0

// Package cg minimises a loss over data plus a regulariser by preconditioned
// conjugate gradients, with the decisions and the arithmetic of Vowpal Wabbit
// 7.10 (its --bfgs --mem 0 and --conjugate_gradient).
//
//	s, err := cg.New(cg.Config{Penalty: descent.Penalty{L2: 1}, MaxPasses: 20}, weights)
//	if err != nil { … }
//	res, err := optim.Minimize(ctx, objective, s, recorder)
//
// # The method
//
// The passes are those of package descent. The next direction is
// d = βd − Cg with
//
//	β = max(0, g'C(g − g₀) / g₀'Cg₀),
//
// Polak's and Ribière's formula for the preconditioned gradient, g₀ being the
// gradient where the line search began; β 0 restarts the method. Each direction costs
// two passes: one for the gradient, one for the curvature, which gives the
// step. It needs 6 vectors of the weights' length against the 4+2·Mem of
// L-BFGS: the choice where memory is short.
//
// # State
//
// All but the gradient, which every pass computes, is in [State]: take it
// between two passes, send it, and [Restore] continues where the first one stopped,
// to the last bit.
package cg
