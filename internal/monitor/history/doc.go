// SPDX-License-Identifier: Apache-2.0

// Package history keeps what the jobs of a server have done over time, in bounded memory.
//
//	h := history.New(history.Config{})
//	h.Add(time.Now(), server.Status()) // every half second
//	for _, j := range h.Jobs() {
//		fmt.Println(j.ID, j.Status.State, j.Ranks[3].Phase())
//	}
//
// The package is pure: it has no clock, no goroutine and no socket. A [History] is not safe for
// concurrent use, and what its methods return is valid until the next Add.
//
// # Times
//
// A [Job] has the time at which it was opened, and all other times are durations since then. A
// change has the time of the first snapshot that shows it. Ranks send heartbeats once a second, so
// a change may have happened one second and one interval of snapshots earlier. A phase that is
// shorter than that may be missing.
//
// # Phases
//
// A [Rank] is in one [Phase] at any time, and [Rank.Spans] lists its phases since the job was
// opened. A lane is a sample: of a rank that computes and exchanges many times a second, each
// heartbeat shows one of the two. A rank in a collective has the number of the rank whose bytes it
// needs next in [Span.For]. It exchanges, unless heartbeats show that this rank, or one that this rank
// waits for, has not entered the collective. It then waits.
// [Job.Chain] follows the waiting ranks to the last one, and [Job.Waits] groups the ranks by the one
// that all of them wait for, and describes each group in words.
//
// # Rates
//
// Ranks send counts of their bytes. [Job.Rate] and [Job.Edges] return the bytes per second between the newest two counts of each
// rank, by the rank's own clock.
//
// # Bounds
//
// [Config] limits the jobs, and the spans, points and events of a job. Of more spans and events the
// oldest are dropped. Of more points every second one is dropped, so that a [Curve] always
// covers the whole job.
//
// # Comparison
//
// [History.Previous] returns the newest ended job with the same name: the same run key, else the
// same number, else the same options and number of ranks.
package history
