// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

var (
	// ErrClosed is returned by collectives, Ready, Run and Finish of a closed group.
	ErrClosed = errors.New("allreduce: the group is closed")
	// ErrLeft reports that a vw worker ended after the job's last pass, without the
	// totals that the vw program exchanges then. That is a normal leave (see Engine.Leaving).
	ErrLeft = errors.New("allreduce: a vw worker left after the last pass")
	// ErrLeaving is the cause of a context that is cancelled since this process must exit
	// for a reason outside the job, such as preemption by a scheduler. A job that recovers
	// then loses only the rank, which another attempt can replace.
	ErrLeaving = errors.New("allreduce: this process must leave the job")
)

// Where describes what a rank was doing when its job failed.
type Where struct {
	Rank     int
	Call     string        // "all-reduce #17 (gradient, 64 MiB)"; "" between collectives
	Elapsed  time.Duration // since it entered the collective
	Waiting  string        // the rank that it waits for: "rank 7 (h7:26550)"; "" if unknown
	Received int64         // bytes, in this collective
}

func (w Where) String() string {
	if w.Call == "" {
		return fmt.Sprintf("rank %d", w.Rank)
	}
	text := fmt.Sprintf("rank %d: %s: %s, ", w.Rank, w.Call, Seconds(w.Elapsed))
	if w.Waiting != "" {
		text += "waiting for " + w.Waiting + ", "
	}
	return text + ByteCount(w.Received) + " received"
}

// Seconds formats a duration for messages: 0.12 s, 3 s, 2m5s.
func Seconds(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.3g ms", d.Seconds()*1000)
	case d < 10*time.Second:
		return fmt.Sprintf("%.2g s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// LostError reports that a rank was lost, or gave up. All ranks of a job name
// the same rank.
type LostError struct {
	Where  Where  // of the rank that returns the error
	Rank   int    // the rank that was lost
	Host   string // its host, or its address
	Why    string // "its connection ended", or the reason that it has sent
	GaveUp bool   // it has sent Why itself
	// ServerRestarted means that the server was restarted while the job ran. It may not know
	// that ranks which have not returned had completed their work.
	ServerRestarted bool
	Err             error // the cause: an error of the server's client, or of this rank
}

func (e *LostError) Error() string {
	verb := "lost"
	if e.GaveUp {
		verb = "given up by"
	}
	return fmt.Sprintf("%v: %s %s: %s", e.Where, verb, link.RankAt(e.Rank, e.Host), plain.Text(e.Why))
}

func (e *LostError) Unwrap() error { return e.Err }

// LostBy returns the error of a rank that was doing w when the server ended the job or the epoch.
func LostBy(w Where, cause *protocol.LostError) *LostError {
	return &LostError{
		Where: w, Rank: cause.Rank, Host: cause.Host, Why: cause.Why,
		GaveUp: cause.GaveUp, ServerRestarted: cause.ServerRestarted, Err: cause,
	}
}

// serverError is an error of the server's client that is a *LostError too.
type serverError struct {
	err  error
	lost *LostError // wraps the cause in err
}

func (e *serverError) Error() string   { return e.err.Error() }
func (e *serverError) Unwrap() []error { return []error{e.err, e.lost} }

// FromServer returns an error of the server's client as one of a rank. Its text is the same. If a
// lost rank is the cause, errors.As finds a *[LostError] in it.
func FromServer(rank int, err error) error {
	cause, ok := errors.AsType[*protocol.LostError](err)
	if !ok {
		return err
	}
	return &serverError{err: err, lost: LostBy(Where{Rank: rank}, cause)}
}

// DeadlineError reports that a collective made no progress for too long.
type DeadlineError struct {
	Where   Where         // of the rank that returns the error
	By      int           // the rank that waited in vain
	Rank    int           // the rank that it waited for
	Host    string        // that rank's address
	Entered bool          // it had entered the collective; else MaxWait was exceeded
	Idle    time.Duration // how long nothing moved
}

func (e *DeadlineError) Error() string {
	if !e.Entered && e.Rank == link.UnknownRank {
		return fmt.Sprintf("%v: rank %d waited %s for %s, which has sent nothing in the collective: it, or a worker behind it, is stopped or far slower than this rank "+
			"(limit: MaxWait, else %d times Stall, or %d times this rank's longest work)", e.Where, e.By, Seconds(e.Idle), link.RankAt(e.Rank, e.Host), streamStalls, streamPaces)
	}
	if !e.Entered {
		return fmt.Sprintf("%v: rank %d waited %s for %s, which has not entered the collective (limit: MaxWait)",
			e.Where, e.By, Seconds(e.Idle), link.RankAt(e.Rank, e.Host))
	}
	return fmt.Sprintf("%v: no byte moved for %s between rank %d and %s, both in the collective (limit: Stall): "+
		"is that process stopped, or the network between them broken?", e.Where, Seconds(e.Idle), e.By, link.RankAt(e.Rank, e.Host))
}

// Timeout makes a DeadlineError a timeout in the sense of net.Error.
func (e *DeadlineError) Timeout() bool { return true }

// InterruptedError reports that the epoch is over because of a loss from which the job
// recovers. Run repeats the step. A program that calls collectives itself
// cannot.
type InterruptedError struct {
	Where Where // of the rank that returns the error
	Err   error // why the server has ended the epoch, mostly a *[LostError]
}

func (e *InterruptedError) Error() string {
	return fmt.Sprintf("%v: the epoch is over: %v", e.Where, e.Err)
}

func (e *InterruptedError) Unwrap() error { return e.Err }

// MismatchError reports that two ranks made different calls where all must make
// the same.
type MismatchError struct {
	Where Where     // of the rank that returns the error
	Ranks [2]int    // the ranks that disagree
	Calls [2]string // the call of each of them, in detail
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("rank %d: ranks disagree: rank %d calls %s; rank %d calls %s. All ranks must make the same calls in the same order",
		e.Where.Rank, e.Ranks[0], plain.Text(e.Calls[0]), e.Ranks[1], plain.Text(e.Calls[1]))
}

// Error returns the reason, so that a failure can pass through a link as an error.
func (f *Failure) Error() string { return f.Reason() }

// failureOf returns the failure of a link, and the link whose peer need not get it; nil: all get it.
func (en *Engine) failureOf(l *link.Link, err error) (f *Failure, from *link.Link) {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f, l
	}
	if broken, ok := errors.AsType[*link.BrokenError](err); ok {
		return en.lost(l, broken.Err), l
	}
	if corrupt, ok := errors.AsType[*link.CorruptError](err); ok {
		return en.corrupt(l, corrupt.Err), l
	}
	return &Failure{Code: FaultGaveUp, By: en.Rank, Rank: en.Rank, Text: "to " + link.RankAt(l.Rank, l.Host) + ": " + err.Error(), Err: err}, nil
}

// lost is the failure that a link has ended.
func (en *Engine) lost(l *link.Link, err error) *Failure {
	text := "its connection broke: " + rootOf(err)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		text = "its connection ended"
	}
	return &Failure{Code: FaultLost, By: en.Rank, Rank: l.Rank, Host: l.Host, Text: text, Err: err, Ask: protocol.EdgeBroke}
}

// corrupt is the failure that the peer has sent invalid bytes.
func (en *Engine) corrupt(l *link.Link, err error) *Failure {
	return &Failure{
		Code: FaultGaveUp, By: en.Rank, Rank: en.Rank,
		Text: fmt.Sprintf("from %s: %v", link.RankAt(l.Rank, l.Host), err),
		Err:  fmt.Errorf("from %s: %w", link.RankAt(l.Rank, l.Host), err),
		Ask:  protocol.EdgeCorrupts,
		Far:  l.Rank,
	}
}

// rootOf returns the innermost text of a network error, without addresses.
func rootOf(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

// Public returns the failure as the error of a rank that was doing w.
func (f *Failure) Public(w Where) error {
	err := f.public(w)
	if f.Cause != "" {
		return &causedError{err, f.Cause}
	}
	return err
}

func (f *Failure) public(w Where) error {
	switch f.Code {
	case faultStalled:
		return &DeadlineError{Where: w, By: f.By, Rank: f.Rank, Host: f.Host, Entered: f.entered, Idle: f.idle}
	case faultMismatch:
		return &MismatchError{
			Where: w,
			Ranks: [2]int{f.By, f.Rank},
			Calls: [2]string{f.calls[0].detail(), f.calls[1].detail()},
		}
	case FaultOver:
		return &InterruptedError{Where: w, Err: FromServer(w.Rank, f.Err)}
	case FaultLeft:
		return fmt.Errorf("rank %d: %s: %w", w.Rank, link.RankAt(f.Rank, f.Host), ErrLeft)
	case FaultGaveUp:
		if f.Rank == w.Rank && f.Err != nil {
			return fmt.Errorf("%v: %w", w, FromServer(w.Rank, f.Err))
		}
	}
	e := &LostError{Where: w, Rank: f.Rank, Host: f.Host, Why: f.Text, GaveUp: f.Code == FaultGaveUp, Err: f.Err}
	if cause, ok := errors.AsType[*protocol.LostError](f.Err); ok {
		e.ServerRestarted = cause.ServerRestarted
	}
	return e
}

// Detail encodes the failure for the programs of other ranks. It is "" for failures that the text
// of Reason describes completely.
func (f *Failure) Detail() string {
	if f.Code != faultMismatch && f.Code != faultStalled {
		return ""
	}
	g := *f
	g.Host, g.Text = Clip(f.Host, 255), ""
	return string(g.appendTo(nil))
}

// Reason describes the failure for the server, which passes the text to all ranks.
func (f *Failure) Reason() string {
	switch f.Code {
	case FaultLost:
		return fmt.Sprintf("lost %s: %s", link.RankAt(f.Rank, f.Host), f.Text)
	case FaultGaveUp:
		return f.Text
	}
	return strings.TrimPrefix(f.public(Where{Rank: f.By}).Error(), fmt.Sprintf("rank %d: ", f.By))
}
