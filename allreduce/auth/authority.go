// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Authority signs certificates for tests and small clusters. Who has a real one uses
// that.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	der  []byte
}

// early is how long before now a certificate begins to hold: clocks differ.
const early = 5 * time.Minute

// NewAuthority makes an authority that holds from now for a while.
func NewAuthority(name string, now time.Time, holds time.Duration) (*Authority, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	a := new(Authority)
	der, key, err := a.sign(template, now, holds)
	if err != nil {
		return nil, err
	}
	a.der, a.key = der, key
	a.cert, err = x509.ParseCertificate(der)
	return a, err
}

// PEM is the authority's certificate and its key.
func (a *Authority) PEM() (cert, key []byte, err error) { return encode(a.der, a.key) }

// Issue makes a certificate and its key. With hosts, names or addresses, it is one of a
// server there; without, one of a rank.
func (a *Authority) Issue(name string, hosts []string, now time.Time, holds time.Duration) (cert, key []byte, err error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	der, private, err := a.sign(template, now, holds)
	if err != nil {
		return nil, nil, err
	}
	return encode(der, private)
}

// sign signs a template with a key of its own; an authority that has no key yet is
// signed by itself.
func (a *Authority) sign(template *x509.Certificate, now time.Time, holds time.Duration) ([]byte, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("auth: cannot make a key: %w", err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, nil, fmt.Errorf("auth: cannot draw a serial number: %w", err)
	}
	template.NotBefore, template.NotAfter = now.Add(-early), now.Add(holds)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, nil, fmt.Errorf("auth: cannot sign the certificate %q: %w", template.Subject.CommonName, err)
	}
	return der, key, nil
}

func encode(der []byte, key *ecdsa.PrivateKey) (certPEM, keyPEM []byte, err error) {
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("auth: cannot encode a key: %w", err)
	}
	certPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return certPEM, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), nil
}
