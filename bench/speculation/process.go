// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// attemptCommand is the first argument of a process that is an attempt. Its order follows, in JSON.
const attemptCommand = "attempt"

// event is a line that such a process prints, in JSON.
type event struct {
	Kind   eventKind
	At     time.Time
	Pass   int       // of committed
	Ready  time.Time // of committed
	Digest [32]byte  // of ended
}

type eventKind string

const (
	begins    eventKind = "begins"    // the work of a pass
	works     eventKind = "ends"      // the work of a pass has ended
	committed eventKind = "committed" // a pass has ended
	ended     eventKind = "ended"     // all passes have ended
	idle      eventKind = "idle"      // another attempt has made them
)

// process runs an attempt as a process of this program, with a fault (GVW_FAULT; "": none). The process ends when ctx does.
func process(ctx context.Context, o *order, injected string, news reports) (digest [32]byte, err error) {
	self, err := os.Executable()
	if err != nil {
		return digest, err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return digest, err
	}
	cmd := exec.CommandContext(ctx, self, attemptCommand, string(text))
	cmd.Env = append(os.Environ(), "GVW_FAULT="+injected)
	var diagnostics bytes.Buffer
	cmd.Stderr = &diagnostics
	stdin, err := cmd.StdinPipe() // its end tells the process that this one is gone
	if err != nil {
		return digest, err
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return digest, err
	}
	if err := cmd.Start(); err != nil {
		return digest, err
	}
	last, err := follow(json.NewDecoder(stdout), news)
	err = errors.Join(err, cmd.Wait())
	switch {
	case ctx.Err() != nil:
		return digest, context.Cause(ctx)
	case err != nil:
		return digest, fmt.Errorf("speculation: attempt %d of rank %d: %w\n%s", o.Attempt, o.Rank, err, &diagnostics)
	case last.Kind == idle:
		return digest, &protocol.FinishedError{}
	case last.Kind != ended:
		return digest, fmt.Errorf("speculation: attempt %d of rank %d has ended without a result: the last event is %q", o.Attempt, o.Rank, last.Kind)
	}
	return last.Digest, nil
}

// follow passes the events of a process on, and returns the last one.
func follow(events *json.Decoder, news reports) (last event, err error) {
	for {
		var e event
		if err := events.Decode(&e); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
				err = nil
			}
			return last, err
		}
		switch last = e; e.Kind {
		case begins, works:
			news.working(e.At, e.Kind == begins)
		case committed:
			news.committed(e.Pass, e.Ready, e.At)
		}
	}
}

// attemptProcess is the main function of a process that is an attempt.
func attemptProcess(ctx context.Context, text string, stdin io.Reader, stdout io.Writer) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return fmt.Errorf("speculation: the order of an attempt: %w", err)
	}
	if injected := os.Getenv("GVW_FAULT"); injected != "" {
		plan, err := fault.Parse(injected)
		if err != nil {
			return fmt.Errorf("GVW_FAULT: %w", err)
		}
		fault.Arm(plan, fault.Life{Attempt: uint64(o.Attempt), Generation: 1}, fault.Hands{})
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, stdin)
		cancel(errors.New("speculation: the launcher is gone"))
	}()
	// The events come from one goroutine, that of the passes.
	var failed error
	out := json.NewEncoder(stdout)
	say := func(e event) { failed = errors.Join(failed, out.Encode(e)) }
	digest, err := o.run(ctx, transport.TCP, slog.New(slog.DiscardHandler), reports{
		working: func(at time.Time, on bool) {
			kind := works
			if on {
				kind = begins
			}
			say(event{Kind: kind, At: at})
		},
		committed: func(n int, ready, end time.Time) { say(event{Kind: committed, At: end, Pass: n, Ready: ready}) },
	}, func(int) float64 { return 1 })
	if _, ok := errors.AsType[*protocol.FinishedError](err); ok {
		say(event{Kind: idle, At: time.Now()})
		return failed
	}
	if err == nil {
		say(event{Kind: ended, At: time.Now(), Digest: digest})
	}
	return errors.Join(err, failed)
}

// isAttempt reports whether the arguments are those of an attempt, and returns its order.
func isAttempt(args []string) (text string, ok bool) {
	if len(args) != 2 || args[0] != attemptCommand || !strings.HasPrefix(args[1], "{") {
		return "", false
	}
	return args[1], true
}
