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
// There are four kinds of stages: online.go (passes of stochastic gradient
// descent; the exchange averages the weights), classes.go (the same for one
// against all), batch.go (passes of a batch solver; the exchange adds losses,
// gradients and curvatures) and ftrl.go (the FTRL family, in one process). Both rules
// that learn classes do so through chooser.go. A
// course (course.go) is a training of one of them; the hybrid has two, the first
// hands its weights to the third, and steps are numbered through.
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
// # Losses
//
// A course is an [allreduce.Recoverable]. Where the job recovers from losses
// (Keep), the state of a step is left whole until its commit, and another process
// may take a lost rank's place between any two steps: it reads the state from
// any rank and goes on as if it had been there all along. The model has the bytes
// that it would have had.
//
//	state         weights, solver, holdout, measures, the records of all ranks
//	contribution  what Work makes: weights as this rank has changed them, or sums; and its
//	              sums, label range and table, which are in its record
//	results       averaged weights, or sums over all ranks; the records
//
// state.go and parcel.go are their form on the way to another rank or into a
// checkpoint, tables.go and batchstate.go what they are in each stage. Otherwise all
// is done in place, which takes less memory: [Config.Plan] tells how much.
//
// A job may also go on without a rank (Shrink, ranks.go). What the rank had done
// stays in the sums that are reported, and is in no new ones; the best weights so
// far are forgotten, and a batch solver begins anew at the weights it has come to,
// with the passes that are left.
//
// # The end
//
// When all ranks have the same model each delivers what it owes (deliver.go): into the
// run's own place, if there is one (Config.Cluster.RunDir), and under the file's name. An
// attempt that the job did without, since it stood by or came when all was over, copies
// what it owes from there (late.go). A state says what data and which models it comes
// from (origin.go), so that nobody goes on from another's.
//
// Predictions (-p, -r) are written while a rank works and cannot be had
// from another one. A process that takes a rank's place has those of the
// passes it has done itself: the first, and the ones to come. If any lies between
// it refuses, for its file would look whole and not be.
package learn
