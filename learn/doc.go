// SPDX-License-Identifier: Apache-2.0

// Package learn trains vw's linear learner: online by adaptive gradient
// descent, by L-BFGS or conjugate gradients, or by the hybrid of both (Agarwal, Chapelle, Dudík and
// Langford, 2014), alone or as one rank of a cluster.
//
// [Run] is the whole product behind the command line: it takes a [Config],
// reads the data as often as asked, trains, and leaves the model, the
// predictions and vw's table and summary behind. What it needs from the outside
// (opening inputs, creating files, a place to talk) is in the Config, so that
// the package itself never touches the environment.
//
// # Steps
//
// Training is a machine of steps that [allreduce.Group.Run] drives; a step is
// one pass over the data:
//
//	Work      read the shard, learn or sum             local
//	Exchange  average weights, or add up sums          the collectives
//	Commit    decay, holdout, next direction           local and deterministic
//
// There are four such machines: online.go (passes of stochastic gradient
// descent; the exchange averages the weights), classes.go (the same for one
// against all), batch.go (passes of a batch solver; the exchange adds losses,
// gradients and curvatures) and ftrl.go (the FTRL family, in one process). The
// hybrid runs the first, hands its weights to the third, and that is all it does.
//
// A run alone is a job of one rank: the same code, with [allreduce.Local].
//
// # What ranks share
//
// Each step ends with an all-gather of one small record per rank (record.go):
// loss sums, counts, label range, normalisation sums. So every rank holds
// the records of all, takes the same decisions from them, and writes the same
// model bytes. In a job with vw workers there are no records; there the ranks
// keep to vw's own sequence of calls (vwjob.go).
//
// The learner updates its weights in place: a lost rank ends the job.
package learn
