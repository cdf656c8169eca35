// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// RecordIn records the failure of this rank in its events, with its class. Failures that other
// ranks have reported are not recorded.
func (f *Failure) RecordIn(r *events.Ring, rank int) {
	if f.By != rank || f.Code == FaultOver || f.Code == FaultLeft {
		return
	}
	e := events.Event{Kind: events.Failure, Peer: f.Rank, Name: f.Reason()}
	switch {
	case f.Code == FaultLost:
		e.Class = events.PeerLost
	case f.Code == faultMismatch:
		e.Class = events.CallDiffers
	case f.Code == faultStalled && f.entered:
		e.Class = events.Stall
	case f.Code == faultStalled:
		e.Class = events.MaxWait
	case f.Ask == protocol.EdgeCorrupts:
		e.Class, e.Peer = events.Corrupt, f.Far
	default:
		e.Class, e.Peer = classOf(f.Err), -1
	}
	r.Add(e, time.Now())
}

// classOf returns the class of a rank's own error.
func classOf(err error) events.Class {
	if _, ok := errors.AsType[*protocol.StartError](err); ok {
		return events.NotStarted
	}
	if _, ok := errors.AsType[*protocol.ServerError](err); ok {
		return events.ServerLost
	}
	if c := events.ClassOf(err); c != events.Other || !errors.Is(err, ErrLeaving) {
		return c
	}
	return events.Stopped
}

// event returns the call as an event.
func (c *CallID) event() events.Event {
	return events.Event{
		Kind: events.Collective, Number: c.Seq, Peer: int(c.Root), Verb: c.Verb.String(), Name: c.Name, Elements: c.Length, Bytes: uint64(c.size()),
	}
}

// causedError is an error with the cause that the server has found in the events of all ranks.
type causedError struct {
	error
	cause string
}

func (e *causedError) Error() string { return e.error.Error() + protocol.CauseText(e.cause) }
func (e *causedError) Unwrap() error { return e.error }
