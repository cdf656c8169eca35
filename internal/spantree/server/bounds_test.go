// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

func TestAllowedNetworks(t *testing.T) {
	r := serveTCP(t, ServerConfig{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/31"), netip.MustParsePrefix("::1/128")}})
	if _, err := client.Status(t.Context(), nil, r.addr, nil); err == nil {
		t.Log("127.0.0.1 is in 127.0.0.0/31")
	} else {
		t.Error(err)
	}
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	c, err := d.Dial("tcp", r.addr)
	if err != nil {
		t.Skip("this system has only one loopback address: ", err)
	}
	newPeer(t, c).ends()
	r.logged("its address is in no allowed network")
	for host, want := range map[string]bool{"127.0.0.1": true, "::ffff:127.0.0.1": true, "::1": true, "::1%lo": true, "127.0.0.2": false, "x": false, "": false} {
		if got := address.In(host, r.s.cfg.Allow); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}

// When memory for connections runs out, the oldest unregistered connection is closed.
func TestOldestUnregisteredConnectionIsClosed(t *testing.T) {
	r := serveTCP(t, ServerConfig{HandshakeTimeout: patience})
	r.limit(3 * connBytes)
	first, second, third := r.dial(), r.dial(), r.dial()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		r.s.mu.Lock()
		n := len(r.s.conns)
		r.s.mu.Unlock()
		if n == 3 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d connections were taken, want 3", n)
		}
	}
	m := r.member(r.config(protocol.Job{UniqueID: 1}, 0, 2)) // its connection replaces the first one
	first.ends()
	third.write(protocol.AppendHello(nil))
	if _, ok := third.frame().(*protocol.WelcomeFrame); !ok {
		t.Error("no WELCOME")
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	second.close()
	third.close()
	r.countedIs("no client is connected", none)
}

// The connections of members are never closed in favour of new ones.
func TestMembersStayWhenMemoryIsFull(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	m := r.member(r.config(protocol.Job{UniqueID: 1}, 0, 2))
	r.limit(connBytes)
	r.dial().ends()
	r.logged("the server's memory for clients is full")
	select {
	case <-m.Over():
		t.Error(m.Cause())
	default:
	}
}

func TestIdleTimeoutBoundsWhatRanksAskFor(t *testing.T) {
	r := serveTCP(t, ServerConfig{IdleTimeout: 3 * time.Second})
	p := r.join(&protocol.JoinFrame{UniqueID: 1, Total: 2, LostAfter: time.Hour, Heartbeat: time.Second})
	if f := next[*protocol.JoinedFrame](p); f.LostAfter != 3*time.Second {
		t.Errorf("lost after %v, want 3s", f.LostAfter)
	}
}

// A job is cancelled only by a client that has its token.
func TestOwnersCancel(t *testing.T) {
	owner, other := secretCreds(t, goodSecret).Secret, secretCreds(t, otherSecret).Secret
	r := serveTCP(t, ServerConfig{})
	cfg := r.config(protocol.Job{UniqueID: 1}, 0, 2)
	cfg.Owner = owner
	m := r.member(cfg)
	cfg.Rank = 1
	for name, o := range map[string]*auth.Secret{"none": nil, "another": other} {
		refusedWith(t, client.Cancel(t.Context(), nil, r.addr, nil, client.Cancellation{Job: cfg.Job, Owner: o}), "has an owner")
		cfg.Owner = o
		_, err := client.Join(t.Context(), cfg)
		if no, ok := errors.AsType[*protocol.RefusedError](err); !ok || no.Code != protocol.OptionsDiffer {
			t.Errorf("a rank with the token %q: %v", name, err)
		}
	}
	if m.Cause() != nil {
		t.Fatal(m.Cause())
	}
	if err := client.Cancel(t.Context(), nil, r.addr, nil, client.Cancellation{Job: cfg.Job, Owner: owner, Reason: "enough"}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-m.Over():
	case <-time.After(patience):
		t.Fatal("the job has not ended")
	}
}

// Cancel of the process itself returns why a job was not cancelled.
func TestCancelReturnsTheRefusal(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	owned := r.config(protocol.Job{UniqueID: 1, RunKey: "run"}, 0, 2)
	owned.Owner = secretCreds(t, goodSecret).Secret
	m, free := r.member(owned), r.member(r.config(protocol.Job{UniqueID: 2, RunKey: "run"}, 0, 2))
	for _, c := range []struct {
		job  protocol.Job
		want string
	}{
		{protocol.Job{UniqueID: 3}, "spantree: job 3 was not cancelled: there is no job 3 that fills or runs"},
		{protocol.Job{UniqueID: 1}, "spantree: job 1 was not cancelled: job 1/run has an owner: cancel it with the job token of its ranks"},
		{owned.Job, "spantree: job 1/run was not cancelled: job 1/run has an owner: cancel it with the job token of its ranks"},
	} {
		if err := r.s.Cancel(c.job, "enough"); err == nil || err.Error() != c.want {
			t.Errorf("job %v: %v, want %q", c.job, err, c.want)
		}
	}
	if err := r.s.Cancel(protocol.Job{UniqueID: 2}, "enough"); err != nil {
		t.Error(err)
	}
	select {
	case <-free.Over():
	case <-time.After(patience):
		t.Fatal("the job has not ended")
	}
	if err := m.Cause(); err != nil {
		t.Errorf("the job with an owner has ended: %v", err)
	}
}

// FuzzConnection sends arbitrary bytes to a server, with and without a secret. The server does not
// panic. After the client has closed the connection, the server neither waits nor keeps any state
// of it.
func FuzzConnection(f *testing.F) {
	open, err := NewServer(ServerConfig{})
	if err != nil {
		f.Fatal(err)
	}
	guarded, err := NewServer(ServerConfig{Credentials: secretCreds(f, goodSecret)})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = errors.Join(open.Close(), guarded.Close()) })
	said := protocol.AppendHello(nil)
	for _, s := range []protocol.Frame{
		&protocol.JoinFrame{UniqueID: 1, Total: 2}, &protocol.JoinFrame{UniqueID: 2, RunKey: "k", Total: 1, OnLoss: protocol.Wait}, &protocol.HeartbeatFrame{WaitsFor: -1},
		&protocol.StatusFrame{}, &protocol.CancelFrame{UniqueID: 1}, &protocol.ProofFrame{}, &protocol.LeaveFrame{Reason: "done"}, &protocol.FailFrame{Reason: "no data"},
	} {
		b, err := protocol.AppendFrame(nil, s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append(protocol.AppendHello(nil), b...))
		said = append(said, b...)
	}
	f.Add(said)
	f.Add(make([]byte, protocol.HelloSize))
	f.Add([]byte{7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3})
	f.Add([]byte{22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, s := range []*Server{open, guarded} {
			near, far := net.Pipe()
			c := s.take(far, nil)
			if c == nil {
				t.Fatal("the server rejects the connection: memory of an earlier one is still counted")
			}
			go func() { _, _ = io.Copy(io.Discard, near) }() // ends with the pipe
			go func() {
				_, _ = near.Write(b)
				near.Close()
			}()
			c.serve()
			s.mu.Lock()
			left := len(s.conns) + len(s.pending) + len(s.core.Conns) + int(s.budget.used)
			s.mu.Unlock()
			if left != 0 {
				t.Fatalf("%d connections, attempts and counted bytes are left of a client that has disconnected", left)
			}
		}
	})
}

// When hostile clients have disconnected, the server has released their goroutines, their memory
// and all state about them.
func TestHostileClientsLeaveNothingBehind(t *testing.T) {
	r := serveTCP(t, ServerConfig{Credentials: secretCreds(t, goodSecret), HandshakeTimeout: time.Hour}) // no connection ends by itself
	measure := func() (goroutines int, heap uint64) {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapInuse
	}
	goroutines, heap := measure()
	for i := range 300 {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		// Idle, half a hello, a hello, and one with half a frame.
		said := append(protocol.AppendHello(nil), 44, 0, 0)
		if _, err := c.Write(said[:[]int{0, 11, 24, 27}[i%4]]); err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			c.Close()
		}
	}
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		r.s.mu.Lock()
		here := len(r.s.conns)
		r.s.mu.Unlock()
		if here == 200 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d connections are open, want 200", here)
		}
	}
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		r.s.mu.Lock()
		for _, c := range r.s.conns { // also those that the server has accepted only now
			c.abort()
		}
		r.s.mu.Unlock()
		g, h := measure()
		r.s.mu.Lock()
		left := len(r.s.conns) + len(r.s.pending) + int(r.s.budget.used)
		r.s.mu.Unlock()
		if left == 0 && g <= goroutines+2 && h < heap+4<<20 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d KiB of heap, %d connections and counted bytes; before: %d and %d KiB", g, h>>10, left, goroutines, heap>>10)
		}
	}
}

// The number of log lines per second is limited, however many clients are refused.
func TestWarningsAreLimited(t *testing.T) {
	var l limiter
	now, let, counted := time.Unix(0, 0), 0, 0
	for range 3 {
		for range 10 * maxWarnings {
			if ok, left := l.allow(now); ok {
				let, counted = let+1, counted+left
			}
		}
		now = now.Add(time.Second)
	}
	if let != 3*maxWarnings || counted != 2*9*maxWarnings {
		t.Errorf("%d of %d warnings were logged, %d counted; want %d and %d", let, 30*maxWarnings, counted, 3*maxWarnings, 18*maxWarnings)
	}
}

// If there are more unregistered connections than the process has descriptors for, the oldest are
// closed.
func TestUnregisteredConnectionsAreBoundedByDescriptors(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	r.s.mu.Lock()
	r.s.maxWaiting = 3
	r.s.mu.Unlock()
	var all []*peer
	for range 5 {
		all = append(all, r.dial())
	}
	for _, p := range all[:2] {
		if _, err := p.c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("one of the oldest connections: %v, want its end", err)
		}
	}
	all[4].write(protocol.AppendHello(nil))
	if _, ok := all[4].frame().(*protocol.WelcomeFrame); !ok {
		t.Error("the newest connection gets no WELCOME")
	}
}
