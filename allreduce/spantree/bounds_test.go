// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
)

func TestAllowedNetworks(t *testing.T) {
	r := serveTCP(t, ServerConfig{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/31"), netip.MustParsePrefix("::1/128")}})
	if _, err := Status(t.Context(), nil, r.addr, nil); err == nil {
		t.Log("127.0.0.1 is in 127.0.0.0/31")
	} else {
		t.Error(err)
	}
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	c, err := d.Dial("tcp", r.addr)
	if err != nil {
		t.Skip("this system has one loopback address alone: ", err)
	}
	newPeer(t, c).ends()
	r.logged("its address is not in a network of --allow")
	for host, want := range map[string]bool{"127.0.0.1": true, "::ffff:127.0.0.1": true, "::1": true, "::1%lo": true, "127.0.0.2": false, "x": false, "": false} {
		if got := AddressIn(host, r.s.cfg.Allow); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}

// When memory for connections runs out, those go that have been silent for longest.
func TestTheOldestStrangerGoes(t *testing.T) {
	r := serveTCP(t, ServerConfig{HandshakeTimeout: patience})
	r.s.mu.Lock()
	r.s.budget.limit = 3 * connBytes
	r.s.mu.Unlock()
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
	m := r.member(r.config(Job{UniqueID: 1}, 0, 2)) // takes the place of the first
	first.ends()
	third.write(appendHello(nil))
	if _, ok := third.frame().(*welcomeFrame); !ok {
		t.Error("no WELCOME")
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	second.close()
	third.close()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		r.s.mu.Lock()
		used := r.s.budget.used
		r.s.mu.Unlock()
		if used == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d bytes are counted, and nobody is there", used)
		}
	}
}

// Members are not closed for newcomers.
func TestMembersStayWhenMemoryIsFull(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	m := r.member(r.config(Job{UniqueID: 1}, 0, 2))
	r.s.mu.Lock()
	r.s.budget.limit = connBytes
	r.s.mu.Unlock()
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
	p := r.join(&joinFrame{UniqueID: 1, Total: 2, LostAfter: time.Hour, Heartbeat: time.Second})
	if f := next[*joinedFrame](p); f.LostAfter != 3*time.Second {
		t.Errorf("lost after %v, want 3s", f.LostAfter)
	}
}

// Only who has the job's token cancels it.
func TestOwnersCancel(t *testing.T) {
	owner, other := secretCreds(t, goodSecret).Secret, secretCreds(t, otherSecret).Secret
	r := serveTCP(t, ServerConfig{})
	cfg := r.config(Job{UniqueID: 1}, 0, 2)
	cfg.Owner = owner
	m := r.member(cfg)
	cfg.Rank = 1
	for name, o := range map[string]*auth.Secret{"none": nil, "another": other} {
		refusedWith(t, Cancel(t.Context(), nil, r.addr, nil, Cancellation{Job: cfg.Job, Owner: o}), "has an owner")
		cfg.Owner = o
		_, err := Join(t.Context(), cfg)
		if no, ok := errors.AsType[*RefusedError](err); !ok || no.Code != OptionsDiffer {
			t.Errorf("a rank with the token %q: %v", name, err)
		}
	}
	if m.Cause() != nil {
		t.Fatal(m.Cause())
	}
	if err := Cancel(t.Context(), nil, r.addr, nil, Cancellation{Job: cfg.Job, Owner: owner, Reason: "enough"}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-m.Over():
	case <-time.After(patience):
		t.Fatal("the job goes on")
	}
}
