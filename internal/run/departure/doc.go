// SPDX-License-Identifier: Apache-2.0

// Package departure decides how long the first rank of a job keeps the server for the other ranks.
//
//	others := departure.Watch(local.Server, job, total)
//	err := work()
//	others.Leave(ctx, err, false)
//
// Under gvw run --join the server of a job is in the process of rank 0. The other ranks learn from it how the job has ended,
// so rank 0 must not leave first. It waits until the job is gone, and after its own failure until all ranks have had the
// chance to learn the cause, those included that join only then; all of it within limits, since a rank may never come.
package departure
