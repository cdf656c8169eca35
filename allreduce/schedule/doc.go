// SPDX-License-Identifier: Apache-2.0

// Package schedule says who sends what to whom, and what is added to what, in a
// collective. It moves no bytes: a [Program] is one rank's share of a collective
// as a list of steps, a [Run] carries it through part by part, and a driver moves
// the bytes.
//
//	s := schedule.Spec{Schedule: schedule.Ring, Size: 8, Bytes: len(vec), Elem: 4}
//	p := s.AllReduce(rank)      // also Reduce, Broadcast, AllGather, Barrier, …
//	run.Start(p, 256<<10)       // then move bytes until run.Finished()
//
// # The order of additions
//
// It is a function of [Spec] without its Chunk alone: whatever arrives first, over
// whatever wire, each element is put together as [Spec.Sums] says, on all ranks.
// Operands stand in the order of the ranks in all schedules that [Name.Ordered]
// names. [Auto] stands for the schedule that [Spec.Pick] picks by the cost model.
// [Spec.Quotient] says whether ranks of one host may sum among themselves first.
//
// # How it is known
//
// [Execute] runs the programs of all ranks on symbols instead of numbers, with
// nothing buffered between ranks, and reports what stands where. The tests do so for
// each schedule and 1 to 130 ranks, and compare with Sums.
//
// docs/schedules.md has pictures, the table of schedules and the cost model.
package schedule
