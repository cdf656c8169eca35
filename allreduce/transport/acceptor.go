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

// Exhausted reports whether err means that the process or the machine is out of file
// descriptors. A later attempt, or one on another machine, may succeed.
func Exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// The delays between attempts to accept a connection double from shortestPause to longestPause.
const (
	shortestPause = 5 * time.Millisecond
	longestPause  = time.Second
	warnInterval  = 10 * time.Second // the interval between two warnings
)

// Acceptor accepts connections as long as its listener is open. Temporary errors, such as a
// lack of descriptors, only delay it. It keeps one descriptor in reserve: without one, new
// connections would remain in the system's queue, and the caller could not close an older
// connection in their favour.
type Acceptor struct {
	// Listener is the source of connections. The caller closes it.
	Listener net.Listener
	// Shed closes the least important connection, and reports whether there was one. nil:
	// there is none.
	Shed func() bool
	// Log receives a warning for errors that delay connections.
	Log *slog.Logger

	reserve *os.File      // an open descriptor; nil: given up
	pause   time.Duration // the last delay; 0: none since the last connection
	warned  time.Time     // the time of the last warning
}

// Accept returns the next connection. It fails only when the listener is closed or ctx ends.
// Only one goroutine at a time may call it.
func (a *Acceptor) Accept(ctx context.Context) (net.Conn, error) {
	a.openReserve()
	for {
		c, err := a.Listener.Accept()
		switch {
		case err == nil && (a.openReserve() || a.shed()):
			a.pause = 0
			return c, nil
		case err == nil: // it took the reserve, and nothing else can be closed
			_ = c.Close() // nothing was sent
			a.openReserve()
			continue
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, net.ErrClosed):
			return nil, err
		}
		a.warn(err)
		if Exhausted(err) && a.closeReserve() {
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

// Close closes the reserve. The listener stays open.
func (a *Acceptor) Close() { a.closeReserve() }

// openReserve opens the reserve, and reports whether it is open.
func (a *Acceptor) openReserve() bool {
	if a.reserve == nil {
		a.reserve, _ = os.Open(os.DevNull) // fails if no descriptor is left
	}
	return a.reserve != nil
}

// closeReserve closes the reserve, and reports whether it was open.
func (a *Acceptor) closeReserve() bool {
	if a.reserve == nil {
		return false
	}
	_ = a.reserve.Close() // nothing was written
	a.reserve = nil
	return true
}

// shed closes the least important connection, and reports whether there was one.
func (a *Acceptor) shed() bool { return a.Shed != nil && a.Shed() }

// warn logs err, unless it has logged an error recently.
func (a *Acceptor) warn(err error) {
	if now := time.Now(); now.Sub(a.warned) >= warnInterval {
		a.warned = now
		a.Log.Warn("cannot accept a connection; retrying", "addr", a.Listener.Addr().String(), "error", err, "descriptor limit", FileLimit())
	}
}
