// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"fmt"
	"time"

	"github.com/gvw-project/gvw/internal/plain"
)

// The texts of errors escape what others have chosen: see internal/plain. Their fields
// hold it as it came.

// LostError says that a rank's end has ended the epoch. Every rank of the
// job gets the same one.
type LostError struct {
	Job  Job
	Rank int    // the rank that was lost
	Host string // where it ran
	Why  string // "connection closed", "silent for 10 s", or its own last words
	// GaveUp tells that the rank itself said Why, and did not just vanish.
	GaveUp bool
	// Detail is what it said to programs beside that, "": nothing.
	Detail string
	// ServerRestarted reports that the server was restarted while the job ran. It may not know
	// that ranks which have not returned had completed their work.
	ServerRestarted bool
}

func (e *LostError) Error() string {
	verb := "was lost"
	if e.GaveUp {
		verb = "gave up"
	}
	return fmt.Sprintf("job %v: rank %d (%s) %s: %s", e.Job, e.Rank, plain.Text(e.Host), verb, plain.Text(e.Why))
}

// RefusedError is a server's no, or that of a rank to a server.
type RefusedError struct {
	ByClient bool   // it is this side that says no
	Server   string // host:port
	Code     Code
	Reason   string
	// Model is the digest of the finished run's model, with Code JobFinished.
	Model [32]byte

	Unauthenticated bool // anybody on the path may have sent it, or changed what it answers
}

func (e *RefusedError) Error() string {
	if e.ByClient {
		return fmt.Sprintf("this program refuses the server %s: %s (%v)", e.Server, plain.Text(e.Reason), e.Code)
	}
	return fmt.Sprintf("the server %s refuses: %s (%v)", e.Server, plain.Text(e.Reason), e.Code)
}

// FinishedError says to an attempt that stood by that it is not needed: the job has
// ended, with this model.
type FinishedError struct {
	Job   Job
	Rank  int      // -1: it was a spare
	Model [32]byte // SHA-256
}

func (e *FinishedError) Error() string {
	if e.Rank < 0 {
		return fmt.Sprintf("job %v has finished with model %x…: this spare is not needed", e.Job, e.Model[:6])
	}
	return fmt.Sprintf("job %v has finished with model %x…: this attempt of rank %d is not needed", e.Job, e.Model[:6], e.Rank)
}

// ExcludedError reports that an elastic job has started without this rank, and that the
// attempt has nothing to do.
type ExcludedError struct {
	Job  Job
	Rank int
}

func (e *ExcludedError) Error() string {
	return fmt.Sprintf("job %v runs without rank %d, which came after its start: this attempt is not needed", e.Job, e.Rank)
}

// StartError says that a job was not complete in time.
type StartError struct {
	Job    Job
	After  time.Duration
	Report string // the server's words: k of N, missing ranks …
}

func (e *StartError) Error() string {
	return fmt.Sprintf("job %v did not start within %v: %s", e.Job, e.After, plain.Text(e.Report))
}

// Timeout makes a StartError a timeout in the sense of net.Error.
func (e *StartError) Timeout() bool { return true }

// ServerError says that the server could not be reached, or has gone.
type ServerError struct {
	Server string // host:port
	Doing  string // what the rank wanted of it
	Err    error
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("cannot %s with the server %s: %s", e.Doing, e.Server, plain.Text(e.Err.Error()))
}

func (e *ServerError) Unwrap() error { return e.Err }
