// SPDX-License-Identifier: Apache-2.0

// Package strategy decides which trainings a search for options makes. It is pure: it starts
// nothing, reads no clock, and returns the same jobs for the same seed and losses.
//
// A [Space] has the options that a search varies. A trial is a point of it; [Space.Sample]
// computes the point from the seed and the number of the trial only. A [Job] trains a trial
// with a share of the resource, which is a number of passes or of examples.
//
// A [Strategy] returns jobs and receives their losses:
//
//   - [NewRandom]: each trial once, with the whole resource.
//   - [NewASHA]: asynchronous successive halving (Li, Jamieson, Rostamizadeh, Gonina, Ben-tzur,
//     Hardt, Recht, Talwalkar: A System for Massively Parallel Hyperparameter Tuning, MLSys
//     2020, algorithm 2).
//   - [NewHyperband]: brackets of synchronous halving (Li, Jamieson, DeSalvo, Rostamizadeh,
//     Talwalkar: Hyperband, JMLR 18 (185), 2018, algorithm 1).
//   - [NewGolden]: golden-section search of one option, as vw-hypersearch has it
//     (vowpal_wabbit/utl/vw-hypersearch).
//
// The decisions of the last three depend on the order in which losses arrive, and jobs that run
// at the same time end in any order. A [Sequencer] removes that dependence: it passes on the losses
// in the order of the jobs, and bounds the number of jobs whose losses the strategy lacks.
//
//	seq := strategy.NewSequencer(s, parallel)
//	for {
//		n, job, state := seq.Next()
//		switch state {
//		case strategy.Start: // run the job; later: seq.Finish(n, loss)
//		case strategy.Wait: // until a running job has finished
//		case strategy.End:
//			return
//		}
//	}
package strategy
