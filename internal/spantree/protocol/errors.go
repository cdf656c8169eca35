// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"fmt"
	"time"

	"github.com/gvw-project/gvw/internal/plain"
)

// The texts of these errors escape what other machines have chosen, such as host names and reasons
// (see internal/plain). The fields contain the values as received.

// LostError reports that a rank has ended the epoch: it was lost, or it gave up. Every rank of the
// job gets the same error.
type LostError struct {
	Job  Job
	Rank int    // the rank that was lost; -1: no single rank
	Host string // on which it ran
	Why  string // "connection closed", "silent for 10 s", or the rank's own reason
	// GaveUp reports that the rank itself sent Why, by FAIL.
	GaveUp bool
	// Detail is what the rank sent for programs, in the encoding of its sender; "": nothing.
	Detail string
	// Cause is the cause of the failure, which the server has found in the events of all ranks, in
	// one line that names a rank; "": unknown.
	Cause string
	// ServerRestarted reports that the server was restarted while the job ran. It may not know
	// that ranks which have not returned had completed their work.
	ServerRestarted bool
}

func (e *LostError) Error() string {
	verb := "was lost"
	if e.GaveUp {
		verb = "gave up"
	}
	return fmt.Sprintf("job %v: rank %d (%s) %s: %s", e.Job, e.Rank, plain.Text(e.Host), verb, plain.Text(e.Why)) + CauseText(e.Cause)
}

// RefusedError reports that the server refused this client, or that this client refused the server.
type RefusedError struct {
	ByClient bool   // this client refused the server
	Server   string // host:port
	Code     Code
	Reason   string
	// Model is the SHA-256 of the finished run's model, with Code JobFinished; else zero.
	Model [32]byte

	Unauthenticated bool // the refusal could be forged, or be the answer to bytes that were changed on the way
}

// Finished reports whether the run is over and its model is delivered. A late attempt can then copy
// the files instead of training. All other refusals end the attempt.
func (e *RefusedError) Finished() bool { return e.Code == JobFinished }

// Cancelled reports whether a user has ended the job.
func (e *RefusedError) Cancelled() bool { return e.Code == Cancelled }

func (e *RefusedError) Error() string {
	if e.ByClient {
		return fmt.Sprintf("this program refuses the server %s: %s (%v)", e.Server, plain.Text(e.Reason), e.Code)
	}
	return fmt.Sprintf("the server %s refuses: %s (%v)", e.Server, plain.Text(e.Reason), e.Code)
}

// FinishedError reports to a standby or spare that the job has finished without it.
type FinishedError struct {
	Job   Job
	Rank  int      // -1: a spare
	Model [32]byte // SHA-256 of the job's model
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
	return fmt.Sprintf("job %v runs without rank %d, which joined after its start: this attempt is not needed", e.Job, e.Rank)
}

// StartError reports that ranks were missing for longer than StartTimeout.
type StartError struct {
	Job    Job
	After  time.Duration
	Report string // the server's report: k of N ranks, the missing ones, …
}

func (e *StartError) Error() string {
	return fmt.Sprintf("job %v did not start within %v: %s", e.Job, e.After, plain.Text(e.Report))
}

// Timeout makes a StartError a timeout in the sense of net.Error. It returns true.
func (e *StartError) Timeout() bool { return true }

// ServerError reports that the server could not be reached, or that the connection has ended for
// good.
type ServerError struct {
	Server string // host:port
	Doing  string // the operation that failed: "join a job", …
	Err    error
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("cannot %s with the server %s: %s", e.Doing, e.Server, plain.Text(e.Err.Error()))
}

func (e *ServerError) Unwrap() error { return e.Err }

// CauseText returns a cause in one line as the end of an error; "" if it is unknown.
func CauseText(cause string) string {
	if cause == "" {
		return ""
	}
	return "; cause: " + plain.Text(cause)
}
