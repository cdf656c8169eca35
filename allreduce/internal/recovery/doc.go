// SPDX-License-Identifier: Apache-2.0

// Package recovery takes a rank through the steps of its job, over the losses of other ranks.
//
// A step has three parts: work, exchange and commit. A step is completed on a rank when its
// exchange has returned before the epoch was sealed there. [Steps] keeps how far this rank is:
//
//	s := recovery.New(recovery.Config{Rank: 3, Total: 8, …}, job)
//	s.SetState(machine)
//	s.Begin(w)                  // in the wiring w of an epoch
//	for … {
//		… the machine's work …
//		s.WorkDone(took)
//		err := s.Run(ctx, recovery.Step{Exchange: …, Commit: …})
//		s.Save()
//	}
//
// # Transitions
//
// When an epoch ends, the server asks every rank how far it is ([Steps.Seal]), which seals the epoch:
// a step whose exchange returns afterwards is not completed in it. The server begins the next
// epoch at the newest step that any rank has completed, the resume point. Each rank is then in
// one of these positions:
//
//	at the resume point     it repeats the interrupted exchange with the same contribution
//	one step behind         it takes the results of the step from a rank that has them, commits them
//	further behind, or new  it takes the state
//	a job without ranks     rank 0 reads the state from a checkpoint
//
// So work is repeated on no rank but a lost one. A rank that took part of a state and lost its
// source has no valid state until it has taken a whole one: it lets the server count it as lost
// ([SourceLostError]) if no rank has one.
//
// A rank whose results others take does not begin its next exchange before they have
// acknowledged them, since an exchange overwrites the results.
//
// # Invariants
//
// complete and Seal exclude each other by a lock, so the server and this rank agree on what is
// completed. Commit, reading a state and copying one exclude each other by another lock, so a
// state is never copied half-written. The runner is the goroutine that calls Run; only it changes
// the machine.
//
// The package depends on neither groups nor collectives nor the engine's connections. It uses the
// job through the interface [Job], and the server through [Server].
package recovery
