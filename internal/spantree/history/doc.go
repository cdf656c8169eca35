// SPDX-License-Identifier: Apache-2.0

// Package history has what the server remembers of jobs that have ended:
//
//   - [Runs]: finished runs, so that their late attempts are refused with the
//     digest of the model. The journal restores them after a restart.
//   - [Outcomes]: the last frame of a job that recovered from losses, for
//     attempts that were disconnected when it was sent.
//   - [Refusals]: the values for which attempts were refused, so that a restarted
//     attempt does not open a job of its own.
//   - [Failures]: the ends of jobs that failed before all ranks had joined, for
//     the ranks that join later.
//   - [Jobs]: the ended jobs that a status lists.
//
// Each type is a table that forgets its oldest entries:
//
//	runs := history.NewRuns(1000, 16<<20, 24*time.Hour)
//	runs.Add(record)
//	runs.Expire(now)
//	if r := runs.Find(key); r != nil {
//		// refuse the attempt: its run has finished
//	}
//
// # Contract
//
//   - Entries are limited in number and age, finished runs also in bytes.
//   - An entry remains when an older one of the same key is forgotten.
//   - Time is a parameter. The types are not safe for concurrent use.
package history
