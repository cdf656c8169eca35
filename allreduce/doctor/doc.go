// SPDX-License-Identifier: Apache-2.0

// Package doctor examines the network of a job: every way from a rank to another.
//
//	report, err := doctor.Run(ctx, doctor.Config{Server: "gateway:26543", Rank: 3, Total: 8})
//	fmt.Print(report.Table())
//	for _, fault := range report.Faults() { … }
//
// All ranks call Run. They join the server as a job of their own, learn each
// other's addresses there, and then each tries to reach each: a group needs both
// directions. Over the ways that exist rank 0 has them measure, in rounds in which
// no rank is busy twice: the median round trip, the rate of a long message, the
// difference of the clocks, and the MTU that the system knows of the way (on
// Linux; else 0).
//
// Nothing rests on all ways being there, as a group does on those of its tree: so
// the report tells of all that is wrong at once. Rank 0 gathers it and gives it to all.
// A rank that rank 0 cannot talk to, in neither direction, reports what it has seen
// itself, and is silent in the report of the others.
//
// # What counts as wrong
//
//   - a way that does not exist, or on which small messages pass and long ones do not
//   - between hosts: a round trip of 10 times the median and more than 2 ms, a rate
//     of a fifth of the median, another MTU in one direction than in the other
//   - clocks that differ by more than a second
//   - a rank that is silent
//
// Ranks of one host talk through its memory; their speed follows its load, and
// is not judged.
//
// # Messages
//
// A connection begins with the token of the epoch, the rank and the purpose; the answer
// is the token and the rank. A way's connection then carries probes: one byte, 'p'
// for a ping, answered by the clock in nanoseconds, or 'b' and a length, answered
// when so many bytes have come. That of rank 0 with another carries JSON, with its
// length before it.
package doctor
