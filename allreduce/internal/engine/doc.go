// SPDX-License-Identifier: Apache-2.0

// Package engine carries collectives over the connections of one epoch.
//
// An [Engine] has an [Edge] for each other rank that a collective has needed. An edge is the
// owner's side of a link ([link.Handler]): it chooses the part to send next and the memory for
// incoming parts. The links and their drivers are in package internal/link and below.
//
//	call.go, plans.go       a collective as all ranks must call it, and its schedule
//	payloads.go             the payloads of progress and fault frames
//	receive.go, send.go     what an edge does with the frames of its link
//	stream.go               the same for vw's stream
//	sums.go                 checksums of parts that are passed on unchanged
//	shared.go, hostplan.go  all-reduces of ranks that share memory, by package shm
//	watch.go                deadlines: what a collective waits for, and since when
//	errors.go, fault.go     failures, and faults that tests inject
//
// An engine lives for one epoch. It fails as a whole: the first failure ends
// all its connections, and every later call returns that failure.
package engine
