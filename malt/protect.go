// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"fmt"
	"runtime/debug"

	"github.com/gvw-project/gvw/internal/monitor/events"
)

// LearnerError is the failure of this rank's own learner, as [Group.Protect] returns it.
type LearnerError struct {
	Rank  int    // of this process
	Host  string // its machine, as in Config.Host; "": unknown
	Err   error  // what the learner has returned, or its panic
	Stack []byte // of the panic; nil: the learner has returned an error
}

func (e *LearnerError) Error() string {
	where := ""
	if e.Host != "" {
		where = " (" + e.Host + ")"
	}
	return fmt.Sprintf("malt: rank %d%s: the learner has failed: %v; correct the learner or its input, and start the rank again", e.Rank, where, e.Err)
}

// Unwrap returns what the learner has returned, or its panic if that is an error.
func (e *LearnerError) Unwrap() error { return e.Err }

// Protect calls train, and reports its failure to the server as the failure of this rank: an error, a panic, or a
// run-time fault such as a division by zero or an invalid address. The other ranks then see a loss with this reason at
// once. Protect closes the group and returns a *LearnerError; the process ends by itself. If train
// fails since the job has ended, Protect returns the error of train. If train succeeds the group stays open.
//
// A panic in another goroutine, and the faults that Go's run-time system does not turn into a panic, end
// the process at once. The other ranks then see that its connection has ended.
func (g *Group) Protect(train func() error) error {
	stack, err := protect(train)
	if err == nil {
		return nil
	}
	if ended := g.failure(); ended != nil && stack == nil {
		g.Close()
		return err
	}
	failed := &LearnerError{Rank: g.cfg.Rank, Host: g.cfg.Host, Err: err, Stack: stack}
	g.cfg.Log.Error("learner failed", "rank", g.cfg.Rank, "err", err, "stack", string(stack))
	g.fail(failed)
	class := events.ClassOf(err)
	if stack != nil {
		class = events.Panicked
	}
	g.blame(class, -1, fmt.Errorf("its learner has failed: %w", err))
	g.Close()
	return failed
}

// protect calls train and returns its error. The stack is that of a panic.
func protect(train func() error) (stack []byte, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			stack = debug.Stack()
			if fault, ok := p.(error); ok {
				err = fmt.Errorf("panic: %w", fault)
			} else {
				err = fmt.Errorf("panic: %v", p)
			}
		}
	}()
	return nil, train()
}
