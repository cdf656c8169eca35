// SPDX-License-Identifier: Apache-2.0

// Package rootcause finds the failure that all ranks of a job report.
//
// When a rank is lost, its neighbours see broken connections, they close theirs, and further ranks
// see those. All ranks must return the same root cause, so the server decides: it has the reports
// of all ranks. A [Resolver] turns the first failure that this rank has seen into the root cause:
//
//	r := rootcause.Resolver{Rank: 3, Server: member, Wiring: w, …}
//	cause := r.Resolve(ctx, seen)
//
// # Rules
//
// The action of a rank on a failure depends on three facts only ([actionFor]):
//
//   - A normal end, and an end that the server has announced, are causes themselves.
//   - A rank that has found a failure other than a broken edge reports it, and the server passes it
//     to all others.
//   - All others wait for the server's cause. A broken edge is reported first: only the server,
//     which has the reports of both ends, can determine which of the ranks is lost.
//
// In a job that recovers the server decides whether the epoch or the job is over. The rank repeats
// its report until it does, since the server may be restarting.
//
// The server's cause replaces the one that this rank has seen, except where it repeats the same
// rank's report with less detail ([choose]). If the server does not answer in time, a rank reports
// what it has seen.
//
// # Limits
//
// Without recovery Resolve takes at most causeTimeout and three times reportTimeout: the report of
// the edge, the wait for the cause, the report of the failure and the wait for the end of the job.
// With recovery it takes at most DetailTimeout, Patience and twice reportTimeout. The end of ctx, or
// of the group, ends the waits for the server's decision. The report of the failure still takes up to
// reportTimeout.
package rootcause
