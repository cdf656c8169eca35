// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/recovery"
	"github.com/gvw-project/gvw/internal/kernels"
)

type (
	// Element is the type of a vector's elements. Bytes are moved, never reduced.
	Element = kernels.Element
	// Op is the operation of a reduction. Its numbers are part of the protocol.
	Op = kernels.Op
)

// The operations that exist for all elements but bytes.
const (
	Sum     = kernels.Sum
	Min     = kernels.Min
	Max     = kernels.Max
	Product = kernels.Product
)

// NewOp makes an operation of the caller's own, known to all ranks by its name:
// dst[i] becomes a[i] joined with b[i], where dst may be a or b. It must be
// associative. Where it is not quite, as the sum of floats, the result is still
// the same on all ranks and in every run. If it does not commute, the operands
// are kept in the order of the ranks, by schedules that do so.
//
// It is called once for each operation, before the first collective that uses it.
// It panics if the name is taken, too long or empty.
func NewOp[T kernels.Number](name string, commutes bool, join func(dst, a, b []T)) Op {
	return kernels.NewOp(name, commutes, join)
}

// Nobody is no rank, for SendRecv.
const Nobody = engine.Nobody

type (
	// Where is what a rank was doing when its job failed.
	Where = engine.Where
	// Side is one of two ranks that disagree.
	Side = engine.Side
	// LostError says that a rank was lost, or gave up. All ranks of a job name the same one.
	LostError = engine.LostError
	// DeadlineError says that no byte moved for too long, or that a rank never entered a collective.
	DeadlineError = engine.DeadlineError
	// MismatchError says that two ranks made different calls where all must make the same.
	MismatchError = engine.MismatchError
	// InterruptedError says that the epoch has ended, and the job with it or not.
	InterruptedError = engine.InterruptedError
)

type (
	// Checkpoints keeps states of a job for the case that no rank is left that has one.
	// Package checkpoint keeps them in files.
	Checkpoints = recovery.Checkpoints
	// Owner identifies the job to which states belong.
	Owner = recovery.Owner
)

var (
	// ErrNoResults means that a machine has the state after a step but not the step's
	// results, since it came to it by ReadState. WriteResults returns it.
	ErrNoResults = recovery.ErrNoResults
	// ErrClosed is what collectives of a closed group return.
	ErrClosed = engine.ErrClosed
	// ErrLeft says that a vw worker ended after the job's last pass, without the
	// totals that the vw program exchanges then: a normal leave (see Leaving).
	ErrLeft = engine.ErrLeft
	// ErrLeaving is for the cause of a context that ends because this process has to go, by
	// no fault of the job. In a job that recovers that is the loss of a rank, whose place
	// another attempt takes, and not the end of the job.
	ErrLeaving = engine.ErrLeaving
)
