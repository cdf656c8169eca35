// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/spantree"
)

// secretFor is a secret of its own for each text.
func secretFor(t testing.TB, text string) *auth.Secret {
	t.Helper()
	s, err := auth.NewSecret([]byte(text + ": sixteen bytes and more"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// certificate is one for every end on the loopback.
func certificate(t testing.TB) *auth.TLS {
	t.Helper()
	now := time.Now()
	a, err := auth.NewAuthority("test", now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ca, _, err := a.PEM()
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := a.Issue("all", []string{"127.0.0.1"}, now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	c, err := auth.NewTLS(cert, key, ca, now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Whatever the ranks show each other, the sums are the same, and what carries them is
// what the configuration says.
func TestJobsBehindCredentials(t *testing.T) {
	secret, tls := secretFor(t, "a"), certificate(t)
	for name, creds := range map[string]*auth.Credentials{
		"secret": {Secret: secret}, "TLS": {TLS: tls}, "both": {Secret: secret, TLS: tls},
	} {
		t.Run(name, func(t *testing.T) {
			j := newTCPJob(t, 5, Config{Credentials: creds})
			checkCollectives(t, j, 10_000)
			for _, g := range j.groups {
				_, poll := g.engine.driver.(*netConn)
				if want := creds.TLS != nil; want && !poll {
					t.Errorf("rank %d: bytes are moved by %T", g.cfg.Rank, g.engine.driver)
				}
				for _, e := range g.engine.open {
					if creds.TLS != nil && auth.Binding(e.conn) == nil {
						t.Errorf("rank %d: the edge to rank %d is a bare %T", g.cfg.Rank, e.rank, e.conn)
					}
				}
			}
		})
	}
}

// Who was given the epoch, and all else that is no secret, is still no rank.
func TestWhoLacksTheKeyIsNoRank(t *testing.T) {
	secret := secretFor(t, "a")
	j := newTCPJob(t, 2, Config{Credentials: &auth.Credentials{Secret: secret}})
	checkCollectives(t, j, 10)
	g := j.groups[1]
	w := g.member.Newest()
	for name, key := range map[string]auth.Key{
		"another job's token":            g.cfg.Credentials.Epoch(auth.Scope{UniqueID: 7, Term: w.Epoch.Term, N: w.Epoch.N, Incarnation: w.Epoch.Incarnation, Token: [16]byte{1}}),
		"the token without the secret":   Config{Job: g.cfg.Job}.key(w),
		"the token and another secret":   Config{Job: g.cfg.Job, Credentials: &auth.Credentials{Secret: secretFor(t, "b")}}.key(w),
		"the token of another run of it": Config{Job: spantree.Job{UniqueID: 7, RunKey: "x"}, Credentials: g.cfg.Credentials}.key(w),
	} {
		for _, pull := range []bool{false, true} {
			c, err := net.Dial("tcp", g.door.listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			// It does not mind that the other side's proof is wrong for it.
			_, err = key.Greet(c, newHello(w.Epoch, 0, 1, 2, pull), helloSize)
			if _, ok := errors.AsType[*auth.Error](err); !ok {
				t.Errorf("%s: %v, want a proof that is none", name, err)
			}
			if _, err := c.Write(make([]byte, auth.ProofSize)); err == nil {
				if b, err := io.ReadAll(c); len(b) > 0 {
					t.Errorf("%s: the rank says % x, %v", name, b, err)
				}
			}
			c.Close()
		}
	}
	checkCollectives(t, j, 10)
	if log := j.logs[1].String(); !strings.Contains(log, "is no rank of this epoch") {
		t.Errorf("the log does not say so:\n%s", log)
	}
}

// What a rank has said to another one is of no use to a third: a recorded greeting,
// replayed whole, is dropped.
func TestReplayedGreeting(t *testing.T) {
	j := newTCPJob(t, 2, Config{Credentials: &auth.Credentials{Secret: secretFor(t, "a")}})
	checkCollectives(t, j, 10)
	g := j.groups[1]
	w := g.member.Newest()
	key, own := g.cfg.key(w), newHello(w.Epoch, 0, 1, 2, false)
	// The greeting as rank 0 would make it, with the answer that was heard then.
	heard := newHello(w.Epoch, 1, 0, 2, false)
	proof := key.Exchange(own, heard, nil).Proof(auth.Client)
	c, err := net.Dial("tcp", g.door.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(append(own, proof[:]...)); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(c); err != nil && len(b) != helloSize+auth.ProofSize {
		t.Errorf("heard %d bytes, %v; want a hello, its proof and the end", len(b), err)
	}
	checkCollectives(t, j, 10)
}

// Strangers at the door do not keep a rank out, however many there are.
func TestManyStrangersHoldUpNobody(t *testing.T) {
	j := newTCPJob(t, 2, Config{})
	addr := j.groups[1].door.listener.Addr().String()
	for range 3 * maxStrangers {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	start := time.Now()
	checkCollectives(t, j, 10)
	if took := time.Since(start); took > helloPatience/2 {
		t.Errorf("the strangers held up the job for %v", took)
	}
}
