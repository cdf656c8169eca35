// SPDX-License-Identifier: Apache-2.0

// Package ldastage is the stage of a training that learns topics (--lda): passes of stochastic
// variational inference over the shard, by the learner of package learn/lda.
//
// A step is one pass, or with moments of averaging within a pass one of its rounds. Rounds divide
// the documents of all ranks in the same proportions, which a first step counts.
//
// The exchange averages λ over the ranks, weighted by the documents from which each has learned.
// It is an all-reduce, which reduces a part of λ on each rank and then gathers the parts. All ranks
// have the same λ and count the same number of batches between two steps. The state is left whole
// until the commit, and the learner works on a copy, in a job that recovers from losses.
package ldastage
