// SPDX-License-Identifier: Apache-2.0

package rootcause

import (
	"errors"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// byServer is By and Rank of a failure that the server has found.
const byServer = -1

// action is what a rank does about a failure that it has seen.
type action int

const (
	accept    action = iota + 1 // the failure is the root cause
	report                      // the server passes the failure to the other ranks
	ask                         // the server knows the cause, or finds it by the reports of other ranks
	arbitrate                   // the server decides whether the epoch or the job is over
)

// actionFor returns what rank does about a failure.
func actionFor(f *engine.Failure, rank int, recovers bool) action {
	switch {
	case f.Code == engine.FaultLeft, f.Code == engine.FaultOver:
		return accept
	case recovers && f.By == rank && f.Ask == 0:
		return report // this rank cannot go on
	case recovers:
		return arbitrate
	case f.By == rank && f.Code != engine.FaultLost:
		return report
	}
	return ask
}

// choose returns the root cause: the server's cause, or seen if the job is not over (cause is nil).
// If the server only repeats, with less detail, the report of the rank from which seen comes, seen
// is returned.
func choose(seen *engine.Failure, cause error) *engine.Failure {
	if cause == nil {
		return seen
	}
	v := failureOf(cause)
	if v.Code == engine.FaultGaveUp && v.Rank != byServer && v.Rank == seen.By {
		seen.Cause = v.Cause
		return seen
	}
	return v
}

// failureOf returns a cause from the server as a failure.
func failureOf(cause error) *engine.Failure {
	f := &engine.Failure{Code: engine.FaultGaveUp, By: byServer, Rank: byServer, Text: cause.Error(), Err: cause}
	lost, ok := errors.AsType[*protocol.LostError](cause)
	if !ok {
		return f
	}
	if detailed, err := engine.DecodeFailure([]byte(lost.Detail)); err == nil && lost.GaveUp {
		detailed.Err, detailed.Cause = cause, lost.Cause
		return detailed
	}
	f.Rank, f.Host, f.Text, f.Cause = lost.Rank, lost.Host, lost.Why, lost.Cause
	if !lost.GaveUp {
		f.Code = engine.FaultLost
	}
	return f
}
