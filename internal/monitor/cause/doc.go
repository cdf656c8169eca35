// SPDX-License-Identifier: Apache-2.0

// Package cause finds the cause of a stall or a failure, in one line that names a rank.
//
//	v := cause.Judge(cause.Evidence{How: cause.Lost, Rank: 5, Why: "silent for 10s", Ranks: ranks})
//	fmt.Println(v.Line) // rank 5 (h5) stopped answering: …
//
// The evidence is what the server has seen, and the last events of the ranks that have sent them. Judge applies these
// rules, in this order. The first one that applies decides:
//
//  1. The calls of the ranks differ: the rank whose call differs from that of most others has skipped a collective,
//     called it out of order, or called another one.
//  2. A rank gave up or left because of its own error: the class of the error is the cause.
//  3. A rank was lost: its process has ended, its host or process stopped answering, or only the server no longer
//     receives from it.
//  4. Two ranks do not reach each other: the edge is the cause.
//  5. Ranks wait: the rank at the end of the chain of waits is the cause, with what it does.
//
// # Contract
//
// Judge is a pure function. The same evidence has the same verdict. Its line is at most [MaxLine] bytes, and has no
// control characters of other machines. Two ranks that disagree cannot outvote each other: the line then names both.
package cause
