// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// site is an authority with a server and a rank.
type site struct {
	ca           []byte
	server, rank *TLS
	authority    *Authority
}

func newSite(t testing.TB, hosts ...string) *site {
	t.Helper()
	a, err := NewAuthority("test authority", time.Now().Add(-24*time.Hour), 48*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{authority: a}
	if s.ca, _, err = a.PEM(); err != nil {
		t.Fatal(err)
	}
	s.server, s.rank = s.issue(t, "the server", time.Hour, hosts...), s.issue(t, "rank 3", time.Hour)
	return s
}

func (s *site) issue(t testing.TB, name string, holds time.Duration, hosts ...string) *TLS {
	t.Helper()
	now := time.Now()
	if holds < 0 {
		now = now.Add(holds - time.Hour)
		holds = time.Hour
	}
	cert, key, err := s.authority.Issue(name, hosts, now, holds)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewTLS(cert, key, s.ca, now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// meet lets two ends complete a handshake over loopback, and exchange a few bytes.
func meet(t *testing.T, server, client *TLS, name string) (serverErr, clientErr error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	bindings := make(chan []byte, 2)
	talk := func(c net.Conn, word string) error {
		bindings <- Binding(c)
		if _, err := c.Write([]byte(word)); err != nil {
			return Explain(err)
		}
		_, err := io.ReadFull(c, make([]byte, len(word)))
		return Explain(err)
	}
	done := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			done <- err
			return
		}
		defer c.Close()
		over, err := (&Credentials{TLS: server}).Server(ctx, c)
		if err == nil {
			err = talk(over, "pong pong")
		}
		_ = c.(*net.TCPConn).CloseWrite() // only half: the other end must still read the alert
		_, _ = io.Copy(io.Discard, c)
		done <- err
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	over, clientErr := (&Credentials{TLS: client}).Client(ctx, c, name)
	if clientErr == nil {
		clientErr = talk(over, "ping ping")
	}
	c.Close()
	serverErr = <-done
	if serverErr == nil && clientErr == nil && client != nil {
		if a, b := <-bindings, <-bindings; len(a) != 32 || !bytes.Equal(a, b) {
			t.Errorf("the ends have the bindings %x and %x", a, b)
		}
	}
	return serverErr, clientErr
}

func TestTLSCredentials(t *testing.T) {
	s, foreign := newSite(t, "localhost", "127.0.0.1"), newSite(t, "127.0.0.1")
	old := s.issue(t, "rank of old", -time.Hour)
	oldServer := s.issue(t, "server of old", -time.Hour, "127.0.0.1")
	for name, c := range map[string]struct {
		server, client         *TLS
		host                   string
		serverSays, clientSays string // in the error; "": any or none
	}{
		"valid, by address":        {s.server, s.rank, "127.0.0.1", "", ""},
		"valid, by name":           {s.server, s.rank, "localhost", "", ""},
		"two ranks":                {s.rank, s.rank, "", "", ""},
		"a server for other hosts": {s.server, s.rank, "gateway", "", "for localhost, 127.0.0.1, not for gateway"},
		"a rank as the server":     {s.rank, s.rank, "127.0.0.1", "", "for no host, not for 127.0.0.1"},
		"a foreign client":         {s.server, &TLS{cert: foreign.rank.cert, ca: s.server.ca}, "127.0.0.1", "not signed by", "rejects this one's certificate"},
		"a foreign server":         {foreign.server, s.rank, "127.0.0.1", "", "not signed by"},
		"a foreign rank":           {foreign.rank, s.rank, "", "", "not signed by"},
		"a client out of date":     {s.server, old, "127.0.0.1", `("rank of old") is out of date`, "out of date"},
		"a server out of date":     {oldServer, s.rank, "127.0.0.1", "rejects this one's certificate", `("server of old") is out of date`},
		"a server without TLS":     {nil, s.rank, "127.0.0.1", "", "does not use TLS"},
		"a client without TLS":     {s.server, nil, "", "does not use TLS", ""},
	} {
		t.Run(name, func(t *testing.T) {
			serverErr, clientErr := meet(t, c.server, c.client, c.host)
			if c.serverSays == "" && c.clientSays == "" && (serverErr != nil || clientErr != nil) {
				t.Fatalf("server: %v, client: %v", serverErr, clientErr)
			}
			for end, e := range map[string]struct {
				err  error
				want string
			}{"server": {serverErr, c.serverSays}, "client": {clientErr, c.clientSays}} {
				if e.want == "" {
					continue
				}
				if _, ok := errors.AsType[*Error](e.err); !ok || !strings.Contains(e.err.Error(), e.want) {
					t.Errorf("%s: %T %v, want an *Error with %q", end, e.err, e.err, e.want)
				}
			}
		})
	}
}

// A client without a certificate gets an error about the certificate.
func TestTLSAsksForACertificate(t *testing.T) {
	s := newSite(t, "127.0.0.1")
	bare := &TLS{ca: s.server.ca}
	serverErr, clientErr := meet(t, s.server, bare, "127.0.0.1")
	for _, err := range []error{serverErr, clientErr} {
		if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%v, want an *Error about the certificate", err)
		}
	}
}

func TestTLSFiles(t *testing.T) {
	a, err := NewAuthority("a", time.Now().Add(-24*time.Hour), 48*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ca, _, err := a.PEM()
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := a.Issue("x", nil, time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	_, otherKey, err := a.Issue("y", nil, time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	oldCert, oldKey, err := a.Issue("z", nil, time.Now().Add(-time.Hour), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewAuthority("b", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	otherCA, _, err := b.PEM()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cert, key, ca []byte
		mode          os.FileMode
		file, want    string
	}{
		"good":           {cert, key, ca, 0o600, "", ""},
		"open key":       {cert, key, ca, 0o644, "key", "chmod 600"},
		"no certificate": {[]byte("x"), key, ca, 0o600, "cert", "not a certificate"},
		"another key":    {cert, otherKey, ca, 0o600, "key", "not the key"},
		"no authority":   {cert, key, []byte("x"), 0o600, "ca", "no certificate of an authority"},
		"out of date":    {oldCert, oldKey, ca, 0o600, "cert", "out of date"},
		"foreign":        {cert, key, otherCA, 0o600, "cert", "has not signed"},
	} {
		dir := t.TempDir()
		for file, b := range map[string][]byte{"cert": c.cert, "key": c.key, "ca": c.ca} {
			if err := os.WriteFile(filepath.Join(dir, file), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(filepath.Join(dir, "key"), c.mode); err != nil {
			t.Fatal(err)
		}
		_, err := ReadTLS(filepath.Join(dir, "cert"), filepath.Join(dir, "key"), filepath.Join(dir, "ca"))
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if e, ok := errors.AsType[*Error](err); !ok || e.File != filepath.Join(dir, c.file) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an *Error of %s with %q", name, err, c.file, c.want)
		}
	}
}

func TestSpoken(t *testing.T) {
	for _, c := range []struct {
		first []byte
		want  bool
	}{
		{[]byte{22, 3, 1, 2, 0}, true},
		{[]byte("\x89gvw\r\n"), false},
		{[]byte{22, 3}, false},
		{[]byte{22, 3, 5}, false},
		{nil, false},
	} {
		if got := IsTLS(c.first); got != c.want {
			t.Errorf("% x: %v", c.first, got)
		}
	}
}
