// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// patience limits the wait for an event over real sockets, which normally takes
// milliseconds.
const patience = time.Minute

// born is the start of the journals in tests.
var born = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// logLines collects log lines.
type logLines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// harness is a server under test, on the loopback or in memory.
type harness struct {
	t      *testing.T
	s      *Server
	addr   string
	log    *logLines
	served chan error
}

// serveTCP starts a server on a free port of the loopback.
func serveTCP(t *testing.T, cfg ServerConfig) *harness {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, cfg, l)
}

func serveOn(t *testing.T, cfg ServerConfig, l net.Listener) *harness {
	t.Helper()
	r := &harness{t: t, log: &logLines{}, addr: l.Addr().String(), served: make(chan error, 1)}
	cfg.Log = slog.New(slog.NewTextHandler(r.log, nil))
	s, err := NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.s = s
	go func() { r.served <- s.Serve(context.Background(), l) }()
	t.Cleanup(r.close)
	return r
}

// close ends the server; a test that fails shows its log.
func (r *harness) close() {
	if err := r.s.Close(); err != nil {
		r.t.Errorf("Close: %v", err)
	}
	select {
	case err := <-r.served:
		// The goroutine of a test that ends at once may call Serve after Close.
		if err != nil && !errors.Is(err, net.ErrClosed) {
			r.t.Errorf("Serve: %v", err)
		}
		r.served <- nil // for another close
	case <-time.After(patience):
		r.t.Error("Serve has not returned after Close")
	}
	if r.t.Failed() {
		r.t.Logf("the server's log:\n%s", r.log)
	}
}

// logged waits until the server's log contains words.
func (r *harness) logged(words string) {
	r.t.Helper()
	for end := time.Now().Add(patience); !strings.Contains(r.log.String(), words); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("the log does not contain %q:\n%s", words, r.log)
		}
	}
}

// dial connects to the server.
func (r *harness) dial() *peer {
	r.t.Helper()
	c, err := net.DialTimeout("tcp", r.addr, patience)
	if err != nil {
		r.t.Fatal(err)
	}
	return newPeer(r.t, c)
}

// vw registers a worker in three writes, as vw does (allreduce_sockets.cc).
func (r *harness) vw(unique, total, rank uint64) *peer {
	r.t.Helper()
	p := r.dial()
	for _, v := range []uint64{unique, total, rank} {
		p.write(binary.LittleEndian.AppendUint64(nil, v))
	}
	return p
}

// native sends the hello of the native protocol, and reads WELCOME.
func (r *harness) native() *peer {
	r.t.Helper()
	p := r.dial()
	p.write(protocol.AppendHello(nil))
	if _, ok := p.frame().(*protocol.WelcomeFrame); !ok {
		r.t.Fatal("no WELCOME")
	}
	return p
}

// join sends JOIN over a connection whose frames the test reads and writes itself.
func (r *harness) join(f *protocol.JoinFrame) *peer {
	r.t.Helper()
	p := r.native()
	f.OptionsSHA256 = sum(f.Options)
	p.send(f)
	return p
}

// config returns the configuration of a rank that joins at the server.
func (r *harness) config(job protocol.Job, rank, total int) client.JoinConfig {
	return client.JoinConfig{
		Server: r.addr, Job: job, Rank: rank, Total: total, Advertise: fmt.Sprintf(":%d", 30000+rank),
		Host: fmt.Sprintf("h%d", rank), DialTimeout: patience, StartTimeout: patience,
	}
}

// member joins and closes the membership when the test ends.
func (r *harness) member(cfg client.JoinConfig) *client.Member {
	r.t.Helper()
	m, err := client.Join(r.t.Context(), cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = m.Close() })
	return m
}

// peer is a client's end of a connection in a test.
type peer struct {
	t      *testing.T
	c      net.Conn
	frames protocol.FrameReader
}

func newPeer(t *testing.T, c net.Conn) *peer {
	t.Helper()
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &peer{t: t, c: c, frames: protocol.FrameReader{R: c, Limit: protocol.MaxPayload}}
}

func (p *peer) write(b []byte) {
	p.t.Helper()
	if _, err := p.c.Write(b); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) send(f protocol.Frame) {
	p.t.Helper()
	b, err := protocol.AppendFrame(nil, f)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(b)
}

// reads fails the test unless the next bytes are these, in hex.
func (p *peer) reads(want string) {
	p.t.Helper()
	want = strings.ReplaceAll(want, " ", "")
	got := make([]byte, len(want)/2)
	n, err := io.ReadFull(p.c, got)
	if hex.EncodeToString(got[:n]) != want || err != nil {
		p.t.Fatalf("read % x, %v; want %s", got[:n], err, want)
	}
}

// ends fails the test unless the stream ends here.
func (p *peer) ends() {
	p.t.Helper()
	rest, err := io.ReadAll(p.c)
	if len(rest) > 0 || err != nil {
		p.t.Fatalf("read % x, %v; want the end of the stream", rest, err)
	}
}

func (p *peer) frame() protocol.Frame {
	p.t.Helper()
	f, err := p.frames.Next()
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

// next returns the next frame of type F, and skips others before it.
func next[F protocol.Frame](p *peer) F {
	p.t.Helper()
	for {
		if f, ok := p.frame().(F); ok {
			return f
		}
	}
}

func (p *peer) close() {
	p.t.Helper()
	if err := p.c.Close(); err != nil {
		p.t.Fatal(err)
	}
}

// as returns the error of type E in err's tree. It fails the test if there is none.
func as[E error](t *testing.T, err error) E {
	t.Helper()
	e, ok := errors.AsType[E](err)
	if !ok {
		t.Fatalf("error %v (%T), want a %T", err, err, e)
	}
	return e
}
