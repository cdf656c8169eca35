// SPDX-License-Identifier: Apache-2.0

package httpserve

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// serve starts a server, and returns its address. end ends it.
func serve(t *testing.T, most int, h http.HandlerFunc, drain time.Duration) (addr string, end func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Until(ctx, Bound(l, most), &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}, drain)
	}()
	t.Cleanup(cancel)
	return l.Addr().String(), func() error {
		cancel()
		return <-ended
	}
}

// dial connects a client, whose reads and writes must not take long.
func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return c
}

// ask sends a request, and reports whether it is answered.
func ask(t *testing.T, c net.Conn) bool {
	t.Helper()
	_, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	if err == nil {
		_, err = io.ReadFull(c, make([]byte, len("HTTP/1.1 200 OK")))
	}
	return err == nil
}

// A connection above the limit is closed, and one that ends leaves its place to another.
func TestBound(t *testing.T) {
	addr, end := serve(t, 2, func(http.ResponseWriter, *http.Request) {}, time.Minute)
	first, second := dial(t, addr), dial(t, addr)
	if !ask(t, first) || !ask(t, second) {
		t.Fatal("connections within the limit are not answered")
	}
	if ask(t, dial(t, addr)) {
		t.Error("a third connection is answered")
	}
	if _, err := io.WriteString(first, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, first); err != nil { // until the server has closed it
		t.Fatal(err)
	}
	for !ask(t, dial(t, addr)) { // the server gives the place back after the end that was read
		if t.Context().Err() != nil {
			t.Fatal("the place of a connection that has ended is not given to another")
		}
	}
	_ = second.Close()
	if err := end(); err != nil {
		t.Error(err)
	}
}

// The requests under way end within the limit. Those that take longer are cut.
func TestUntilDrains(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	addr, end := serve(t, 2, func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-release
		_, _ = io.WriteString(w, "ok")
	}, time.Minute)
	answered := make(chan bool, 1)
	c := dial(t, addr)
	go func() { answered <- ask(t, c) }()
	<-begun
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	close(release)
	if !<-answered {
		t.Error("a request under way has no answer")
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}

	begun, release = make(chan struct{}), make(chan struct{})
	defer close(release)
	addr, end = serve(t, 2, func(http.ResponseWriter, *http.Request) {
		close(begun)
		<-release
	}, time.Millisecond)
	c = dial(t, addr)
	go func() { answered <- ask(t, c) }()
	<-begun
	if err := end(); err != nil {
		t.Error(err)
	}
	if <-answered {
		t.Error("a request that outlasts the limit is answered")
	}
}

// An address of all interfaces and a name other than localhost can be reached from other machines.
func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.8.9.1": true, "::1": true, "localhost": true,
		"": false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "node7": false, "localhost.example.org": false,
	} {
		if got := Loopback(host); got != want {
			t.Errorf("Loopback(%q) = %v, want %v", host, got, want)
		}
	}
}
