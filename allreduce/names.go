// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/recovery"
	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

type (
	// Element is the type of a vector's elements. Bytes are moved, never reduced.
	Element = kernels.Element
	// Op is the operation of a reduction. Its numbers are part of the protocol.
	Op = kernels.Op
)

// The operations on all element types except bytes.
const (
	Sum     = kernels.Sum
	Min     = kernels.Min
	Max     = kernels.Max
	Product = kernels.Product
)

// NewOp returns an operation of the caller, which all ranks register under the same name.
// join sets dst[i] to a[i] combined with b[i]; dst may be a or b.
//
// The operation must be associative. If it is so only approximately, as the sum of floats,
// the result still has the same bits on all ranks and in every run. If it does not commute,
// only schedules that keep the operands in the order of the ranks are used.
//
// NewOp is called once for each operation, before the first collective that uses it. It
// panics if the name is empty, too long or registered already.
func NewOp[T kernels.Number](name string, commutes bool, join func(dst, a, b []T)) Op {
	return kernels.NewOp(name, commutes, join)
}

type (
	// Where is what a rank was doing when its job failed.
	//
	//	Rank      rank that returns the error
	//	Call      collective, such as "all-reduce #17 (gradient, 64 MiB)"; "" between two
	//	Elapsed   time since the rank entered the collective
	//	Waiting   rank that it waits for, with its address; "" if unknown
	//	Received  bytes received in this collective
	Where = engine.Where
	// LostError reports that a rank was lost, or gave up. All ranks of a job name the same one.
	//
	//	Where            what the rank that returns the error was doing
	//	Rank, Host       lost rank and its address
	//	Why              reason
	//	GaveUp           the lost rank has sent the reason itself
	//	ServerRestarted  the server was restarted while the job ran
	//	Err              cause
	LostError = engine.LostError
	// DeadlineError reports that no byte moved for too long, or that a rank never entered a collective.
	//
	//	Where       what the rank that returns the error was doing
	//	By          rank that waited
	//	Rank, Host  rank that it waited for, and its address
	//	Entered     that rank had entered the collective: the limit was Config.Stall, else MaxWait
	//	Idle        time without a byte
	DeadlineError = engine.DeadlineError
	// MismatchError reports that two ranks made different calls where all must make the same.
	//
	//	Where  what the rank that returns the error was doing
	//	Ranks  the two ranks
	//	Calls  the call of each of them
	MismatchError = engine.MismatchError
	// InterruptedError reports that the epoch has ended. The job may continue in a next epoch.
	//
	//	Where  what the rank that returns the error was doing
	//	Err    reason, mostly a *LostError
	InterruptedError = engine.InterruptedError
)

// The types of the server's protocol that programs need. The server's own packages are
// internal.
type (
	// Job names a job at its server: a number, and the key of a run.
	//
	//	UniqueID  number, vw's unique_id
	//	RunKey    name of a launcher's run; "": there is none
	Job = protocol.Job
	// Shard identifies the data that a rank has read, by a digest that is equal for all
	// attempts of the rank.
	//
	//	Examples, Bytes, CRC  contents
	//	Took                  time in which the rank has read it; 0: unknown
	Shard = protocol.Shard
	// Progress is a rank's position in its training, as gvw jobs shows it.
	//
	//	Pass      completed passes over the data
	//	Step      name of the current step
	//	Number    completed steps of all kinds
	//	Examples  examples seen in all passes together
	//	Loss      average loss so far; of a batch solver that of the newest pass
	//	Holdout   mean loss of the newest pass over held-out examples; 0: none
	//	StepTook  time of the newest step without its exchange; 0: unknown
	Progress = protocol.Progress

	// RefusedError reports that the server, or the rank itself, refuses to continue, and why.
	//
	//	ByClient         this rank refuses the server, else the server refuses the rank
	//	Server           address of the server
	//	Code, Reason     reason, for programs and for people
	//	Model            SHA-256 of the finished run's model, if Finished() is true
	//	Unauthenticated  a third party could have made the refusal
	RefusedError = protocol.RefusedError
	// FinishedError reports that the job has succeeded without this attempt of the rank.
	//
	//	Job, Rank  attempt; Rank is -1 for a spare
	//	Model      SHA-256 of the job's model
	FinishedError = protocol.FinishedError
	// ExcludedError reports that an elastic job has started without this rank.
	//
	//	Job, Rank  attempt
	ExcludedError = protocol.ExcludedError
	// StartError reports that not all ranks have joined in time. It names the missing ranks.
	//
	//	Job     job that has not started
	//	After   time that the rank has waited
	//	Report  the server's report, with the missing ranks
	StartError = protocol.StartError
	// ServerError reports that the server cannot be reached, or has gone away.
	//
	//	Server  address of the server
	//	Doing   operation that failed
	//	Err     cause
	ServerError = protocol.ServerError
)

type (
	// Checkpoints stores states of a job for the case that all ranks with the state are
	// lost. Package checkpoint stores them in files.
	Checkpoints = recovery.Checkpoints
	// Owner identifies the job to which states belong.
	//
	//	Options          digest of the options on which the ranks agree, and of their number
	//	Text             text of which Options is the digest
	//	Run, Generation  Config.Job.RunKey and Config.Generation
	Owner = recovery.Owner
	// Point is a number of completed steps, and the epoch in which the last of them was
	// completed. Of two checkpoints that with the later epoch, then with more steps, is the newer.
	//
	//	Epoch  epoch, with Term and N, which order epochs, and Incarnation
	//	Step   number of steps
	Point = client.Point
)

var (
	// ErrNoResults is returned by WriteResults of a machine that reached a step by
	// ReadState: it has the state after the step but not the step's results.
	ErrNoResults = recovery.ErrNoResults
	// ErrClosed is returned by collectives, Ready, Run and Finish of a closed group.
	ErrClosed = engine.ErrClosed
	// ErrLeaving is the cause of a context that is cancelled since this process must exit
	// for a reason outside the job, such as preemption. A job that recovers then loses
	// only the rank, which another attempt can replace.
	ErrLeaving = engine.ErrLeaving
)
