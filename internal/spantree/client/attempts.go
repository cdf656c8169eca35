// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A refusal ends a rank at once only if it is authentic: it comes over a sealed connection
// or over TLS from a server that has shown its certificate. Anybody on the path can forge
// another one, and one changed bit makes the two ends of a handshake refuse each other.
// Such a refusal holds when it has been repeated: confirmations attempts in a row have ended
// by the same one, and confirmOver has passed since the first of them.
const (
	confirmations = 3
	confirmOver   = 3 * time.Second
	maxPause      = 8 * time.Second // between two attempts of which the first was refused
)

// attempts is a sequence of attempts to reach the server.
type attempts struct {
	cfg   JoinConfig
	made  int
	pause time.Duration

	answer  answer                 // to the newest attempt
	refused *protocol.RefusedError // the newest doubtful refusal, nil: none
	times   int                    // how often answer has come in a row
	since   time.Time              // when it came first
	logged  map[answer]bool
}

// answer is the kind of end of an attempt that the server has answered. Its zero value is
// any other end.
type answer struct {
	vw       bool // errVWServer
	byClient bool // RefusedError.Ours
	code     protocol.Code
}

func newAttempts(cfg JoinConfig) *attempts {
	return &attempts{cfg: cfg, pause: dialPause, logged: map[answer]bool{}}
}

// until makes attempts until one succeeds, the end of one is final, or ctx ends. It returns
// the error of the last attempt.
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

// late returns err, the end of the last attempt before the deadline, with the last answer
// that the server gave: an answer that was not repeated is no refusal, but may be the cause.
func (a *attempts) lastError(err error) error {
	switch {
	case a.answer != (answer{}):
		return fmt.Errorf("%v; this answer is not authenticated, and was not repeated", err)
	case a.refused != nil:
		return fmt.Errorf("%w; earlier, not authenticated: %v", err, a.refused)
	}
	return err
}

// final reports whether an attempt that has ended by err at now is the last one.
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
		return a.times > 1 // the answer was asked for again
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

// retry tries to reach the server until DialTimeout, as vw workers do.
func retry(ctx context.Context, cfg JoinConfig, reach func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, cfg.DialTimeout)
	defer cancel()
	a := newAttempts(cfg)
	err := a.run(within, func(ctx context.Context) error {
		err := reach(ctx)
		if _, refused := errors.AsType[*protocol.RefusedError](err); err != nil && !refused && a.made == 1 {
			cfg.Log.Warn("cannot reach the server, trying on", "server", cfg.Server, "for", cfg.DialTimeout, "error", err)
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
