// SPDX-License-Identifier: Apache-2.0

package allreduce

import "github.com/gvw-project/gvw/internal/spantree/protocol"

// The types of the server's protocol that programs need. The server's own packages are
// internal.
type (
	// Job names a job at its server: a number, and the key of a run.
	Job = protocol.Job
	// Shard identifies the data that a rank has read, by a digest that is equal for all
	// attempts of the rank.
	Shard = protocol.Shard
	// Progress is a rank's position in its training, as gvw jobs shows it.
	Progress = protocol.Progress

	// VerdictError is the server's root cause of a job's end: the rank that was lost or
	// gave up. All ranks get the same one.
	VerdictError = protocol.LostError
	// RefusalCode is the machine-readable reason of a [RefusedError].
	RefusalCode = protocol.Code
	// RefusedError says that the server, or the rank itself, refuses to continue, and why.
	RefusedError = protocol.RefusedError
	// FinishedError says that the job has succeeded without this attempt of the rank.
	FinishedError = protocol.FinishedError
	// LateError says that an elastic job has started without this rank.
	LateError = protocol.ExcludedError
	// StartError says that not all ranks have joined in time. It names the missing ranks.
	StartError = protocol.StartError
	// ServerError says that the server cannot be reached, or has gone away.
	ServerError = protocol.ServerError
)

// JobFinished is the refusal of a run that is over and whose model is delivered. A late attempt
// can then copy the files instead of training. It is the only refusal on which a program acts;
// all others end the attempt, with the reason in RefusedError.
const JobFinished RefusalCode = protocol.JobFinished
