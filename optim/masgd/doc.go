// SPDX-License-Identifier: Apache-2.0

// Package masgd is stochastic gradient descent for linear models whose replicas are averaged: the local steps of a
// rank, the moments at which ranks average, and the sums of SendGradient. It has no files and no network.
//
//	l, err := masgd.New(masgd.Config{Loss: f, Rate: 0.5, PowerT: 0.5, L2: 1e-5}, weights)
//	for each round {
//		l.Begin(weights, nil, t)
//		for each example of the round {
//			l.Learn(features, example)
//		}
//		l.End()
//		… average weights over all replicas …
//	}
//
// # Two ways to combine ranks
//
// SendModel: each rank makes a step for each of its examples, on its own [Learner], and the weights of all ranks
// are averaged. SendGradient: each rank adds up the gradients of a batch at common weights ([Gradient]), and one
// step follows ([Config.Descend]). The first makes many steps for each exchange, the second makes one.
//
// # The step
//
// With the rate η = Rate·t^-PowerT, the weight h of the example and g = dLoss/dp·x:
//
//	w ← truncate((1 − η·h·L2)·w − η·h·g, η·h·L1)
//
// With Config.Invariant the factor of x is the update that respects importance weights (package loss), which never
// overshoots the label. With Config.Batch above 1 the examples of a batch make one step along their mean gradient.
//
// # Lazy regularisation
//
// A step writes only the weights of its example. The learner keeps w = s·v: the L2 term multiplies s, and v is
// scaled when s falls below 1e-9. The L1 term is a sum over the steps so far. Each weight remembers the sum at its
// last step, and the difference is the truncation of all steps that it has missed.
//
// # Control variates
//
// Local steps on different data drift apart: each replica approaches the optimum of its own data. A control
// variate h of each rank, which is subtracted from its gradients, removes the drift:
//
//	w ← w − γ·(∇f(w) − h)          local steps
//	h ← h + (p/γ)·(mean − w)       after averaging, with probability p of averaging at a step
//
// At the optimum of all data each h is the gradient of its rank, and no replica moves. The term is dense, so the
// learner keeps w = s·v + a·h, and a step costs no more writes. [Vary] is the second line.
//
// Sources: Guo et al., "Model averaging in distributed machine learning", VLDB Journal; Bottou, "Large-scale
// machine learning with stochastic gradient descent", 2010; Mishchenko, Malinovsky, Stich, Richtárik, "ProxSkip",
// 2022.
//
// # Arithmetic
//
// Products of two float32 are exact in float64, where sums accumulate, so that no fused operation changes a bit.
// The same examples give the same weights on every processor.
package masgd
