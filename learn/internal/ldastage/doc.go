// SPDX-License-Identifier: Apache-2.0

// Package ldastage is the stage of a training that learns topics (--lda): passes of stochastic
// variational inference over the shard, by the learner of package learn/lda.
//
// A step is one pass. Its exchange averages λ over the ranks, weighted by the documents from which
// each has learned. The average is an all-reduce, which reduces a part of λ on each rank and then
// gathers the parts. All ranks have the same λ and count the same number of batches between two
// steps.
package ldastage
