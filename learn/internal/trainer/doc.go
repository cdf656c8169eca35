// SPDX-License-Identifier: Apache-2.0

// Package trainer takes the steps of a training. A [Trainer] runs one [Stage] or, in the hybrid, two, and is the
// machine that package allreduce runs and recovers:
//
//	t := trainer.New(trainer.Config{Job: job, Tally: tally, …}, first)
//	defer t.Close()
//	err := group.Run(ctx, t)
//	outcome, err := t.Stage().Finish()
//
// # Contract
//
// A stage has the arithmetic of its steps. The trainer numbers them, writes and reads the state and the results for other ranks, and
// enters the second stage in the commit of the last step of the first one. A state that has been read only in part lets no
// further step run. A Trainer belongs to the goroutine that runs it, but WriteState and WriteResults may be called at any time
// between two commits.
package trainer
