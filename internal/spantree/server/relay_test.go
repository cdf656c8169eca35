// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
)

// relay is a man in the middle. It accepts connections, opens one to the server for each, and
// forwards the bytes of both directions, which it may change.
type relay struct {
	l    net.Listener
	to   string
	hand func(conn int, up bool, offset int, b []byte) []byte // returns the bytes to forward; nil: unchanged

	mu    sync.Mutex
	said  [][2]bytes.Buffer // forwarded bytes by connection: to the server, and from it
	conns []net.Conn
	work  sync.WaitGroup
}

// between starts a relay in front of the server, until the test ends.
func between(t *testing.T, server string, hand func(conn int, up bool, offset int, b []byte) []byte) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{l: l, to: server, hand: hand}
	r.work.Go(r.accept)
	t.Cleanup(func() {
		l.Close()
		r.mu.Lock()
		for _, c := range r.conns {
			c.Close()
		}
		r.mu.Unlock()
		r.work.Wait()
	})
	return r
}

func (r *relay) addr() string { return r.l.Addr().String() }

func (r *relay) accept() {
	for {
		near, err := r.l.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", r.to)
		if err != nil {
			near.Close()
			continue
		}
		r.mu.Lock()
		n := len(r.said)
		r.said = append(r.said, [2]bytes.Buffer{})
		r.conns = append(r.conns, near, far)
		r.mu.Unlock()
		r.work.Go(func() { r.pass(n, true, near, far) })
		r.work.Go(func() { r.pass(n, false, far, near) })
	}
}

func (r *relay) pass(conn int, up bool, from, to net.Conn) {
	b, offset := make([]byte, 4096), 0
	for {
		n, err := from.Read(b)
		if n > 0 {
			out := b[:n]
			if r.hand != nil {
				out = r.hand(conn, up, offset, out)
			}
			offset += n
			r.note(conn, up, out)
			if _, werr := to.Write(out); werr != nil {
				err = io.EOF
			}
		}
		if err != nil {
			to.(*net.TCPConn).CloseWrite()
			return
		}
	}
}

func (r *relay) note(conn int, up bool, b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	way := 1
	if up {
		way = 0
	}
	r.said[conn][way].Write(b)
}

// up returns the bytes that a connection has sent to the server.
func (r *relay) up(conn int) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if conn >= len(r.said) {
		return nil
	}
	return bytes.Clone(r.said[conn][0].Bytes())
}

// flip changes the byte at one offset in one direction of every connection.
func flip(up bool, at int) func(int, bool, int, []byte) []byte {
	return func(_ int, is bool, offset int, b []byte) []byte {
		if is == up && at >= offset && at < offset+len(b) {
			b[at-offset] ^= 0x20
		}
		return b
	}
}

func listenLocal(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}
