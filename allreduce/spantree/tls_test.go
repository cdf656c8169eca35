// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
)

// tlsSite are the credentials of a server on the loopback, and of a rank.
func tlsSite(t testing.TB) (server, rank *auth.Credentials) {
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
	issue := func(name string, hosts ...string) *auth.Credentials {
		cert, key, err := a.Issue(name, hosts, now, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		c, err := auth.NewTLS(cert, key, ca, now)
		if err != nil {
			t.Fatal(err)
		}
		return &auth.Credentials{TLS: c}
	}
	return issue("the server", "127.0.0.1"), issue("a rank")
}

func TestJobsOverTLS(t *testing.T) {
	server, rank := tlsSite(t)
	secret := secretCreds(t, goodSecret).Secret
	for name, s := range map[string]*auth.Secret{"TLS": nil, "TLS and a secret": secret} {
		t.Run(name, func(t *testing.T) {
			r := serveTCP(t, ServerConfig{Credentials: &auth.Credentials{TLS: server.TLS, Secret: s}})
			creds := &auth.Credentials{TLS: rank.TLS, Secret: s}
			r.pair(creds, 1)
			if _, err := Status(t.Context(), nil, r.addr, creds); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTLSStrangersAreRefused(t *testing.T) {
	server, rank := tlsSite(t)
	_, foreign := tlsSite(t)
	guarded, open := serveTCP(t, ServerConfig{Credentials: server}), serveTCP(t, ServerConfig{})
	both := serveTCP(t, ServerConfig{Credentials: &auth.Credentials{TLS: server.TLS, Secret: secretCreds(t, goodSecret).Secret}})
	for name, c := range map[string]struct {
		r     *rig
		creds *auth.Credentials
		words string
	}{
		"a foreign certificate":      {guarded, foreign, "foreign"},
		"no TLS":                     {guarded, nil, "speaks TLS alone"},
		"a secret in place of TLS":   {guarded, secretCreds(t, goodSecret), "speaks TLS alone"},
		"TLS where there is none":    {open, rank, "does not speak TLS"},
		"TLS without the secret":     {both, rank, "it asks for a secret"},
		"TLS with another secret":    {both, &auth.Credentials{TLS: rank.TLS, Secret: secretCreds(t, otherSecret).Secret}, "the secret is not the server's"},
		"the secret without TLS":     {both, secretCreds(t, goodSecret), "speaks TLS alone"},
		"a secret that nobody wants": {guarded, &auth.Credentials{TLS: rank.TLS, Secret: secretCreds(t, goodSecret).Secret}, "it asks for no secret"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Status(t.Context(), nil, c.r.addr, c.creds)
			refusedWith(t, err, c.words)
		})
	}
	// vw's protocol has no place here, either.
	p := guarded.vw(1, 2, 0)
	p.reads("00000000")
	p.ends()
}

// A relay that has no certificate changes or splices nothing unnoticed.
func TestTLSFlippedBytes(t *testing.T) {
	server, rank := tlsSite(t)
	r := serveTCP(t, ServerConfig{Credentials: server, HandshakeTimeout: time.Second})
	for _, up := range []bool{true, false} {
		for at := 8; at < 1500; at += 149 {
			mitm := between(t, r.addr, flip(up, at))
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			if s, err := Status(ctx, nil, mitm.addr(), rank); err == nil {
				t.Errorf("up %v, byte %d: the answer is %v", up, at, s)
			}
			if ctx.Err() != nil {
				t.Errorf("up %v, byte %d: nobody noticed in time", up, at)
			}
			cancel()
		}
	}
}

// Clients that begin a handshake and do not go on hold no place in it.
func TestIdleHandshakesHoldNobodyUp(t *testing.T) {
	server, rank := tlsSite(t)
	r := serveTCP(t, ServerConfig{Credentials: server, MaxHandshakes: 2})
	for range 20 {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		// A record of 512 bytes begins, and 24 bytes of it come.
		if _, err := c.Write(append([]byte{22, 3, 1, 2, 0}, make([]byte, 24)...)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := Status(ctx, nil, r.addr, rank); err != nil {
		t.Error(err)
	}
}
