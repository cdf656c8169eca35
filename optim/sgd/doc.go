// SPDX-License-Identifier: Apache-2.0

// Package sgd is vw's online learner: stochastic gradient descent on a linear
// model, with vw's adaptive, normalised and importance-invariant update.
package sgd
