// SPDX-License-Identifier: Apache-2.0

// Package maltstage trains vw's online learner over the shared vectors of package malt: ranks exchange weights
// every few examples, without waiting for the end of a pass.
//
// A [Stage] is a [sgdstage.Online] or [sgdstage.Classes] whose passes are all in one step of the job. During the passes
// a mixer counts the examples that the rank has learned from. Every Config.Every of them it makes a round: it sends what has
// changed to its neighbours in the graph, and merges what has arrived from them. No rank waits for another one
// except as Config.Sync demands. After the last pass the ranks wait for each other, and average their models as
// they do after a pass without shared vectors, so that all have the same.
//
// # What a round sends
//
// The state of a weight is one to three floats: the weight, its adaptive sum G and the largest value N of its
// feature, as far as the rule has them. Only weights that have changed since the last round are sent, or all if these
// are more than half.
//
//	models     the weights. A receiver takes the mean of the ranks that have changed a weight, weighted by
//	           their G (vw's rule for the end of a pass), and ΣG²/ΣG for G.
//	deltas     what this rank has learned since its last round. A receiver takes the mean of the deltas
//	           of the ranks that have changed a weight.
//	gradients  the same deltas, which a receiver adds to its own weights in full, as if it had learned from the
//	           sender's examples.
//	deltas:M   deltas, and the weights every M-th round.
//
// N becomes the largest of all in any case.
//
// Deltas reach only the neighbours of a rank, so the graph must connect every pair of ranks, unless weights
// are sent as well. In other graphs a weight that a merge has changed is sent on in the next round.
//
// # Stale models
//
// With bsp and notify_ack all updates of a round are of the same age, and a rank's own weight counts in the mean only if
// it has changed. With asp and ssp an update may be older than what the rank itself has learned since, so its own
// weight counts always.
//
// # Regularisation
//
// Regularisation that is due (sgd.Scalars) stays local: an update has the effective weights, and a receiver stores
// them so that they are effective there.
//
// # Losses
//
// In a job that replaces lost ranks (malt.Wait) the collectives are wired after the passes, and the job of the shared
// vectors notices losses during them. A replacement takes the state of a rank that trains, and skips as many examples of
// its shard as that rank has learned from. A replacement that comes after the last pass has no weights. Before the
// average it takes those of the lowest rank that has some.
package maltstage
