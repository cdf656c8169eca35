// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/epoch"
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

// NoRank leaves out a half of SendRecv, as its source or destination.
const NoRank = epoch.NoRank

type (
	// Where is what a rank was doing when its job failed.
	Where = engine.Where
	// LostError reports that a rank was lost, or gave up. All ranks of a job name the same one.
	LostError = engine.LostError
	// DeadlineError reports that no byte moved for too long, or that a rank never entered a collective.
	DeadlineError = engine.DeadlineError
	// MismatchError reports that two ranks made different calls where all must make the same.
	MismatchError = engine.MismatchError
	// InterruptedError reports that the epoch has ended. The job may continue in a next epoch.
	InterruptedError = engine.InterruptedError
)

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

	// RefusedError reports that the server, or the rank itself, refuses to continue, and why.
	RefusedError = protocol.RefusedError
	// FinishedError reports that the job has succeeded without this attempt of the rank.
	FinishedError = protocol.FinishedError
	// ExcludedError reports that an elastic job has started without this rank.
	ExcludedError = protocol.ExcludedError
	// StartError reports that not all ranks have joined in time. It names the missing ranks.
	StartError = protocol.StartError
	// ServerError reports that the server cannot be reached, or has gone away.
	ServerError = protocol.ServerError
)

type (
	// Checkpoints stores states of a job for the case that all ranks with the state are
	// lost. Package checkpoint stores them in files.
	Checkpoints = recovery.Checkpoints
	// Owner identifies the job to which states belong.
	Owner = recovery.Owner
	// Point is a number of completed steps, and the epoch in which the last of them was
	// completed. Of two checkpoints that with the later epoch, then with more steps, is the newer.
	Point = client.Point
)

var (
	// ErrNoResults is returned by WriteResults of a machine that reached a step by
	// ReadState: it has the state after the step but not the step's results.
	ErrNoResults = recovery.ErrNoResults
	// ErrClosed is returned by collectives of a closed group.
	ErrClosed = engine.ErrClosed
	// ErrLeft means that a vw worker left after the job's last pass, without the totals
	// that the vw program exchanges then. This is a normal end (see Leaving).
	ErrLeft = engine.ErrLeft
	// ErrLeaving is the cause of a context that is cancelled since this process must exit
	// for a reason outside the job, such as preemption. A job that recovers then loses
	// only the rank, which another attempt can replace.
	ErrLeaving = engine.ErrLeaving
)
