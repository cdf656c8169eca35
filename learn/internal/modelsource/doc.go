// SPDX-License-Identifier: Apache-2.0

// Package modelsource makes the models that stages return: their headers, the state with which a later run
// continues, and the model of each pass, which is a file of its own.
//
// The package does not depend on the Config: the run describes its options by a function. All sums are those of all ranks, so every
// rank writes the same bytes.
package modelsource
