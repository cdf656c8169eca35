// SPDX-License-Identifier: Apache-2.0

// Package avgstage is training by model averaging (MA-SGD): ranks make local steps of SGD and average their weights
// several times in a pass, or they add up the gradients of a batch for one common step. Package optim/masgd has the
// steps and the moments.
//
// # Steps of the job
//
// A step of the job is a round: the examples between two moments at which ranks exchange. Its work learns from
// these examples, its exchange averages, and its commit makes the mean the next state. The last round of a pass
// also ends the pass. Where a pass has several rounds, a first step counts the examples: all ranks then divide their
// shards into the same number of rounds, so that no rank waits for one that has more examples.
//
// # Averaging
//
// A rank multiplies its weights by the weight of its examples. A reduce-scatter brings each part of the sums to its
// owner, which divides it, and an all-gather brings all parts to all ranks. For gradients the owner makes the step
// for its part of the weights. With Config.Whole, each rank gets all sums by an all-reduce and does so for all parts.
//
// With vw's adaptive or normalised rule, [Online] divides the passes of package sgdstage into rounds. Steps and averages
// are those of that package.
//
// # Losses
//
// The state is left whole until the commit: the replica that learns is a copy of it, and the mean has memory of its
// own. A replacement reads the state, continues in the middle of a pass, and skips the examples of earlier rounds.
// A control variate belongs to one rank. It travels in the record of the rank, so that any rank can restore it.
package avgstage
