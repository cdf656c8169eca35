// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// site is an authority in a folder, which issues for any time.
type site struct {
	*authtest.Site
	t   *testing.T
	dir string
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{authtest.NewSite(t), t, t.TempDir()}
	s.write("ca", s.CA())
	return s
}

func (s *site) write(name string, b []byte) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// options returns the options for a certificate that is valid from the given time on, and for
// the site's authority.
func (s *site) options(name string, from time.Time, hosts ...string) []string {
	s.t.Helper()
	cert, key := s.Issue("whoever", from, hosts...)
	return []string{"--tls_cert", s.write(name+".crt", cert), "--tls_key", s.write(name+".key", key), "--tls_ca", filepath.Join(s.dir, "ca")}
}

// serve runs a server with a certificate that was valid at the given time.
func (s *site) serve(at time.Time) (port string) {
	s.t.Helper()
	tls := s.TLS("whoever", at, "127.0.0.1")
	server, err := server.NewServer(server.ServerConfig{Credentials: &auth.Credentials{TLS: tls}})
	if err != nil {
		s.t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(context.Background(), l) }()
	s.t.Cleanup(func() {
		server.Close()
		<-done
	})
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// For any fault of credentials, a program that presents or checks them ends with exit code 6
// and a last line with the reason, and does not retry.
func TestRefusedCredentials(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ours, theirs := newSite(t), newSite(t)
	rank, server := ours.options("rank", now), ours.options("server", now, "127.0.0.1")
	expired, early := ours.options("expired", now.Add(-2*time.Hour)), ours.options("early", now.Add(24*time.Hour))
	foreign := theirs.options("foreign", now)
	disowned := append(foreign[:4:4], "--tls_ca", filepath.Join(ours.dir, "ca"))
	swapped := []string{"--tls_cert", rank[1], "--tls_key", server[3], "--tls_ca", rank[5]}
	no := newKeyring(t)
	secret, another := no.secret(), newKeyring(t).secret()

	bare, behindSecret, hidden := startServer(t), startServer(t, secret...), startServer(t, append(secret, "--encrypt")...)
	behindTLS, outOfDate := startServer(t, server...), ours.serve(now.Add(-2*time.Hour))
	for name, c := range map[string]struct {
		port string
		show []string
		want string
	}{
		"a good certificate's key is another's": {behindTLS, swapped, "not the key of the certificate"},
		"an expired certificate":                {behindTLS, expired, "expired.crt: this certificate is out of date: it is valid from "},
		"a certificate of tomorrow":             {behindTLS, early, "early.crt: this certificate is out of date: it is valid from "},
		"a certificate of others, disowned":     {behindTLS, disowned, "foreign.crt: the authority that this program trusts has not signed this certificate"},
		"a foreign certificate":                 {behindTLS, foreign, `the other end's certificate ("whoever") is not signed by`},
		"no certificate":                        {behindTLS, nil, "requires TLS"},
		"a secret in place of a certificate":    {behindTLS, secret, "requires TLS"},
		"encrypted, in place of a certificate":  {behindTLS, append(secret, "--encrypt"), "certificate"},
		"a server whose certificate has ended":  {outOfDate, rank, `the other end's certificate ("whoever") is out of date: it is valid from `},
		"a certificate where there is none":     {bare, rank, "does not use TLS"},
		"a secret where there is none":          {bare, secret, "it requests no proof of the secret"},
		"another secret":                        {behindSecret, another, "the secret is not the server's"},
		"no secret":                             {behindSecret, nil, "it requests a proof of a secret"},
		"a certificate in place of the secret":  {behindSecret, rank, "does not use TLS"},
		"another secret, encrypted":             {hidden, append(another, "--encrypt"), "the secret is not the server's"},
		"the secret, not encrypted":             {hidden, secret, "requires TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := append([]string{"--span_server", "127.0.0.1", "--span_server_port", c.port}, c.show...)
			run(t, no.dir, gvwBin, append([]string{"jobs"}, at...)...).ends(t, "gvw jobs", 6, c.want)
			job := []string{"--unique_id", "1", "--total", "2", "--node", "1", "--quiet", "--start_timeout", "20s", "-d"}
			run(t, no.dir, gvwBin, append(append(at, job...), examples(t, t.TempDir(), 10))...).ends(t, "a rank", 6, c.want)
		})
	}
	// Only a server's name is checked, not that of ranks.
	at := append([]string{"jobs", "--span_server", "localhost", "--span_server_port", behindTLS}, rank...)
	run(t, no.dir, gvwBin, at...).ends(t, "a server of another name", 6, "the server's certificate is for 127.0.0.1, not for localhost")

	for name, c := range map[string]struct {
		options []string
		code    int
		want    string
	}{
		"an expired certificate": {expired, 6, "expired.crt: this certificate is out of date"},
		"another's key":          {swapped, 6, "not the key of the certificate"},
		"a foreign certificate":  {disowned, 6, "has not signed"},
		"half of a certificate":  {server[:4], 1, "--tls_ca"},
		"no secret in the file":  {[]string{"--secret_file", no.dir}, 6, "it is a directory"},
	} {
		run(t, no.dir, serverBin, append([]string{"--nondaemon", "--bind", "127.0.0.1", "--port", "0"}, c.options...)...).ends(t, "a server with "+name, c.code, c.want)
	}
}
