// SPDX-License-Identifier: Apache-2.0

// Package authtest makes credentials for tests.
//
//	site := authtest.NewSite(t)
//	server := site.TLS("the server", time.Now(), "127.0.0.1")
//	rank := site.TLS("a rank", time.Now())
//	secret := authtest.Secret(t, "of the cluster")
package authtest

import (
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
)

// Secret returns a secret that is different for each text.
func Secret(t testing.TB, text string) *auth.Secret {
	t.Helper()
	s, err := auth.NewSecret([]byte(text + ": sixteen bytes and more"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Ephemeral returns TLS without an authority.
func Ephemeral(t testing.TB) *auth.TLS {
	t.Helper()
	e, err := auth.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Validity is the validity of certificates.
const Validity = time.Hour

// Site is an authority that issues certificates for two days before and after now.
type Site struct {
	t         testing.TB
	authority *auth.Authority
	ca        []byte
}

// NewSite makes an authority.
func NewSite(t testing.TB) *Site {
	t.Helper()
	a, err := auth.NewAuthority("test", time.Now().Add(-48*time.Hour), 96*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ca, _, err := a.PEM()
	if err != nil {
		t.Fatal(err)
	}
	return &Site{t, a, ca}
}

// CA returns the authority's certificate as PEM.
func (s *Site) CA() []byte { return s.ca }

// Issue returns a certificate that is valid from a time on, and its key, as PEM. With hosts
// it is for a server.
func (s *Site) Issue(name string, from time.Time, hosts ...string) (cert, key []byte) {
	s.t.Helper()
	cert, key, err := s.authority.Issue(name, hosts, from, Validity)
	if err != nil {
		s.t.Fatal(err)
	}
	return cert, key
}

// TLS returns such a certificate, ready for use.
func (s *Site) TLS(name string, from time.Time, hosts ...string) *auth.TLS {
	s.t.Helper()
	cert, key := s.Issue(name, from, hosts...)
	c, err := auth.NewTLS(cert, key, s.ca, from)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}
