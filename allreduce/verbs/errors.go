// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"errors"
	"fmt"
)

// ErrNotBuilt means that this program was built without RDMA.
var ErrNotBuilt = errors.New("verbs: this program was built without RDMA: on Linux, with libibverbs-dev and a C compiler, build it by: go build -tags rdma ./cmd/gvw ./cmd/spanning_tree")

// SetupError reports that verbs cannot be used with this machine's configuration: it has no
// device, or not the requested one. A retry cannot succeed, unlike with a port that is down.
type SetupError struct{ Err error }

func (e *SetupError) Error() string { return e.Err.Error() }
func (e *SetupError) Unwrap() error { return e.Err }

func setupErrorf(format string, args ...any) error {
	return &SetupError{fmt.Errorf(format, args...)}
}

// Status is the status of a completed work request, with libibverbs' numbers.
type Status uint32

// The statuses that this package distinguishes.
const (
	Success        Status = 0
	LocalProtect   Status = 4
	Flushed        Status = 5
	BindFailed     Status = 6
	RemoteAccess   Status = 10
	RetryExceeded  Status = 12
	ReceiverNotRdy Status = 13
)

// statusTexts describe the statuses, and their likely causes.
var statusTexts = map[Status]string{
	Success:        "success",
	1:              "a message was longer than the memory posted for it",
	2:              "the queue pair cannot do this",
	LocalProtect:   "this end's memory is not registered for it",
	Flushed:        "flushed: the queue pair is in error",
	BindFailed:     "a memory window could not be bound",
	7:              "an invalid response",
	8:              "this end's memory is not registered for the message",
	9:              "the other end rejected the request as invalid",
	RemoteAccess:   "the other end refused access to its memory",
	11:             "the other end could not execute the request",
	RetryExceeded:  "transport retry counter exceeded: the other end does not respond",
	ReceiverNotRdy: "RNR retry counter exceeded: the other end had no memory posted",
}

func (s Status) String() string {
	if w, ok := statusTexts[s]; ok {
		return w
	}
	return fmt.Sprintf("status %d of libibverbs", uint32(s))
}

// Error is a failed work request. The caller adds the rank at the other end.
type Error struct {
	Place  Place
	Op     Op
	Status Status
	Vendor uint32
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s port %d: %v: %v", e.Place.Device, e.Place.Port, e.Op, e.Status)
	if _, known := statusTexts[e.Status]; known {
		s += fmt.Sprintf(" (status %d, ", uint32(e.Status))
	} else {
		s += " ("
	}
	return s + fmt.Sprintf("vendor error %#x)", e.Vendor)
}

// RegisterError reports that memory could not be registered, with advice.
type RegisterError struct {
	Place Place
	Bytes int
	Limit uint64 // limit of this process's locked memory in bytes; NoLimit: none, or unknown
	Err   error
}

// NoLimit means that locked memory has no limit.
const NoLimit = ^uint64(0)

func (e *RegisterError) Error() string {
	s := fmt.Sprintf("%s: cannot register %d bytes of memory: %v", e.Place.Device, e.Bytes, e.Err)
	if e.Limit != NoLimit {
		s += fmt.Sprintf("; this process may lock %d bytes: raise the limit with ulimit -l unlimited, memlock in /etc/security/limits.conf, or LimitMEMLOCK=infinity of the service", e.Limit)
	}
	return s
}

func (e *RegisterError) Unwrap() error { return e.Err }
