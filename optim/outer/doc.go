// SPDX-License-Identifier: Apache-2.0

// Package outer is the outer optimiser of local SGD: it turns the mean of several learners' weights into the
// weights with which all of them continue.
//
// Learners start at the same weights, each learns from its own examples for a while, and their weights are averaged.
// The difference of start and mean is a gradient of its own, whose noise is small. A step along it, with a rate
// and with momentum, may come closer to the optimum than the mean itself:
//
//	δ = start − mean          = mean over ranks of (start − rank)
//	v ← μ·v + δ
//	w ← start − η·(δ + μ·v)   Nesterov's momentum
//
// With η = 1 and μ = 0 the result is the mean, which is plain averaging.
//
//	o, err := outer.New(outer.Config{Rate: 0.7, Momentum: 0.9}, weights) // the weights at the start
//	for each round {
//		learn(weights)
//		average(weights)
//		o.Step(weights)
//	}
//
// Where only some weights are exchanged in a round, [Optimizer.Next] steps one of them. The momentum of a
// weight then changes only in the rounds that exchange it.
//
// The state is two float32 for each weight: where the last round has left it, and its velocity. A step
// allocates nothing.
//
// Source: Douillard et al., "DiLoCo: distributed low-communication training of language models", 2023; they
// use η = 0.7 and μ = 0.9 for neural nets.
package outer
