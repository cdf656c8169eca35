// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// exhaustedListener is a listener that has no descriptors for its first accepts.
type exhaustedListener struct {
	net.Listener
	left int // accepts that fail
	err  error
}

func (l *exhaustedListener) Accept() (net.Conn, error) {
	if l.left--; l.left >= 0 {
		return nil, l.err
	}
	here, there := net.Pipe()
	there.Close()
	return here, nil
}

func (l *exhaustedListener) Addr() net.Addr { return &net.TCPAddr{} }

// After any temporary error, however long it lasts, the next connection is accepted. The log
// has at most one line every ten seconds.
func TestAcceptorSurvivesTemporaryErrors(t *testing.T) {
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED, syscall.ENOBUFS} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			shed := 0
			a := &Acceptor{
				Listener: &exhaustedListener{left: 100, err: &net.OpError{Op: "accept", Err: err}},
				Shed:     func() bool { shed++; return true }, Log: slog.New(slog.NewTextHandler(&log, nil)),
			}
			defer a.Close()
			began := time.Now()
			c, got := a.Accept(t.Context())
			if got != nil {
				t.Fatal(got)
			}
			c.Close()
			took := time.Since(began)
			if lines := strings.Count(log.String(), "\n"); lines > 1+int(took/warnInterval) || !strings.Contains(log.String(), err.Error()) {
				t.Errorf("%v for %v: the log has %d lines:\n%s", err, took, lines, &log)
			}
			if shed < 99 {
				t.Errorf("%v: %d connections were shed", err, shed)
			}
		})
	}
}

// Accept ends with its context, also during a delay, and with its listener.
func TestAcceptorEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		a := &Acceptor{Listener: &exhaustedListener{left: 1 << 30, err: syscall.EMFILE}, Log: slog.New(slog.DiscardHandler)}
		defer a.Close()
		if _, err := a.Accept(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the end of the context", err)
		}
		a.Listener = &exhaustedListener{left: 1, err: net.ErrClosed}
		if _, err := a.Accept(t.Context()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want %v", err, net.ErrClosed)
		}
	})
}
