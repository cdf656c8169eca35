// SPDX-License-Identifier: Apache-2.0

// Package core has the rules of the spanning-tree server as a pure machine:
// events and the time go in, actions come out.
//
//	m := core.NewMachine(rules, term, incarnation, random)
//	for _, action := range m.Step(now, event) {
//		// send a frame, close a connection, write a record, log a line
//	}
//
// The machine opens no socket, writes no file, reads no clock and starts no
// goroutine; package server does that. The transcripts in testdata/machine
// show the actions that follow sequences of events, with the reasons. They are
// the best place to begin reading.
//
// # The life of a job
//
// A job fills until all its ranks have joined and are READY. Then it is wired:
// every rank is sent the addresses of the others. vw workers leave the server
// at this point. Native ranks keep their connections. They send heartbeats
// over them, are sent a loss at the same time and with the same cause, and end
// together:
//
//	JOIN → READY → EPOCH_START → … → COMPLETE → DELIVER → DELIVERED → FINISHED
//
// A job that recovers goes through epochs. The loss of a rank ends an epoch.
// The next one starts when another attempt has the rank, at the newest step
// that any rank has completed. In any other job the loss of a rank ends the
// job, with the same cause on all ranks. job.go has the phases of a job and
// the changes between them.
//
// # Invariants
//
//   - A rank has at most one holder in an epoch, and all members of an epoch
//     resume at the same point.
//   - No epoch starts before every holder is READY and has answered the
//     EPOCH_END of the last one.
//   - A step that a live holder has completed is never repeated.
//   - DELIVER follows only COMPLETE with the same model from all holders.
//     FINISHED follows the last DELIVERED, and for a job with a run key the
//     record on disk.
//   - The state of a phase is zero outside of that phase.
//   - Nothing depends on the order of a map: equal events cause equal actions.
//   - The memory of the machine is bounded by [Rules] and by constants.
//
// check.go checks the counters after each event in builds with invariants. The
// property tests in recovery_test.go and phase_test.go check the others.
//
// # Files
//
//   - machine.go: events, actions, the step function
//   - job.go, attempt.go: the state of a job with its phases, and of an attempt
//   - admit.go, refuse.go, vw.go, elastic.go, standby.go: which attempts hold a
//     rank, and which wait for one
//   - wiring.go: the start of an epoch
//   - lose.go, recover.go, handover.go: losses, and the next epoch
//   - links.go, pull.go: faulty edges between ranks, and the sources of missing data
//   - finish.go, ended.go: the end of a job
//   - restart.go: reconnections and restarts of the server
//   - report.go: texts for people
//   - check.go: the invariants between two events
//
// Decisions that follow from a few values are made by the packages edges,
// resume and retry. Package history has the jobs that have ended.
package core
