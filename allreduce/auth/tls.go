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

// TLS is a certificate of this program, and the authority that signs those of others.
type TLS struct {
	cert tls.Certificate
	ca   *x509.CertPool   // nil: nobody's certificate is checked, see Ephemeral
	now  func() time.Time // nil: the clock
}

// Ephemeral is TLS without an authority: a certificate for this process's life, which
// nobody checks. Alone it keeps nobody out; with a Secret in the same Credentials it
// does, for their proofs are bound to the connection.
func Ephemeral() (*TLS, error) {
	a, err := NewAuthority("gvw", time.Now(), 20*365*24*time.Hour)
	if err != nil {
		return nil, err
	}
	return &TLS{cert: tls.Certificate{Certificate: [][]byte{a.der}, PrivateKey: a.key}}, nil
}

// maxPEM bounds the files of certificates and keys.
const maxPEM = 1 << 20

// ReadTLS reads a certificate, its key and the authority's certificate, as PEM. The key
// must be readable by its owner alone.
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
		return nil, &Error{File: path, Why: fmt.Sprintf("more than %d bytes: is it a certificate?", maxPEM)}
	}
	return b, nil
}

// NewTLS is ReadTLS of bytes. now is when the certificate must hold.
func NewTLS(cert, key, ca []byte, now time.Time) (*TLS, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		if b, _ := pem.Decode(cert); b == nil {
			return nil, &Error{File: "cert", Why: "it is no certificate in PEM", Err: err}
		}
		return nil, &Error{File: "key", Why: "it is not the key of the certificate: " + err.Error(), Err: err}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, &Error{File: "ca", Why: "there is no certificate of an authority in it, in PEM"}
	}
	leaf := pair.Leaf
	if now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return nil, &Error{File: "cert", Why: fmt.Sprintf("this certificate is out of date: it holds from %s to %s", day(leaf.NotBefore), day(leaf.NotAfter))}
	}
	opts := x509.VerifyOptions{Roots: pool, Intermediates: intermediates(pair.Certificate), CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
	if _, err := leaf.Verify(opts); err != nil {
		return nil, &Error{File: "cert", Why: "the authority of --tls_ca has not signed this certificate: " + err.Error(), Err: err}
	}
	return &TLS{cert: pair, ca: pool}, nil
}

// intermediates are the certificates behind the first.
func intermediates(chain [][]byte) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, der := range chain[1:] {
		if c, err := x509.ParseCertificate(der); err == nil { // one that is damaged does not help
			pool.AddCert(c)
		}
	}
	return pool
}

func (t *TLS) config() *tls.Config {
	asks := tls.RequireAndVerifyClientCert
	if t.ca == nil {
		asks = tls.NoClientCert
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{t.cert},
		RootCAs:      t.ca,
		ClientCAs:    t.ca,
		ClientAuth:   asks,
		Time:         t.now,
		// A conversation begins anew each time: nothing of an older one can be used.
		SessionTicketsDisabled: true,
		// Vectors are long; small first records would serve a browser.
		DynamicRecordSizingDisabled: true,
	}
}

// Client shakes hands with the server of that name: a host name or address. "" is
// another rank, of which the authority's signature is asked alone. It takes as long as
// ctx allows. It takes c over, also when it fails.
func (t *TLS) Client(ctx context.Context, c net.Conn, name string) (net.Conn, error) {
	cfg := t.config()
	switch cfg.ServerName = name; {
	case t.ca == nil:
		cfg.InsecureSkipVerify = true // the secret vouches for the server
	case name == "":
		cfg.InsecureSkipVerify = true // of the name; the rest is checked here
		cfg.VerifyConnection = t.verifyRank
	}
	return shake(ctx, c, tls.Client(c, cfg))
}

// verifyRank checks the certificate of a rank, which has no name.
func (t *TLS) verifyRank(s tls.ConnectionState) error {
	if len(s.PeerCertificates) == 0 {
		return &Error{Why: "the other end shows no certificate"}
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

// Server shakes hands with who has connected, and must show a certificate.
func (t *TLS) Server(ctx context.Context, c net.Conn) (net.Conn, error) {
	return shake(ctx, c, tls.Server(c, t.config()))
}

func shake(ctx context.Context, c net.Conn, over *tls.Conn) (net.Conn, error) {
	if err := over.HandshakeContext(ctx); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, Explain(err)
	}
	return over, nil
}

// Spoken reports whether these first bytes of a connection are those of TLS.
func Spoken(first []byte) bool {
	return len(first) >= 3 && first[0] == 22 && first[1] == 3 && first[2] <= 4
}

// Binding is what a conversation over c and no other one has in it: nil where c is not
// TLS. Both sides put it into their Exchange.
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
