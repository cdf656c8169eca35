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

// scarce is a listener that has no descriptors for its first accepts.
type scarce struct {
	net.Listener
	left int // accepts that fail
	err  error
}

func (l *scarce) Accept() (net.Conn, error) {
	if l.left--; l.left >= 0 {
		return nil, l.err
	}
	here, there := net.Pipe()
	there.Close()
	return here, nil
}

func (l *scarce) Addr() net.Addr { return &net.TCPAddr{} }

// TestAcceptorOutlivesLack: whatever error passes, and however long it lasts, a connection is
// accepted after it. The log has a line every ten seconds at most.
func TestAcceptorOutlivesLack(t *testing.T) {
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED, syscall.ENOBUFS} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			shed := 0
			a := &Acceptor{
				Listener: &scarce{left: 100, err: &net.OpError{Op: "accept", Err: err}},
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
			if lines := strings.Count(log.String(), "\n"); lines > 1+int(took/complainEvery) || !strings.Contains(log.String(), err.Error()) {
				t.Errorf("%v for %v: the log has %d lines:\n%s", err, took, lines, &log)
			}
			if shed < 99 {
				t.Errorf("%v: %d connections were shed", err, shed)
			}
		})
	}
}

// TestAcceptorEnds with its context, also in a pause, and with its listener.
func TestAcceptorEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		a := &Acceptor{Listener: &scarce{left: 1 << 30, err: syscall.EMFILE}, Log: slog.New(slog.DiscardHandler)}
		defer a.Close()
		if _, err := a.Accept(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the end of the context", err)
		}
		a.Listener = &scarce{left: 1, err: net.ErrClosed}
		if _, err := a.Accept(t.Context()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want %v", err, net.ErrClosed)
		}
	})
}
