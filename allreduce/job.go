// SPDX-License-Identifier: Apache-2.0

package allreduce

import "github.com/gvw-project/gvw/internal/spantree/protocol"

// What the ranks of a job and the server share. The server's own packages are
// internal; these are the types of theirs that programs need.
type (
	// Job names a job at its server: a number, and the key of a run.
	Job = protocol.Job
	// Shard says which data a rank has read: a digest that all attempts of the rank share.
	Shard = protocol.Shard
	// Progress is how far a rank is, for gvw jobs.
	Progress = protocol.Progress

	// VerdictError is what the server says of a rank that was lost or gave up.
	// All ranks get the same.
	VerdictError = protocol.LostError
	// RefusalCode is why a [RefusedError] was given.
	RefusalCode = protocol.Code
	// RefusedError says that the server, or the rank itself, refuses to go on, and why.
	RefusedError = protocol.RefusedError
	// FinishedError says that the job has ended well without this attempt of the rank.
	FinishedError = protocol.FinishedError
	// LateError says that an elastic job has started without this rank.
	LateError = protocol.ExcludedError
	// StartError says that not all ranks have joined in time. It names the missing.
	StartError = protocol.StartError
	// ServerError says that the server cannot be reached, or is gone.
	ServerError = protocol.ServerError
)

// JobFinished is the refusal on which a program acts: the run is over and its model is
// delivered, so a late attempt copies files instead of training. All other refusals end the
// attempt; RefusedError has the reason in words.
const JobFinished RefusalCode = protocol.JobFinished
