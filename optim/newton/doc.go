// SPDX-License-Identifier: Apache-2.0

// Package newton minimises a loss over data plus a regulariser by Newton's method, in few
// passes over the data or in few exchanges between ranks.
//
//	s, err := newton.New(newton.Config{Penalty: descent.Penalty{L2: 1}, MaxPasses: 100}, weights)
//	if err != nil { … }
//	res, err := optim.Minimize(ctx, objective, s, recorder)
//
// # The method
//
// Pass 1 computes the loss f, its gradient g and the diagonal of the Hessian H, of which the
// preconditioner is made as in package descent. A direction s then solves (H+Λ)s = −g, Λ being
// the regulariser, in one of three ways:
//
//   - With Config.Matrix, if at most [MaxFeatures] weights have curvature, each gradient comes with
//     their whole Hessian. The system is solved directly, and a step needs one request. The first
//     step needs a request of kind Matrix besides, since pass 1 finds the features.
//   - Conjugate gradients ([CG]) need one product of H with a vector per iteration: a request of
//     kind Product. They end by the rule of liblinear, when an iteration gains less than
//     [Tolerance] of the mean gain so far.
//   - With Config.Average each rank solves the system with the Hessian of its own examples
//     ([Local]), and the sum of the parts is the mean direction: one request of kind Local
//     (GIANT; Wang, Roosta, Xu and Mahoney, 2018).
//
// The weights move along the direction. A Newton direction is followed by a whole step; the
// gradient at the new weights judges it. If f has fallen by less than 1 % of what the slope
// promises, a request of kind Trial evaluates several shorter steps in one pass. A mean of
// directions may be too short, too, so such a pass always chooses the step: the lowest point of the
// parabola through the best of the tried steps and its neighbours.
//
// The run ends when a step lowers f by less than the Termination fraction, when the quadratic
// model promises no more than that, or after MaxPasses requests. The last step is taken.
//
// # Samples
//
// The answer to a Product request may be that of a part of the examples, scaled to all. The
// directions are then less accurate, and gradient and loss are not. All products for one Round
// must use one part, since conjugate gradients need one matrix.
//
// # State
//
// All that a solver needs between two passes is in [State]: take it, send it, and [Restore]
// continues where the first one stopped, to the last bit. Newton's method needs 7 vectors of the
// weights' length, and so does the mean of directions. A matrix of n features adds n(n+1)/2 float64.
//
// # Arithmetic
//
// That of package vector: equal inputs give equal bits on one architecture.
package newton
