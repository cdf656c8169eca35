// SPDX-License-Identifier: Apache-2.0

// Package core holds the rules of the spanning-tree server as a pure machine:
// events and the time go in, actions come out.
//
//	m := core.NewMachine(rules, term, incarnation, random)
//	for _, action := range m.Step(now, event) {
//		// send a frame, end a connection, write a record, log a line
//	}
//
// The machine opens no socket, writes no file and reads no clock. Package
// server does that around it. The transcripts of testdata/machine show what
// the machine says to whom, and why.
//
// # The life of a job
//
// A job fills until all its ranks have joined. Then it is wired: every rank
// learns the addresses of the others. vw workers leave the server at this
// point. Native ranks keep their connection. They send heartbeats over it,
// learn of a loss at the same moment and with the same cause, and end
// together:
//
//	joined → ready → wired → COMPLETE → DELIVER → DELIVERED → FINISHED
//
// A job that recovers goes through epochs. The loss of a rank ends an epoch;
// the next one begins when another attempt has the rank, and continues at the
// newest step that any rank has completed. Without such a policy the loss of
// a rank ends the job: every rank gets the same cause.
//
// # Where to find what
//
//   - machine.go: events, actions, the step function
//   - admit.go, refusals.go, elastic.go, spares.go, standby.go: which attempts
//     get a rank, and which wait for one
//   - wiring.go, resume.go: how an epoch begins, and where it continues
//   - recover.go, shrink.go, handover.go, effort.go: losses
//   - links.go, culprit.go, sources.go, pull.go, evictee.go: broken links
//     between ranks, and the rank to blame
//   - finish.go, ended.go, cancel.go: the end of a job
//   - restart.go: what a restarted server learns from its ranks
//   - status.go: the answer to STATUS
//   - check.go: the invariants between two events
package core
