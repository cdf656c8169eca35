// SPDX-License-Identifier: Apache-2.0

// Package resume decides where the next epoch of a job starts, and from which
// rank each other rank fetches the data that it is missing there.
//
//	from, missing := resume.Find(members, func(rank, source int) resume.Path {
//		return resume.Clear // no fault of the network is known
//	})
//
// Each member of an epoch that has ended answers with the newest step that it
// has completed. The next epoch starts at the newest of these steps, so that
// no step is repeated that a live rank has completed. A rank that is one step
// behind needs the results of that step, a new one needs the whole state.
//
// [Source] chooses among the ranks that have the data. It avoids a path that is
// suspect, and never takes one that has not moved a byte before.
//
// # Contract
//
//   - The functions are pure: equal members and paths cause equal decisions.
//   - A rank is never its own source, except for a checkpoint.
//   - The source of a rank has completed the step at which the epoch starts.
package resume
