// SPDX-License-Identifier: Apache-2.0

// Package epoch is one rank's part in one epoch of a job, from EPOCH_START to EPOCH_END.
//
// An [Epoch] owns the connections of the epoch (package mesh), the engine that carries collectives
// over them (package engine), and the search for the root cause of a failure (package rootcause):
//
//	e := epoch.New(epoch.Config{Rank: 3, Total: 8, …}, job)
//	e.Wire(w, members, later)   // the server has announced the epoch
//	e.Start()
//	err := e.Connect(ctx)       // the connections of the tree are open
//	err = e.Agree(ctx)          // on shared memory, and on the transport
//	err = e.Carry(ctx, epoch.Collective{Verb: engine.VerbAllReduce, …})
//	segment := e.End()
//
// A job that does not recover from losses has one epoch. The user of an epoch makes the next one,
// after End of this one.
//
// # Failures
//
// The first failure ends the epoch. The goroutine that calls a collective returns from it when the
// root cause is known ([Epoch.Err]), and no driver uses its memory any more. Between two collectives
// [Job.Failed] reports the failure.
//
// # Goroutines
//
// One goroutine at a time calls Wire, Connect, Agree and Carry. Another one may call Fail, Waits and
// End meanwhile. End joins all goroutines of the epoch.
package epoch
