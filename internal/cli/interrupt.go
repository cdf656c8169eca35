// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/events"
)

// cleanupTime is the time that a run has to remove its files after a signal. After that, or
// at a second signal, the process ends at once. Files under their final names are complete
// at any time.
const cleanupTime = 5 * time.Second

// quickCleanupTime is the same for a process that is killed soon after SIGTERM: YARN's
// default is 250 ms.
const quickCleanupTime = 150 * time.Millisecond

// sameSignal is the time after a signal in which another one counts as the same: some
// launchers signal a process group, and the parent in it forwards the signal to its children.
const sameSignal = 500 * time.Millisecond

// Interruption is the cause of a context that Interruptible has ended.
type Interruption struct {
	Text string // for the user
	Code int    // exit code
	Err  error  // error that the job is given, such as allreduce.ErrLeaving; nil: a failure
}

func (e *Interruption) Error() string { return e.Text }
func (e *Interruption) Unwrap() error { return e.Err }

// FaultClass implements [events.Classified]: the process was told to stop.
func (e *Interruption) FaultClass() events.Class { return events.Stopped }

// ExitCode returns the exit code of the process.
func (e *Interruption) ExitCode() int { return e.Code }

// SignalPolicy determines how a process handles SIGINT and SIGTERM. The zero value is for a
// process that a person has started.
type SignalPolicy struct {
	Quick bool  // the process is killed soon after SIGTERM
	Err   error // Err of the Interruption by a signal
}

// Interruptible returns a context that ends at SIGINT, at SIGTERM, or at a call of
// stop with a cause. The process ends if the run takes longer than cleanupTime after
// that, once the functions of AtKill have removed its temporary files. A call of stop without
// a cause releases the handler after the run.
func Interruptible(parent context.Context, p *Process, how SignalPolicy) (ctx context.Context, stop func(cause ...*Interruption)) {
	same, last := sameSignal, cleanupTime
	if how.Quick {
		same, last = 0, quickCleanupTime
	}
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	// A write to a closed pipe (head, a launcher that has died) must fail, and not end the
	// process before its files are removed.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	over := make(chan struct{})
	die := func(why *Interruption) {
		p.kill()
		p.Note(slog.LevelError, why.Text)
		p.Exit(why.Code)
	}
	// This goroutine may outlive the run: its work is to end the process.
	go func() {
		var why *Interruption
		select {
		case sig := <-signals:
			why = Signalled(sig)
			why.Err = how.Err
			cancel(why)
		case <-ctx.Done():
			var ok bool
			if why, ok = context.Cause(ctx).(*Interruption); !ok {
				return
			}
		}
		began := time.Now()
		late := time.After(p.cleanupWithin(last))
		for time.Since(began) < same {
			select {
			case <-over:
				return
			case <-time.After(same - time.Since(began)):
			case <-signals:
			}
		}
		select {
		case <-over:
			return
		case <-signals:
		case <-late:
		}
		die(why)
	}()
	var once sync.Once
	return ctx, func(cause ...*Interruption) {
		for _, c := range cause {
			cancel(c)
			return
		}
		once.Do(func() {
			signal.Stop(signals)
			close(over)
			cancel(nil)
		})
	}
}

// Signalled returns the interruption by a signal.
func Signalled(sig os.Signal) *Interruption {
	if sig == os.Interrupt {
		return &Interruption{Text: "interrupted (SIGINT); no file was left half written", Code: 130}
	}
	return &Interruption{Text: "told to end (SIGTERM); no file was left half written", Code: 143}
}
