// SPDX-License-Identifier: Apache-2.0

// Package schedule computes the messages and additions of a collective. It moves no
// bytes: a [Program] is the list of one rank's steps, a [Run] tracks which part of which
// step may be sent or received next, and a driver moves the bytes.
//
//	s := schedule.Spec{Schedule: schedule.Ring, Size: 8, Bytes: len(vec), Elem: 4}
//	p := s.AllReduce(rank)      // also Reduce, Broadcast, AllGather, Barrier, …
//	run.Start(p, 256<<10)       // then move bytes until run.Finished()
//
// # The order of additions
//
// The order depends only on [Spec], without its Chunk. Whatever arrives first and over
// whatever connection, each element is summed on all ranks as [Spec.Sums] describes.
// In all schedules for which [Name.Ordered] is true, the operands are in the order of
// the ranks. [Auto] stands for the schedule that [Spec.Pick] returns.
// [Spec.Quotient] reports whether the ranks of one host may sum among themselves first.
//
// # Verification
//
// [Execute] runs the programs of all ranks on symbols instead of numbers, without
// buffers between ranks, and returns the sum that each rank ends with. The tests do so
// for each schedule and 1 to 130 ranks, and compare the outcome with Sums.
//
// docs/schedules.md has pictures, the table of schedules and the cost model.
package schedule
