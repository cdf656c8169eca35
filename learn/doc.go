// SPDX-License-Identifier: Apache-2.0

// Package learn trains vw's linear learner: online by adaptive gradient descent, by L-BFGS
// or conjugate gradients, or by the hybrid of both (Agarwal, Chapelle, Dudík and Langford,
// 2014). It runs in one process or as one rank of a cluster.
//
// [Run] is the product behind the command line. It takes a [Config], reads the data as
// often as asked, trains, and delivers the model, the predictions, and vw's table and
// summary. Inputs, files and diagnostics are functions and writers in the Config, so that
// the package itself never touches the environment.
//
// # Steps
//
// A training is a state machine whose steps [allreduce.Group.Run] drives. A step is one
// pass over the data:
//
//	Work      read the shard, learn or sum             local
//	Exchange  average weights, or add up sums          the collectives
//	Commit    decay, holdout, next direction           local and deterministic
//
// Package avgstage divides passes into rounds, each of which is a step.
//
// Package sgdstage has the stages of online learning, whose exchange averages the weights.
// Package batchstage has the stage of a batch solver, whose exchange adds losses,
// gradients and curvatures. Package trainer runs one stage, or two in the hybrid: the first
// passes its weights to the second, and the steps are numbered through. A run in one
// process is a job of one rank: the same code, with [allreduce.Local].
//
// # Collaborators
//
// A stage depends on neither the Config nor the run. It gets its settings and those of four
// collaborators that it needs: a reader of the shard (package examples), the counts and
// losses (package tally), the rank's part in the job (package job), and the outputs (package
// output). The run makes all of them from the Config, and delivers the
// outcome.
//
// # What ranks share
//
// Each step ends with an all-gather of one small record per rank: loss sums, counts, label
// range, normalisation sums. Each rank has the records of all, takes the same decisions
// from them, and writes the same model bytes. In a job with vw workers there are no
// records; there the ranks keep to vw's own sequence of calls.
//
// # Losses
//
// The trainer is an [allreduce.Recoverable]. Where the job recovers from losses (Keep), the
// state of a step is left whole until its commit, and another process may replace a lost
// rank between any two steps. The replacement reads the state from any rank. The model has
// the same bytes as without the loss.
//
//	state         weights, solver, holdout, metrics, the records of all ranks
//	contribution  what Work makes: the weights that this rank has changed, or sums; and its
//	              counters, label range and table, which are in its record
//	results       averaged weights, or sums over all ranks; the records
//
// A job that does not recover updates everything in place, which takes less memory:
// [Config.Plan] returns how much.
//
// A job may also continue without a lost rank (Shrink). Its completed passes still count in the
// sums that are reported, but new sums lack its examples. The best weights so far are
// forgotten, and a batch solver starts again at its current weights with the passes that
// are left. With asynchronous training a job may be open ([allreduce.Open]) until all passes
// are made: a lost rank may return meanwhile, and ranks may join late. Its vectors grow.
//
// # The end
//
// When all ranks have the same model, each delivers the files that it owes: into the run
// directory, if there is one (Config.Cluster.RunDir), and under the file's name. A late
// attempt copies the files that it owes from the run directory. A state identifies the data
// and the models that it was made from, and is refused for others.
//
// Output.Predictions and Output.RawPredictions are written while a rank works, and no other
// process has them. A replacement has the predictions of the passes that it has done itself. If
// any pass is missing between them, it refuses to run: otherwise its file would silently lack
// predictions.
package learn
