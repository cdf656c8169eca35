// SPDX-License-Identifier: Apache-2.0

// Package svm is a linear support-vector machine that learns from one example at a time, in the manner of Bottou's
// svmsgd.
//
//	t0, err := svm.Tune(config, sample) // finds the learning rate on some examples
//	config.T0 = t0
//	m, err := svm.New(config)
//	for _, ex := range examples {
//		m.Update(ex)
//	}
//	margin := m.Predict(x) // above 0: the positive class
//
// # Method
//
// The model minimises
//
//	λ/2·|w|² + mean of max(0, 1 − y·w'x)
//
// by gradient steps of length 1/(λ(t+t0)), where t counts the examples. The weights are kept as scale × values, so
// that the step on λ/2·|w|² changes only the scale, and an example costs time in proportion to its own features.
// With Config.Average predictions use the mean of the weights after all steps, which needs fewer passes.
//
// # In parallel
//
// Config.Weights may be the values of a shared vector (package malt): a program sends them with their Scale, and merges
// those that arrive with malt.RescaledAverage between Detach and the next Update.
//
// # Contract
//
// Nothing does I/O or is random: the caller chooses the order of examples. The same examples in the same order give
// the same bits. Update and Predict allocate nothing. A Model belongs to one goroutine.
package svm
