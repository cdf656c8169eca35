// SPDX-License-Identifier: Apache-2.0

// Package engine carries collectives over the connections of one epoch.
//
// An [Engine] has an [Edge] for each connection to another rank. A driver
// moves the bytes of all edges: a goroutine for each direction (netconn.go),
// or one poll loop (poll_linux.go). Edges of ranks on one machine may turn
// from the socket to a pipe in shared memory (pipes.go), and to verbs where a
// device has them (lift.go). vw's stream has a driver of its own (stream.go).
//
//	call.go, plans.go       a collective as all ranks must call it, and its schedule
//	wire.go                 the payloads of notes and faults; package link has the frames
//	inbox.go, outbox.go     what arrives and what leaves, frame by frame
//	shared*.go              the all-reduce of ranks that share memory
//	watch.go                deadlines: what a collective waits for, and since when
//	errors.go, fault.go     failures, and faults that tests inject
//
// An engine lives for one epoch. It fails as a whole: the first failure ends
// all its connections, and every later call returns that failure.
package engine
