// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// TLS is the certificate of this program, and the authority of all certificates.
type TLS struct {
	cert tls.Certificate
	ca   *x509.CertPool   // nil: certificates are not checked, see Ephemeral
	now  func() time.Time // nil: time.Now
}

// Ephemeral returns TLS without an authority, with a certificate for the life of this
// process that no one checks. By itself it authenticates no one. Together with a Secret
// it does, because the proofs are bound to the connection.
func Ephemeral() (*TLS, error) {
	a, err := NewAuthority("gvw", time.Now(), 20*365*24*time.Hour)
	if err != nil {
		return nil, err
	}
	return &TLS{cert: tls.Certificate{Certificate: [][]byte{a.der}, PrivateKey: a.key}}, nil
}

// maxPEM is the limit of the size in bytes of certificate and key files.
const maxPEM = 1 << 20

// ReadTLS reads a certificate, its key and the authority's certificate from PEM files. Only
// the owner may be able to read the key.
func ReadTLS(certFile, keyFile, caFile string) (*TLS, error) {
	cert, err := readPublic(certFile)
	if err != nil {
		return nil, err
	}
	ca, err := readPublic(caFile)
	if err != nil {
		return nil, err
	}
	key, err := readPrivate(keyFile, "key", maxPEM)
	if err != nil {
		return nil, err
	}
	t, err := NewTLS(cert, key, ca, time.Now())
	if e, ok := errors.AsType[*Error](err); ok {
		e.File = map[string]string{"cert": certFile, "key": keyFile, "ca": caFile}[e.File]
	}
	return t, err
}

func readPublic(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the certificate: %w", err)
	}
	if len(b) > maxPEM {
		return nil, &Error{File: path, Why: fmt.Sprintf("the file has more than %d bytes: check that it is a certificate", maxPEM)}
	}
	return b, nil
}

// ReadHTTPS reads a certificate and its key for a server of HTTPS. Its clients need a certificate of the
// authority in caFile; with an empty caFile they need none. Only the owner may be able to read the key.
func ReadHTTPS(certFile, keyFile, caFile string) (*tls.Config, error) {
	cert, err := readPublic(certFile)
	if err != nil {
		return nil, err
	}
	key, err := readPrivate(keyFile, "key", maxPEM)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, &Error{File: certFile, Why: "it is no certificate of " + keyFile + ": " + err.Error(), Err: err}
	}
	c := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}}
	if caFile == "" {
		return c, nil
	}
	ca, err := readPublic(caFile)
	if err != nil {
		return nil, err
	}
	c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !c.ClientCAs.AppendCertsFromPEM(ca) {
		return nil, &Error{File: caFile, Why: "it has no certificate of an authority in PEM format"}
	}
	return c, nil
}

// NewTLS is ReadTLS for PEM in memory. It checks that the certificate is valid at now.
func NewTLS(cert, key, ca []byte, now time.Time) (*TLS, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		if b, _ := pem.Decode(cert); b == nil {
			return nil, &Error{File: "cert", Why: "it is not a certificate in PEM format", Err: err}
		}
		return nil, &Error{File: "key", Why: "it is not the key of the certificate: " + err.Error(), Err: err}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, &Error{File: "ca", Why: "it has no certificate of an authority in PEM format"}
	}
	leaf := pair.Leaf
	if now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return nil, &Error{File: "cert", Why: fmt.Sprintf("this certificate is out of date: it is valid from %s to %s", day(leaf.NotBefore), day(leaf.NotAfter))}
	}
	opts := x509.VerifyOptions{Roots: pool, Intermediates: intermediates(pair.Certificate), CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
	if _, err := leaf.Verify(opts); err != nil {
		return nil, &Error{File: "cert", Why: "the authority that this program trusts has not signed this certificate: " + err.Error(), Err: err}
	}
	return &TLS{cert: pair, ca: pool}, nil
}

// intermediates returns the certificates after the first.
func intermediates(chain [][]byte) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, der := range chain[1:] {
		if c, err := x509.ParseCertificate(der); err == nil { // a damaged one is ignored
			pool.AddCert(c)
		}
	}
	return pool
}

func (t *TLS) config() *tls.Config {
	clientAuth := tls.RequireAndVerifyClientCert
	if t.ca == nil {
		clientAuth = tls.NoClientCert
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{t.cert},
		RootCAs:      t.ca,
		ClientCAs:    t.ca,
		ClientAuth:   clientAuth,
		Time:         t.now,
		// Each conversation starts without state of an earlier one.
		SessionTicketsDisabled: true,
		// Vectors are long; dynamic record sizes serve interactive use.
		DynamicRecordSizingDisabled: true,
	}
}

// Client completes the handshake with the server of that name, a host name or address. For
// "" it is with another rank, and only the authority's signature is checked. The
// handshake ends with ctx. Client takes over c, also when it fails.
func (t *TLS) Client(ctx context.Context, c net.Conn, name string) (net.Conn, error) {
	cfg := t.config()
	switch cfg.ServerName = name; {
	case t.ca == nil:
		cfg.InsecureSkipVerify = true // the secret authenticates the server
	case name == "":
		cfg.InsecureSkipVerify = true // skips only the name: verifyRank checks the rest
		cfg.VerifyConnection = t.verifyRank
	}
	return handshake(ctx, c, tls.Client(c, cfg))
}

// verifyRank checks the certificate of a rank, which has no name.
func (t *TLS) verifyRank(s tls.ConnectionState) error {
	if len(s.PeerCertificates) == 0 {
		return &Error{Why: "the other end has no certificate"}
	}
	opts := x509.VerifyOptions{Roots: t.ca, Intermediates: x509.NewCertPool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if t.now != nil {
		opts.CurrentTime = t.now()
	}
	for _, c := range s.PeerCertificates[1:] {
		opts.Intermediates.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(opts)
	return err
}

// Server completes the handshake with a client, which must have a certificate.
func (t *TLS) Server(ctx context.Context, c net.Conn) (net.Conn, error) {
	return handshake(ctx, c, tls.Server(c, t.config()))
}

// handshake completes a handshake, and explains its errors.
func handshake(ctx context.Context, c net.Conn, over *tls.Conn) (net.Conn, error) {
	if err := over.HandshakeContext(ctx); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, Explain(err)
	}
	return over, nil
}

// IsTLS reports whether the first bytes of a connection are those of a TLS handshake.
func IsTLS(first []byte) bool {
	return len(first) >= 3 && first[0] == 22 && first[1] == 3 && first[2] <= 4
}

// Binding returns bytes that are unique to the TLS connection c; nil if c does not use TLS.
// Both sides include them in their Exchange.
func Binding(c net.Conn) []byte {
	over, ok := c.(*tls.Conn)
	if !ok {
		return nil
	}
	state := over.ConnectionState()
	b, err := state.ExportKeyingMaterial("EXPORTER-gvw", nil, 32)
	if err != nil {
		panic(fmt.Sprintf("BUG: auth: TLS 1.3 after its handshake has no exporter: %v", err))
	}
	return b
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
