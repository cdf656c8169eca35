// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// tamper is a connection that changes one byte in each direction.
type tamper struct {
	net.Conn
	read, write int // -1: none
}

func (t *tamper) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	if t.read >= 0 && t.read < n {
		b[t.read] ^= 1
	}
	t.read -= n
	return n, err
}

func (t *tamper) Write(b []byte) (int, error) {
	if t.write >= 0 && t.write < len(b) {
		b = bytes.Clone(b) // leave the sender's bytes unchanged
		b[t.write] ^= 1
	}
	t.write -= len(b)
	return t.Conn.Write(b)
}

// greet runs the exchange of two sides over a pipe.
func greet(t *testing.T, client, server Key, wrap func(net.Conn) net.Conn) (clientErr, serverErr error) {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	for _, c := range []net.Conn{near, far} {
		if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() {
		heard := make([]byte, 5)
		_, err := io.ReadFull(far, heard)
		if err == nil {
			_, err = server.Respond(far, heard, []byte("four"))
		}
		far.Close()
		done <- err
	}()
	heard, _, clientErr := client.Initiate(wrap(near), []byte("hello"), 4)
	if clientErr == nil && string(heard) != "four" {
		t.Errorf("heard %q", heard)
	}
	near.Close()
	return clientErr, <-done
}

func straight(c net.Conn) net.Conn { return c }

func TestHandshake(t *testing.T) {
	s := secretOf(t, goodSecret)
	key := s.Epoch(Scope{UniqueID: 1, Token: [16]byte{1}})
	if c, s := greet(t, key, key, straight); c != nil || s != nil {
		t.Errorf("one key: client %v, server %v", c, s)
	}
	for name, other := range map[string]Key{
		"another job's token": s.Epoch(Scope{UniqueID: 1, Token: [16]byte{2}}),
		"another secret":      secretOf(t, otherSecret).Epoch(Scope{UniqueID: 1, Token: [16]byte{1}}),
		"no secret":           (*Secret)(nil).Epoch(Scope{UniqueID: 1, Token: [16]byte{1}}),
	} {
		c, s := greet(t, other, key, straight)
		if _, ok := errors.AsType[*Error](c); !ok || s == nil {
			t.Errorf("%s: client %v, server %v; want both to fail", name, c, s)
		}
	}
}

// If any byte of the exchange is changed in transit, at least one side fails, and the
// other one does not hang.
func TestChangedHandshakesFail(t *testing.T) {
	key := secretOf(t, goodSecret).Epoch(Scope{UniqueID: 1})
	for i := range 5 + ProofSize {
		if c, s := greet(t, key, key, func(c net.Conn) net.Conn { return &tamper{c, -1, i} }); c == nil && s == nil {
			t.Errorf("byte %d from the client: neither side failed", i)
		}
	}
	for i := range 4 + ProofSize {
		if c, s := greet(t, key, key, func(c net.Conn) net.Conn { return &tamper{c, i, -1} }); c == nil || s == nil {
			t.Errorf("byte %d from the server: client %v, server %v", i, c, s)
		}
	}
}

// FuzzAnswer sends arbitrary bytes instead of a proof.
func FuzzAnswer(f *testing.F) {
	key := secretOf(f, goodSecret).Epoch(Scope{UniqueID: 1})
	f.Add(make([]byte, ProofSize))
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, proof []byte) {
		near, far := net.Pipe()
		defer near.Close()
		go func() {
			_, _ = io.ReadFull(near, make([]byte, 4+ProofSize))
			_, _ = near.Write(proof)
			near.Close()
		}()
		if _, err := key.Respond(far, []byte("hello"), []byte("four")); err == nil {
			t.Fatalf("% x is accepted as a proof", proof)
		}
		far.Close()
	})
}
