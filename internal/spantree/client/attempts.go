// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A refusal is final at once only if it is authentic: it was sent over a sealed connection, or over
// TLS by a server with a certificate. Every machine on the path can forge another refusal, and one
// changed bit makes the two ends of a handshake refuse each other. Such a refusal is final when it
// has been repeated: the last `confirmations` attempts have ended by the same one, and the first of
// these was at least confirmOver ago.
const (
	confirmations = 3
	confirmOver   = 3 * time.Second
	maxPause      = 8 * time.Second // longest pause between attempts that are refused
)

// attempts is a sequence of attempts to reach the server.
type attempts struct {
	cfg   JoinConfig
	made  int
	pause time.Duration

	answer  answer                 // result of the newest attempt
	refused *protocol.RefusedError // newest unauthenticated refusal; nil: none
	times   int                    // successive attempts that ended by answer
	since   time.Time              // time of the first of these
	logged  map[answer]bool
}

// answer classifies how the server has ended an attempt. Its zero value is any end that is no
// refusal.
type answer struct {
	vw       bool // errVWServer
	byClient bool // RefusedError.ByClient
	code     protocol.Code
}

func newAttempts(cfg JoinConfig) *attempts {
	return &attempts{cfg: cfg, pause: dialPause, logged: map[answer]bool{}}
}

// run calls reach until it succeeds, its error is final, or ctx ends. It returns the last error.
// Between attempts it pauses for 1 s, or after refusals for 1, 2, 4 and then 8 s.
func (a *attempts) run(ctx context.Context, reach func(context.Context) error) error {
	for {
		a.made++
		err := reach(ctx)
		if err == nil || a.final(err, time.Now()) {
			return err
		}
		pause := dialPause
		if a.answer.code != 0 {
			pause = a.pause
			a.pause = min(2*a.pause, maxPause)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return a.lastError(err)
		}
	}
}

// lastError adds the newest unauthenticated refusal to err, the error of the last attempt before
// the deadline. A refusal that was not repeated may still be the cause.
func (a *attempts) lastError(err error) error {
	switch {
	case a.answer != (answer{}):
		return fmt.Errorf("%v; this answer is not authenticated, and was not repeated", err)
	case a.refused != nil:
		return fmt.Errorf("%w; earlier, not authenticated: %v", err, a.refused)
	}
	return err
}

// final reports whether an attempt that has ended by err at now was the last one.
func (a *attempts) final(err error, now time.Time) bool {
	no, refused := errors.AsType[*protocol.RefusedError](err)
	got := answer{vw: errors.Is(err, errVWServer)}
	if refused {
		got.byClient, got.code = no.ByClient, no.Code
	}
	if got != a.answer || got == (answer{}) {
		a.answer, a.times, a.since = got, 0, now
	}
	a.times++
	switch {
	case got.vw:
		return a.times > 1 // the answer was repeated
	case !refused:
		return false
	case !no.Unauthenticated:
		return true
	}
	a.refused = no
	if a.times >= confirmations && now.Sub(a.since) >= confirmOver {
		return true
	}
	if !a.logged[got] {
		a.logged[got] = true
		a.cfg.Log.Warn("refused, and the refusal is not authenticated: trying again", "server", a.cfg.Server, "rank", a.cfg.Rank, "error", err)
	}
	return false
}

// retry calls reach until DialTimeout, with pauses of 1 s as in vw.
func retry(ctx context.Context, cfg JoinConfig, reach func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, cfg.DialTimeout)
	defer cancel()
	a := newAttempts(cfg)
	err := a.run(within, func(ctx context.Context) error {
		err := reach(ctx)
		if _, refused := errors.AsType[*protocol.RefusedError](err); err != nil && !refused && a.made == 1 {
			cfg.Log.Warn("cannot reach the server, retrying", "server", cfg.Server, "for", cfg.DialTimeout, "error", err)
		}
		return err
	})
	_, refused := errors.AsType[*protocol.RefusedError](err)
	switch {
	case err == nil, refused, errors.Is(err, errVWServer):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return &protocol.ServerError{Server: cfg.Server, Doing: "join a job", Err: fmt.Errorf(
		"tried %d times in %v (is spanning_tree running there?): %w", a.made, cfg.DialTimeout, err)}
}
