// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Tether connects a launcher to one worker on another machine.
type Tether struct {
	SSH     []string // ssh with its options; required
	Host    string   // required
	Program string   // path of gvw there; required
	Order   Order
	Out     io.Writer // gets the worker's diagnostics, and remarks about the connection
	// Over delivers a signal every few seconds once the job has ended, so that a worker without a connection is not waited
	// for. Signals that arrive during a connection are ignored: the job may have continued since. nil: none.
	Over <-chan os.Signal
}

// ErrOver means that the job ended while there was no connection to the worker.
var ErrOver = errors.New("the job has ended, and there is no connection to the worker")

const (
	// firstRetry is the pause before the first new connection. It doubles up to lastRetry.
	firstRetry, lastRetry = 500 * time.Millisecond, 5 * time.Second
)

// Limits that the tests raise.
var (
	// endWithin is the time for a worker to end when it is told to, and to say so.
	endWithin = 8 * time.Second
	// receiptWithin is the time for a front to remove its files.
	receiptWithin = 2 * time.Second
)

// Run starts the worker and returns its end. The end of ctx ends the worker. A connection that is lost is made again as long
// as the caller waits. The error means that the worker could not be started, or ErrOver.
func (t *Tether) Run(ctx context.Context) (End, error) {
	// A later attempt has had a worker on that host, so a failure to connect is a matter of time.
	met := t.Order.Attempt > 1
	pause := firstRetry
	for {
		end, alive, err := t.connect(ctx)
		switch {
		case end != nil:
			return *end, nil
		case ctx.Err() != nil:
			return End{}, context.Cause(ctx)
		case !alive && !met:
			return End{}, fmt.Errorf("cannot start a worker on %s by %s: %w", t.Host, t.SSH[0], err)
		case alive:
			pause = firstRetry
			select {
			case <-t.Over:
			default:
			}
		}
		if alive || pause == firstRetry {
			fmt.Fprintf(t.Out, "gvw run: the connection to %s is lost (%v): the worker goes on without it, if its machine does\n", t.Host, err)
		}
		met = true
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-t.Over:
			timer.Stop()
			return End{}, ErrOver
		case <-timer.C:
		}
		timer.Stop()
		pause = min(2*pause, lastRetry)
	}
}

// connect makes one connection. end is nil if the connection is lost before the worker has ended; alive is true if the front
// has answered.
func (t *Tether) connect(ctx context.Context) (end *End, alive bool, err error) {
	// The connection outlives ctx: the worker is told to end through it.
	live, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	args := append(t.SSH[1:len(t.SSH):len(t.SSH)], t.Host, "exec "+Quote(t.Program)+" remote front")
	ssh := exec.CommandContext(live, t.SSH[0], args...)
	ssh.Stderr, ssh.WaitDelay = t.Out, time.Second
	in, err := ssh.StdinPipe()
	if err != nil {
		return nil, false, err
	}
	out, err := ssh.StdoutPipe()
	if err != nil {
		return nil, false, err
	}
	if err := ssh.Start(); err != nil {
		return nil, false, err
	}
	defer func() {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			defer time.AfterFunc(receiptWithin, cut).Stop() // it is about to exit, with a code that tells more
		} else {
			cut()
		}
		werr := ssh.Wait() // the pipes end with it
		if e, exited := errors.AsType[*exec.ExitError](werr); exited && e.Exited() && errors.Is(err, io.ErrUnexpectedEOF) {
			err = werr
		}
	}()
	_ = json.NewEncoder(in).Encode(t.Order) // if ssh does not take it, it also ends its output
	reports := make(chan Report)
	failed := make(chan error, 1)
	go func() { failed <- readReports(live, out, reports) }() // it ends with the pipe, or with live
	silent := newSilence()
	defer silent.Stop()
	told := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case r := <-reports:
			alive = true
			silent.ticks = 0
			t.Order.Offset += int64(len(r.Log))
			_, _ = t.Out.Write(r.Log) // the worker goes on if the launcher cannot read, or write its log
			if r.Error != "" {
				return &End{Code: 126, Error: r.Error}, alive, nil
			}
			if r.Ended != nil {
				// The front then removes its files and ends. An error, or no end, leaves them there.
				_, _ = io.WriteString(in, wordDone+"\n")
				select {
				case <-failed:
				case <-time.After(receiptWithin):
				}
				return r.Ended, alive, nil
			}
		case err := <-failed:
			return nil, alive, err
		case <-silent.C:
			if silent.tick() {
				return nil, alive, fmt.Errorf("no answer for %v", silentAfter)
			}
		case <-told:
			told, late = nil, time.After(endWithin)
			_, _ = io.WriteString(in, wordEnd+"\n") // an error is that of the connection
		case <-late:
			return nil, alive, context.Cause(ctx)
		}
	}
}

// silence is the time without a report. While this process is stopped, for example by Ctrl-Z, reports wait in the connection.
// That time does not count: a ticker has one tick at most when the process continues.
type silence struct {
	*time.Ticker
	ticks int // since the last report
}

// silenceTicks is the number of ticks without a report after which a connection counts as lost.
const silenceTicks = 15

func newSilence() *silence { return &silence{Ticker: time.NewTicker(silentAfter / silenceTicks)} }

// tick counts a tick, and reports whether the connection counts as lost.
func (s *silence) tick() bool {
	s.ticks++
	return s.ticks >= silenceTicks
}

// readReports passes on the reports of a front. Lines of something else, such as a greeting of the login shell, are in the error.
func readReports(ctx context.Context, r io.Reader, to chan<- Report) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 4*maxLog)
	for lines.Scan() {
		var report Report
		if err := json.Unmarshal(lines.Bytes(), &report); err != nil {
			return fmt.Errorf("got %q, want a report of gvw: does the login shell print something?", strings.ToValidUTF8(lines.Text(), "?"))
		}
		select {
		case to <- report:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
