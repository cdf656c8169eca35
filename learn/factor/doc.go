// SPDX-License-Identifier: Apache-2.0

// Package factor predicts ratings of items by users by matrix factorisation with biases.
//
//	m, err := factor.New(factor.Config{Users: 1000, Items: 100, Mean: 3.5, Low: 1, High: 5})
//	for pass := range passes {
//		for _, r := range ratings {
//			m.Update(r, pass)
//		}
//	}
//	rating := m.Predict(user, item)
//
// # Method
//
// The prediction is
//
//	mean + b(user) + b(item) + p(user)·q(item)
//
// and the model minimises the squared errors plus λ times the squares of the biases and factors of each rating, times the
// weight of the rating. The steps are those of stochastic gradients: Update changes one row of the users and one of the
// items. The length of a step falls from pass to pass, as Rate/(1 + Decay·pass).
//
// # In parallel
//
// Config.UserRows and Config.ItemRows may be the values of two shared vectors (package malt). A rank sends the rows that
// it has changed and writes those that arrive over its own, with malt.Replace: Hogwild across machines.
//
// # Contract
//
// Nothing does I/O. First factors depend only on Config.Seed, the rest on the ratings and their order: the same gives
// the same bits. Update and Predict allocate nothing. A Model belongs to one goroutine.
package factor
