// SPDX-License-Identifier: Apache-2.0

// Package doctor checks the network of a job: the path from each rank to each other.
//
//	report, err := doctor.Run(ctx, doctor.Config{Server: "gateway:26543", Rank: 3, Total: 8})
//	fmt.Print(report.Table())
//	for _, fault := range report.Faults() { … }
//
// All ranks call Run. They join the server as a separate job, which gives them each
// other's addresses. Each rank then dials each other, because a group needs both
// directions. Over the connections that open, rank 0 makes the ranks measure, in rounds in
// which no rank takes part twice: the median round trip, the rate of a long message, the
// difference of the clocks, and the MTU of the path that the system knows (on Linux;
// elsewhere 0).
//
// Unlike a group, the examination continues when some paths do not exist, so that the
// report contains all faults at once. Rank 0 gathers the report and sends it to all ranks.
// A rank with which rank 0 has no connection in either direction reports only its own
// findings, and is silent in the report of the others.
//
// # Faults
//
//   - a path that does not exist, or on which small messages pass and long ones do not
//   - between hosts: a round trip of 10 times the median and more than 2 ms, a rate
//     of a fifth of the median, another MTU in one direction than in the other
//   - clocks that differ by more than a second
//   - a rank that is silent
//
// Ranks of one host communicate through its memory. Their speed depends on its load, and
// is never a fault.
//
// # Messages
//
// A connection begins with a nonce, the rank and the purpose from each side, and
// proofs of the epoch's key. A path's connection then carries probes. A probe is the byte
// 'p' (ping), or 'b' and a length with as many bytes. Its answer is the clock in
// nanoseconds. The connection between rank 0 and another rank carries JSON messages,
// each preceded by its length.
package doctor
