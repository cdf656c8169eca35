// SPDX-License-Identifier: Apache-2.0

// Package reduction is the interface of learners that are composed of linear learners in one table,
// as vw's reductions are of its base learner: low-rank interactions, networks, bootstrap and others.
//
// A learner is a package below this one. It exports a [Spec], which package reductions lists:
//
//	var Spec = reduction.Spec{
//		Name:    "twice",
//		Options: []reduction.Option{{Name: "twice", Kind: reduction.Count, Arg: "K", Help: "learn K times from each example", Kept: true}},
//		New: func(v reduction.Values) (reduction.Plan, error) {
//			k, err := v.Count("twice", 1, 100)
//			return reduction.Plan{Make: func(e *reduction.Env) (reduction.Learner, error) { return &learner{e, k}, nil }}, err
//		},
//	}
//
// The row is enough: the option is parsed, shown in help, kept in models, compared between ranks
// and passed to New, and one stage drives the learner over passes and ranks.
//
// # Contract
//
// A learner keeps its weights in Env.Base only. Ranks average these at the end of each pass, and a
// replacement of a lost rank gets them. A learner with further state implements [Stateful].
//
// Learn and Predict allocate nothing, and their results depend on nothing but the examples, the
// weights and the state.
package reduction
