// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

func TestServerConfigReportsAllFaults(t *testing.T) {
	err := ServerConfig{MaxJobs: -1, MaxRanks: 40_000, MaxPending: -1, MaxFrame: 100, WriteTimeout: -1, Grace: -1, Version: "\xff"}.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, words := range []string{
		"MaxJobs is -1, want 1 to", "MaxRanks is 40000, want 1 to 32768", "MaxPending is -1", "MaxFrame is 100, want 32768 to",
		"WriteTimeout is -1ns, want a positive duration", "Grace is -1ns, want a positive duration", "Version \"\\xff\" is not UTF-8",
	} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%q does not contain %q", err, words)
		}
	}
	if _, err := NewServer(ServerConfig{MaxJobs: -1}); err == nil {
		t.Error("NewServer accepts an invalid configuration")
	}
	if err := (ServerConfig{}).Validate(); err != nil {
		t.Errorf("the zero configuration: %v", err)
	}
}

// The defaults are those that docs/protocol.md and the comments of ServerConfig promise.
func TestServerDefaults(t *testing.T) {
	got := ServerConfig{}.withDefaults()
	got.Log = nil
	want := ServerConfig{
		MaxJobs: 1000, MaxRanks: 16384, MaxPending: 1024, MaxFrame: 65536, MaxFinished: 10_000, FinishedAge: 24 * time.Hour,
		MaxHandshakes: 256, MaxMemory: 512 << 20, IdleTimeout: 24 * time.Hour,
		HandshakeTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, PortTimeout: time.Minute, LostAfter: 10 * time.Second, Grace: 10 * time.Second, ReplaceTimeout: 10 * time.Minute, JournalTimeout: 5 * time.Minute,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestBoundsOfJobsAndRanks(t *testing.T) {
	r := serveTCP(t, ServerConfig{MaxJobs: 2, MaxRanks: 4})
	r.vw(1, 4, 0).reads("01000000")
	r.vw(2, 4, 0).reads("01000000")
	r.vw(3, 4, 0).reads("00000000")
	r.vw(1, 5, 0).reads("00000000")
	r.vw(1, 4, 1).reads("01000000") // the job is there already
	_, err := client.Join(t.Context(), r.config(protocol.Job{UniqueID: 3}, 0, 4))
	if no := as[*protocol.RefusedError](t, err); no.Code != protocol.ServerFull || !strings.Contains(no.Reason, "the server has 2 jobs, its limit") {
		t.Errorf("refused: %v", no)
	}
}

func TestBoundOfSilentConnectionsFromOneAddress(t *testing.T) {
	r := serveTCP(t, ServerConfig{MaxPending: 3, HandshakeTimeout: patience})
	known := r.vw(1, 2, 0) // it has registered, so it does not count
	known.reads("01000000")
	silent := []*peer{r.dial(), r.dial(), r.dial()}
	r.waitPending(3)
	r.dial().ends()
	r.logged("too many connections from this address")
	silent[0].close()
	r.waitPending(2)
	r.vw(1, 2, 1).reads("01000000 0100")
}

// waitPending waits until this number of connections have not registered.
func (r *harness) waitPending(n int) {
	r.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		r.s.mu.Lock()
		got := r.s.pending["127.0.0.1"]
		r.s.mu.Unlock()
		if got == n {
			return
		}
		if time.Now().After(end) {
			r.t.Fatalf("%d connections are pending, want %d", got, n)
		}
	}
}

func TestBoundOfFrames(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	for name, b := range map[string][]byte{
		"garbage":             []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"huge":                {0xff, 0xff, 0xff, 0x7f, byte(protocol.TypeJoin), 1, 0, 0},
		"out of turn":         {4, 0, 0, 0, byte(protocol.TypeStatus) + 1, 1, 0, 0},
		"unknown":             {4, 0, 0, 0, 40, 1, 0, 0},
		"empty JOIN":          {4, 0, 0, 0, byte(protocol.TypeJoin), 1, 0, 0},
		"begins by HEARTBEAT": appended(t, &protocol.HeartbeatFrame{WaitsFor: -1}),
	} {
		p := r.native()
		p.write(b)
		if no := next[*protocol.RefusedFrame](p); no.Code != protocol.Malformed || no.Reason == "" {
			t.Errorf("%s: refused for %v: %s", name, no.Code, no.Reason)
		}
		p.ends()
	}
	r.works(1)
}

func appended(t *testing.T, f protocol.Frame) []byte {
	t.Helper()
	b, err := protocol.AppendFrame(nil, f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A member that sends invalid bytes ends its own job, with a reason, and no other.
func TestGarbageFromAMember(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	m := r.member(r.config(protocol.Job{UniqueID: 1}, 0, 2))
	p := r.join(&protocol.JoinFrame{UniqueID: 1, Rank: 1, Total: 2, Host: "h1"})
	p.send(&protocol.ReadyFrame{})
	if _, err := m.Ready(t.Context(), protocol.Shard{}); err != nil {
		t.Fatal(err)
	}
	p.write([]byte{0xff, 0xff, 0xff, 0xff, 3, 1, 0, 0})
	<-m.Over()
	if lost := as[*protocol.LostError](t, m.Cause()); lost.Rank != 1 || !strings.Contains(lost.Why, "malformed HEARTBEAT frame") {
		t.Errorf("cause: %v", lost)
	}
	if no := next[*protocol.RefusedFrame](p); no.Code != protocol.Malformed {
		t.Errorf("refused for %v", no.Code)
	}
	r.works(2)
}

// shallow is a listener whose connections have small send buffers.
type shallow struct{ net.Listener }

func (l shallow) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		err = c.(*net.TCPConn).SetWriteBuffer(4096)
	}
	return c, err
}

// A client that does not read loses its own connection, and delays no other client.
func TestSlowReaderHarmsNoOtherClient(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := serveOn(t, ServerConfig{WriteTimeout: 100 * time.Millisecond}, shallow{l})
	p := r.join(&protocol.JoinFrame{UniqueID: 1, Rank: 1, Total: 2, LostAfter: time.Hour})
	next[*protocol.JoinedFrame](p)
	if err := p.c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	// The server answers each heartbeat, and the client does not read the answers.
	flood := appended(t, &protocol.HeartbeatFrame{WaitsFor: -1})
	for range 12 {
		flood = append(flood, flood...)
	}
	go func() {
		for {
			if _, err := p.c.Write(flood); err != nil {
				return
			}
		}
	}()
	r.logged("rank left before the start")
	r.works(2)
}

// SIGTERM calls Drain: existing jobs may end, new ones are refused.
func TestDrain(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := serveOn(t, ServerConfig{}, l)
	waiting := r.vw(1, 2, 0)
	waiting.reads("01000000")
	r.s.Drain()
	r.s.Drain()
	r.vw(2, 2, 0).reads("00000000")
	_, err = client.Join(t.Context(), r.config(protocol.Job{UniqueID: 3}, 0, 4))
	if no := as[*protocol.RefusedError](t, err); no.Code != protocol.ServerDraining {
		t.Errorf("refused: %v", no)
	}
	other := r.vw(1, 2, 1)
	other.reads("01000000 0100")
	waiting.reads("0000")
	waiting.write([]byte{0, 1})
	other.write([]byte{0, 2})
	// All clients read their last frames; then Serve returns without Close.
	waiting.reads("7f000001 0002")
	other.reads("ffffffff ffffffff")
	waiting.close()
	other.close()
	select {
	case err := <-r.served:
		r.served <- nil
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("Serve has not returned although the drained server has no jobs")
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	before := runtime.NumGoroutine()
	s, err := NewServer(ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cancel()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	l2, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context(), l2); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve after Close: %v, want net.ErrClosed", err)
	}
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, there were %d before", runtime.NumGoroutine(), before)
		}
	}
}

// Serve returns the error of a listener that fails.
func TestServeReturnsTheListenersError(t *testing.T) {
	s, err := NewServer(ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := s.Serve(t.Context(), l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve: %v", err)
	}
}

func TestRestartedServerRemembers(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	r := serveTCP(t, ServerConfig{StateFile: state})
	job := protocol.Job{UniqueID: 7, RunKey: "application_1_1"}
	cfg := r.config(job, 0, 1)
	cfg.Options = "bits=18"
	m := r.member(cfg)
	w, err := m.Ready(t.Context(), protocol.Shard{})
	if err != nil {
		t.Fatal(err)
	}
	if w.Epoch.Term != 1 || w.Epoch.N != 1 {
		t.Errorf("epoch %v, want 1.1", w.Epoch)
	}
	if _, err := NewServer(ServerConfig{StateFile: state}); !errors.Is(err, ErrJournalLocked) {
		t.Errorf("a second server on the journal: %v, want ErrJournalLocked", err)
	}
	finish(t, m, "model")
	r.close()

	r = serveTCP(t, ServerConfig{StateFile: state})
	cfg.Server = r.addr
	_, err = client.Join(t.Context(), cfg)
	no := as[*protocol.RefusedError](t, err)
	if no.Code != protocol.JobFinished || no.Model != sum("model") {
		t.Errorf("a late attempt: %v", no)
	}
	cfg.Options = "bits=20"
	_, err = client.Join(t.Context(), cfg)
	if no := as[*protocol.RefusedError](t, err); no.Code != protocol.OptionsDiffer {
		t.Errorf("the same run with other options: %v", no)
	}
	if s := r.s.Status(); s.Term != 2 || s.Finished != 1 {
		t.Errorf("status: %+v", s)
	}
}

// finish completes the job for one member: Complete, Delivered for each file, Finish.
func finish(t *testing.T, m *client.Member, owes ...string) {
	t.Helper()
	files, err := m.Complete(t.Context(), sum("model"), owes)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(owes, files); d != "" {
		t.Errorf("to deliver, -owed +asked for:\n%s", d)
	}
	for _, f := range files {
		if err := m.Delivered(t.Context(), f, sum(f)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
}
