// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// pair returns a connection between the hosts a and b of a new network.
func pair(t *testing.T) (n *Network, a, b net.Conn) {
	t.Helper()
	n = New()
	l, err := n.Host("b").Listen(t.Context(), ":0")
	if err != nil {
		t.Fatal(err)
	}
	if a, err = n.Host("a").Dial(t.Context(), l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return n, a, b
}

func TestBytesArriveInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := pair(t)
		want := make([]byte, 5*buffer+123)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range want {
			want[i] = byte(rng.Uint32())
		}
		go func() {
			for rest := want; len(rest) > 0; {
				n := min(len(rest), 1+rng.IntN(3*buffer/2))
				if _, err := a.Write(rest[:n]); err != nil {
					t.Error(err)
				}
				rest = rest[n:]
			}
			a.Close()
		}()
		got, err := io.ReadAll(b)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Error("the bytes read are not the bytes written")
		}
	})
}

func TestCloseEndsTheStreamAfterItsBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := pair(t)
		if _, err := a.Write([]byte("last words")); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("second Close: got %v, want net.ErrClosed", err)
		}
		got, err := io.ReadAll(b)
		if string(got) != "last words" || err != nil {
			t.Errorf("got %q, %v; want the last words and no error", got, err)
		}
		if _, err := b.Write([]byte("too late")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("write to a closed peer: got %v, want EPIPE", err)
		}
	})
}

func TestCloseWithUnreadBytesIsAReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := pair(t)
		if _, err := b.Write([]byte("unread")); err != nil {
			t.Fatal(err)
		}
		a.Close()
		if _, err := b.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("got %v, want ECONNRESET", err)
		}
	})
}

func TestDeadlinesFollowTheBubblesClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, _ := pair(t)
		start := time.Now()
		a.SetReadDeadline(start.Add(time.Hour))
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read: got %v, want a timeout", err)
		}
		if got := time.Since(start); got != time.Hour {
			t.Errorf("read waited %v, want 1h", got)
		}
		a.SetWriteDeadline(time.Now().Add(time.Minute))
		n, err := a.Write(make([]byte, 2*buffer))
		if n != buffer || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("write: got %d, %v; want %d and a timeout", n, err, buffer)
		}
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("write: %v is not a net.Error with Timeout", err)
		}
		a.SetReadDeadline(time.Time{})
		go func() {
			time.Sleep(time.Minute)
			a.SetReadDeadline(time.Now())
		}()
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a deadline set during the read: got %v, want a timeout", err)
		}
	})
}

func TestCutBreaksBothEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := pair(t)
		go func() {
			time.Sleep(time.Second)
			if got := n.Cut("a"); got != 1 {
				t.Errorf("Cut: got %d connections, want 1", got)
			}
		}()
		for _, c := range []net.Conn{a, b} {
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("read: got %v, want ECONNRESET", err)
			}
			if _, err := c.Write([]byte{1}); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("write: got %v, want ECONNRESET", err)
			}
			c.Close()
		}
		if len(n.conns) != 0 {
			t.Errorf("%d connections are left, want 0", len(n.conns))
		}
	})
}

func TestHoldStopsBytesAndLetsThemGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := pair(t)
		start := time.Now()
		n.Hold("b", true)
		if _, err := a.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Minute)
			n.Hold("b", false)
		}()
		if _, err := b.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(start); got != time.Minute {
			t.Errorf("the byte took %v, want 1m", got)
		}
	})
}

func TestListenAndDialErrors(t *testing.T) {
	n := New()
	l, err := n.Listen(t.Context(), ":7")
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Addr().String(); got != "mem:7" {
		t.Errorf("address: got %s, want mem:7", got)
	}
	if _, err := n.Listen(t.Context(), ":7"); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("second listener: got %v, want EADDRINUSE", err)
	}
	c, err := n.Dial(t.Context(), "mem:7")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close: got %v, want net.ErrClosed", err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a connection that was not accepted: got %v, want ECONNRESET", err)
	}
	if _, err := n.Dial(t.Context(), "mem:7"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial: got %v, want ECONNREFUSED", err)
	}
	if _, err := n.Dial(t.Context(), "mem:seven"); err == nil {
		t.Error("dial to a port that is no number: got no error")
	}
}
