// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/core"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// limit sets the memory that clients may occupy, in bytes.
func (r *harness) limit(n int64) {
	b := &r.s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit = n
}

// counted returns the memory that clients occupy, in bytes.
func (r *harness) counted() int64 {
	b := &r.s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used + b.kept
}

// countedIs waits until that memory satisfies want.
func (r *harness) countedIs(what string, want func(n int64) bool) {
	r.t.Helper()
	for end := time.Now().Add(patience); !want(r.counted()); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("%s: %d bytes are counted", what, r.counted())
		}
	}
}

func none(n int64) bool { return n == 0 }

// The memory of jobs counts. When it is full, ranks that join are refused with ServerFull, and the
// existing members remain. After these have left, ranks can join again.
func TestJobsFillTheMemory(t *testing.T) {
	const limit = 1 << 20
	r := serveTCP(t, ServerConfig{})
	r.limit(limit)
	options := strings.Repeat("x", protocol.MaxOptions)
	var in []*peer
	for refused := 0; refused < 20; {
		p := r.join(&protocol.JoinFrame{UniqueID: uint64(len(in)), Rank: 0, Total: 2, Heartbeat: time.Hour, LostAfter: 10 * time.Hour, Options: options})
		f := p.frame()
		if no, ok := f.(*protocol.RefusedFrame); ok {
			if no.Code != protocol.ServerFull || no.Reason != protocol.ErrMemory.Error() {
				t.Errorf("refused by %v: %s", no.Code, no.Reason)
			}
			p.close()
			refused++
			continue
		}
		if _, ok := f.(*protocol.JoinedFrame); !ok || refused > 0 {
			t.Fatalf("%T after %d were refused", f, refused)
		}
		in = append(in, p)
		if n := r.counted(); n > limit {
			t.Fatalf("%d bytes are counted for %d jobs, the limit is %d", n, len(in), limit)
		}
	}
	most := int64(limit-limit/newcomersShare) / (connBytes + protocol.MaxOptions + protocol.MemberBytes + core.JobBytes)
	if n := int64(len(in)); n < most-2 || n > most {
		t.Errorf("%d jobs have room, want %d", n, most)
	}
	time.Sleep(3 * core.TickInterval) // each tick counts the memory of jobs again
	if n := r.counted(); n < int64(len(in))*(connBytes+protocol.MaxOptions) {
		t.Errorf("%d bytes are counted for %d jobs", n, len(in))
	}
	for i, p := range in {
		if i > 0 {
			p.close()
		}
	}
	r.countedIs("one job is left", func(n int64) bool { return n < 2*(connBytes+protocol.MaxOptions+protocol.MemberBytes+core.JobBytes) })
	r.join(&protocol.JoinFrame{UniqueID: 1 << 20, Rank: 0, Total: 2, Heartbeat: time.Hour, LostAfter: 10 * time.Hour, Options: options}).frame()
	in[0].send(&protocol.LeaveFrame{})
}

// A long frame counts while it is received.
func TestLongFramesCount(t *testing.T) {
	r := serveTCP(t, ServerConfig{HandshakeTimeout: patience})
	p, q := r.native(), r.native()
	join := &protocol.JoinFrame{UniqueID: 1, Rank: 0, Total: 2, Heartbeat: time.Hour, Options: strings.Repeat("x", 10_000)}
	join.OptionsSHA256 = sum(join.Options)
	b, err := protocol.AppendFrame(nil, join)
	if err != nil {
		t.Fatal(err)
	}
	p.write(b[:100])
	r.countedIs("a frame has begun", func(n int64) bool { return n == 2*connBytes+int64(len(b)-protocol.FrameHeader) })
	r.limit(r.counted())
	q.write(b[:100])
	if no := next[*protocol.RefusedFrame](q); no.Code != protocol.ServerFull {
		t.Errorf("refused by %v: %s", no.Code, no.Reason)
	}
	p.close()
	q.close()
	r.countedIs("both clients are disconnected", none)
}

// Data queued for a client that does not read counts, and once only if it is for many clients. A
// client whose queue would exceed the memory is disconnected, and its queue no longer counts.
func TestQueuesCount(t *testing.T) {
	r := serveTCP(t, ServerConfig{WriteTimeout: patience})
	stuck := func() *serverConn {
		near, far := net.Pipe()
		t.Cleanup(func() { far.Close() })
		return newServerConn(r.s, 0, near, core.Endpoint{}, nil)
	}
	one, two := stuck(), stuck()
	start := &message{b: make([]byte, 5000)}
	one.post(start)
	two.post(start)
	if n := r.counted(); n != start.size() {
		t.Errorf("%d bytes are counted for a message to two clients", n)
	}
	r.limit(100_000)
	posted := 0
	for ; posted < maxQueued; posted++ {
		one.mu.Lock()
		ended := one.ended
		one.mu.Unlock()
		if ended {
			break
		}
		one.queue(make([]byte, 4000))
	}
	if posted < 23 || posted > 25 {
		t.Errorf("%d messages of 4000 bytes were queued", posted)
	}
	two.queue([]byte("short"))
	two.mu.Lock()
	if two.ended {
		t.Error("a client is disconnected for a short message while memory is full")
	}
	two.mu.Unlock()
	for _, c := range []*serverConn{one, two} {
		c.mu.Lock()
		c.over, c.ended = true, true
		c.mu.Unlock()
		c.abort()
		c.writer.Wait()
		r.s.mu.Lock()
		r.s.budget.release(c.out...)
		r.s.mu.Unlock()
	}
	r.countedIs("they are gone", none)
}

// The state of TLS counts in addition to the connection.
func TestTLSCounts(t *testing.T) {
	server, rank := tlsSite(t)
	r := serveTCP(t, ServerConfig{Credentials: server})
	cfg := r.config(protocol.Job{UniqueID: 1}, 0, 2)
	cfg.Credentials = rank
	m := r.member(cfg)
	if n := r.counted(); n < connBytes+tlsBytes {
		t.Errorf("%d bytes are counted", n)
	}
	r.limit(r.counted() + connBytes)
	if _, err := client.Status(t.Context(), nil, r.addr, rank); err == nil {
		t.Error("a TLS handshake is accepted while memory is full")
	}
	r.limit(512 << 20)
	if _, err := client.Status(t.Context(), nil, r.addr, rank); err != nil {
		t.Error(err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	r.countedIs("they are gone", none)
}
