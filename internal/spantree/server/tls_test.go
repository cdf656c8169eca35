// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// tlsSite returns the credentials of a server on the loopback, and of a rank.
func tlsSite(t testing.TB) (server, rank *auth.Credentials) {
	t.Helper()
	site, now := authtest.NewSite(t), time.Now()
	return &auth.Credentials{TLS: site.TLS("the server", now, "127.0.0.1")}, &auth.Credentials{TLS: site.TLS("a rank", now)}
}

func TestJobsOverTLS(t *testing.T) {
	server, rank := tlsSite(t)
	secret := secretCreds(t, goodSecret).Secret
	for name, c := range map[string][2]*auth.Credentials{
		"TLS":              {server, rank},
		"TLS and a secret": {{TLS: server.TLS, Secret: secret}, {TLS: rank.TLS, Secret: secret}},
		"encrypted":        {encrypted(t, secret), encrypted(t, secret)},
	} {
		t.Run(name, func(t *testing.T) {
			r := serveTCP(t, ServerConfig{Credentials: c[0]})
			creds := c[1]
			r.pair(creds, 1)
			if _, err := client.Status(t.Context(), nil, r.addr, creds); err != nil {
				t.Error(err)
			}
		})
	}
}

// encrypted returns credentials of a secret and TLS without certificates.
func encrypted(t testing.TB, s *auth.Secret) *auth.Credentials {
	t.Helper()
	return &auth.Credentials{TLS: authtest.Ephemeral(t), Secret: s}
}

// Without certificates the secret authenticates both sides. The proofs also detect a man in the
// middle: they cover the binding (the TLS exporter), which differs between two TLS handshakes.
func TestSecretAuthenticatesTLS(t *testing.T) {
	secret := secretCreds(t, goodSecret).Secret
	good := encrypted(t, secret)
	r := serveTCP(t, ServerConfig{Credentials: good})
	server, rank := tlsSite(t)
	certified := serveTCP(t, ServerConfig{Credentials: &auth.Credentials{TLS: server.TLS, Secret: secret}})
	for name, c := range map[string]struct {
		r     *harness
		creds *auth.Credentials
		words string
	}{
		"another secret":                       {r, encrypted(t, secretCreds(t, otherSecret).Secret), "the secret is not the server's"},
		"no TLS":                               {r, secretCreds(t, goodSecret), "requires TLS"},
		"certificates, and a server with none": {r, &auth.Credentials{TLS: rank.TLS, Secret: secret}, "this program refuses the server"},
		"no certificate, where one is wanted":  {certified, good, "certificate"},
	} {
		_, err := client.Status(t.Context(), nil, c.r.addr, c.creds)
		refusedWith(t, err, c.words)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	if err := (ServerConfig{Credentials: &auth.Credentials{TLS: good.TLS}}).Validate(); err == nil {
		t.Error("TLS without certificates and without a secret is accepted as credentials")
	}
	// A man in the middle: TLS with the client, TLS with the server, and every byte forwarded.
	mitm := listenLocal(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		near, err := mitm.Accept()
		if err != nil {
			return
		}
		defer near.Close()
		far, err := net.Dial("tcp", r.addr)
		if err != nil {
			return
		}
		defer far.Close()
		in, err := good.Server(t.Context(), near)
		if err != nil {
			return
		}
		out, err := good.Client(t.Context(), far, "")
		if err != nil {
			return
		}
		back := make(chan struct{})
		go func() {
			defer close(back)
			_, _ = io.Copy(in, out)
			near.Close()
		}()
		_, _ = io.Copy(out, in)
		far.Close()
		<-back
	}()
	_, err := client.Status(t.Context(), nil, mitm.Addr().String(), good)
	refusedWith(t, err, "the secret is not the server's")
	mitm.Close()
	<-done
}

func TestTLSClientsWithoutCredentialsAreRefused(t *testing.T) {
	server, rank := tlsSite(t)
	_, foreign := tlsSite(t)
	guarded, open := serveTCP(t, ServerConfig{Credentials: server}), serveTCP(t, ServerConfig{})
	both := serveTCP(t, ServerConfig{Credentials: &auth.Credentials{TLS: server.TLS, Secret: secretCreds(t, goodSecret).Secret}})
	for name, c := range map[string]struct {
		r     *harness
		creds *auth.Credentials
		words string
	}{
		"a foreign certificate":   {guarded, foreign, "is not signed by the authority"},
		"no TLS":                  {guarded, nil, "requires TLS"},
		"a secret instead of TLS": {guarded, secretCreds(t, goodSecret), "requires TLS"},
		"TLS where there is none": {open, rank, "does not use TLS"},
		"TLS without the secret":  {both, rank, "it requests a proof of a secret"},
		"TLS with another secret": {both, &auth.Credentials{TLS: rank.TLS, Secret: secretCreds(t, otherSecret).Secret}, "the secret is not the server's"},
		"the secret without TLS":  {both, secretCreds(t, goodSecret), "requires TLS"},
		"a secret not asked for":  {guarded, &auth.Credentials{TLS: rank.TLS, Secret: secretCreds(t, goodSecret).Secret}, "it requests no proof of the secret"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.Status(t.Context(), nil, c.r.addr, c.creds)
			refusedWith(t, err, c.words)
		})
	}
	// vw workers cannot authenticate, so they are refused, too.
	p := guarded.vw(1, 2, 0)
	p.reads("00000000")
	p.ends()
}

// A change by a relay that has no certificate is detected.
func TestTLSFlippedBytes(t *testing.T) {
	server, rank := tlsSite(t)
	r := serveTCP(t, ServerConfig{Credentials: server, HandshakeTimeout: time.Second})
	for _, up := range []bool{true, false} {
		for at := 8; at < 1500; at += 149 {
			mitm := between(t, r.addr, flip(up, at))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			if s, err := client.Status(ctx, nil, mitm.addr(), rank); err == nil {
				t.Errorf("up %v, byte %d: the answer is %v", up, at, s)
			}
			if ctx.Err() != nil {
				t.Errorf("up %v, byte %d: the change was not detected in time", up, at)
			}
			cancel()
		}
	}
}

// Clients that begin a TLS handshake and do not continue occupy no slot of MaxHandshakes.
func TestIdleHandshakesDelayNoClient(t *testing.T) {
	server, rank := tlsSite(t)
	r := serveTCP(t, ServerConfig{Credentials: server, MaxHandshakes: 2, HandshakeTimeout: time.Hour})
	for range 20 {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		// The header of a TLS record of 512 bytes, and 24 of its bytes.
		if _, err := c.Write(append([]byte{22, 3, 1, 2, 0}, make([]byte, 24)...)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := client.Status(ctx, nil, r.addr, rank); err != nil {
		t.Error(err)
	}
}
