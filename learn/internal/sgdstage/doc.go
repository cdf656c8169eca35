// SPDX-License-Identifier: Apache-2.0

// Package sgdstage is training by passes of online learning. [Online] is stochastic
// gradient descent, [Classes] is the same for one against all, and [FTRL] is the FTRL
// family, which runs in one process.
//
// A step of [Online] is one pass over the shard. Its work learns from every example, its
// exchange averages the weights of all ranks, weighted by the adaptive sums where the rule
// is adaptive (vw's accumulate_weighted_avg), and its commit decays the learning rate.
//
// Where the job recovers from losses, a rank keeps two tables of weights, so that the state
// of a step is left whole until the commit and another rank can read it meanwhile.
package sgdstage
