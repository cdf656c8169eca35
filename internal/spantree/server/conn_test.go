// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/gvw-project/gvw/internal/monitor/events"
)

// TestWhyAConnectionEnded checks the fault and the words for each way in which a connection ends. Those of a process that has
// ended begin alike, whether or not it had read all that it was sent.
func TestWhyAConnectionEnded(t *testing.T) {
	read := func(errno syscall.Errno) error {
		return fmt.Errorf("header: %w", &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", errno)})
	}
	for _, c := range []struct {
		err   error
		fault events.Fault
		words string
	}{
		{nil, events.FaultEnded, "connection closed"},
		{io.EOF, events.FaultEnded, "connection closed"},
		{fmt.Errorf("body: %w", io.ErrUnexpectedEOF), events.FaultEnded, "connection closed"},
		{read(syscall.ECONNRESET), events.FaultEnded, "connection closed: connection reset by peer"},
		{read(syscall.EHOSTUNREACH), events.FaultNetwork, "connection lost: read: no route to host"},
		{&net.OpError{Op: "read", Net: "tcp", Err: net.ErrClosed}, events.FaultDropped, "the server closed the connection"},
	} {
		if fault, words := why(c.err); fault != c.fault || words != c.words {
			t.Errorf("%v: got %v, %q, want %v, %q", c.err, fault, words, c.fault, c.words)
		}
	}
}

// TestResetOfAProcessWithUnreadBytes: the kernel resets the connection of a process that is killed before it has read all.
func TestResetOfAProcessWithUnreadBytes(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	peer, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = peer.Close() }()
	nc, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = nc.Close() }()
	if _, err := nc.Write(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(peer, make([]byte, 1)); err != nil { // the rest has arrived, too
		t.Fatal(err)
	}
	if err := peer.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = nc.Read(make([]byte, 1))
	if fault, words := why(err); fault != events.FaultEnded || words != "connection closed: connection reset by peer" {
		t.Errorf("%v: got %v, %q", err, fault, words)
	}
}
