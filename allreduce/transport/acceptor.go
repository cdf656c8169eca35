// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"syscall"
	"time"
)

// Exhausted reports whether err says that the process or the machine has no file descriptor
// left. Another attempt, later or on another machine, may have one.
func Exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// The pauses between attempts to accept a connection, doubled each time.
const (
	shortestPause = 5 * time.Millisecond
	longestPause  = time.Second
	complainEvery = 10 * time.Second // at most, in the log
)

// Acceptor accepts connections as long as its listener is open. Lack of descriptors and other
// passing errors delay it. It keeps a descriptor in reserve: without one, new
// connections would wait in the system's queue, and no older one could be closed for them.
type Acceptor struct {
	// Listener is where connections come from. The caller closes it.
	Listener net.Listener
	// Shed closes the connection that matters least, and reports whether there was one; nil:
	// there never is one.
	Shed func() bool
	// Log gets what delays connections.
	Log *slog.Logger

	reserve    *os.File
	pause      time.Duration
	complained time.Time
}

// Accept returns the next connection. It fails when the listener is closed or ctx ends, and
// never otherwise. One goroutine at a time may call it.
func (a *Acceptor) Accept(ctx context.Context) (net.Conn, error) {
	a.hold()
	for {
		c, err := a.Listener.Accept()
		switch {
		case err == nil && (a.hold() || a.shed()):
			a.pause = 0
			return c, nil
		case err == nil: // over the reserve, and there is nothing else to give up
			_ = c.Close() // nothing was said
			a.hold()
			continue
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, net.ErrClosed):
			return nil, err
		}
		a.complain(err)
		if Exhausted(err) && a.lend() {
			continue
		}
		a.shed()
		a.pause = min(max(2*a.pause, shortestPause), longestPause)
		select {
		case <-time.After(a.pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Close gives the reserve back. The listener stays as it is.
func (a *Acceptor) Close() { a.lend() }

// hold takes the reserve, and reports whether it is there.
func (a *Acceptor) hold() bool {
	if a.reserve == nil {
		a.reserve, _ = os.Open(os.DevNull) // fails where no descriptor is left
	}
	return a.reserve != nil
}

// lend gives the reserve away, and reports whether it was there.
func (a *Acceptor) lend() bool {
	if a.reserve == nil {
		return false
	}
	_ = a.reserve.Close() // it was only opened
	a.reserve = nil
	return true
}

func (a *Acceptor) shed() bool { return a.Shed != nil && a.Shed() }

func (a *Acceptor) complain(err error) {
	if now := time.Now(); now.Sub(a.complained) >= complainEvery {
		a.complained = now
		a.Log.Warn("cannot accept a connection, trying again", "addr", a.Listener.Addr().String(), "error", err, "descriptor limit", FileLimit())
	}
}
