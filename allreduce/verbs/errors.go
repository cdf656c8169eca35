// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"errors"
	"fmt"
)

// ErrNotBuilt says that this program cannot speak to RDMA devices.
var ErrNotBuilt = errors.New("verbs: this program was built without RDMA: on Linux, with libibverbs-dev and a C compiler, build it by: go build -tags rdma ./cmd/gvw ./cmd/spanning_tree")

// SetupError says that verbs cannot be used on this machine as it is set up: there is no device,
// or none that is asked for. Another attempt ends alike, unlike that of a port that is down.
type SetupError struct{ Err error }

func (e *SetupError) Error() string { return e.Err.Error() }
func (e *SetupError) Unwrap() error { return e.Err }

func setupErrorf(format string, args ...any) error {
	return &SetupError{fmt.Errorf(format, args...)}
}

// Status is how a work request ended, with the numbers of libibverbs.
type Status uint32

// Those that are told apart here.
const (
	Success        Status = 0
	LocalProtect   Status = 4
	Flushed        Status = 5
	BindFailed     Status = 6
	RemoteAccess   Status = 10
	RetryExceeded  Status = 12
	ReceiverNotRdy Status = 13
)

// statusWords say what each status means, and what to look at.
var statusWords = map[Status]string{
	Success:        "success",
	1:              "a message was longer than the memory posted for it",
	2:              "the queue pair cannot do this",
	LocalProtect:   "this end's memory is not registered for it",
	Flushed:        "flushed: the queue pair is in error",
	BindFailed:     "a memory window could not be bound",
	7:              "an answer that makes no sense",
	8:              "this end's memory is not registered for what came",
	9:              "the other end did not understand the request",
	RemoteAccess:   "the other end refused access to its memory",
	11:             "the other end could not carry it out",
	RetryExceeded:  "transport retry counter exceeded: the other end, or the way to it, does not answer",
	ReceiverNotRdy: "RNR retry counter exceeded: the other end had no memory posted",
}

func (s Status) String() string {
	if w, ok := statusWords[s]; ok {
		return w
	}
	return fmt.Sprintf("status %d of libibverbs", uint32(s))
}

// Error is a work request that has failed. The caller adds who was at the other end.
type Error struct {
	Place  Place
	Op     Op
	Status Status
	Vendor uint32
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s port %d: %v: %v", e.Place.Device, e.Place.Port, e.Op, e.Status)
	if _, known := statusWords[e.Status]; known {
		s += fmt.Sprintf(" (status %d, ", uint32(e.Status))
	} else {
		s += " ("
	}
	return s + fmt.Sprintf("vendor error %#x)", e.Vendor)
}

// RegisterError says that memory could not be registered, and what may help.
type RegisterError struct {
	Place Place
	Bytes int
	Limit uint64 // of locked memory, of this process; NoLimit: there is none, or it is not known
	Err   error
}

// NoLimit is the limit of locked memory where there is none.
const NoLimit = ^uint64(0)

func (e *RegisterError) Error() string {
	s := fmt.Sprintf("%s: cannot register %d bytes of memory: %v", e.Place.Device, e.Bytes, e.Err)
	if e.Limit != NoLimit {
		s += fmt.Sprintf("; this process may lock %d bytes: raise it by ulimit -l unlimited, memlock in /etc/security/limits.conf, or LimitMEMLOCK=infinity of the service", e.Limit)
	}
	return s
}

func (e *RegisterError) Unwrap() error { return e.Err }
