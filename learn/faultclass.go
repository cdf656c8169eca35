// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/cache"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/usage"
)

// reported returns err in the form in which the group reports it, with its class. A file system
// that hangs on this host may work on another one. So in a job that recovers, such an error counts
// as the loss of an attempt.
func reported(err error) error {
	if errors.Is(err, hdfsio.ErrHung) {
		return hungError{err}
	}
	return classified(err)
}

// classified returns err with its class, if it has one.
func classified(err error) error {
	if err == nil {
		return nil
	}
	if c := faultClass(err); c != events.Other {
		return classifiedError{err, c}
	}
	return err
}

// faultClass returns the class of an error of this package or of the packages that read its data.
func faultClass(err error) events.Class {
	switch {
	case is[*stream.DataError](err), is[*feature.MalformedError](err), is[*cache.CorruptError](err), is[*hdfsio.DataError](err), is[*examples.DataError](err), is[*feature.LimitError](err):
		return events.BadData
	case is[*usage.Error](err), is[*stream.UsageError](err), is[*job.ProvenanceError](err):
		return events.BadOptions
	}
	return events.ClassOf(err)
}

// is reports whether an error of a type is in the chain of err.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// classifiedError is an error with its class.
type classifiedError struct {
	error
	class events.Class
}

func (e classifiedError) Unwrap() error            { return e.error }
func (e classifiedError) FaultClass() events.Class { return e.class }

// hungError is an error that ends the attempt and not the job.
type hungError struct{ error }

func (e hungError) Unwrap() error            { return e.error }
func (e hungError) Is(target error) bool     { return target == allreduce.ErrLeaving }
func (e hungError) FaultClass() events.Class { return events.Hung }
