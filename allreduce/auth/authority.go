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

// Authority is a certificate authority for tests and small clusters. Sites that have
// their own use that instead.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	der  []byte
}

// backdate is the time by which certificates are valid before now, because clocks differ.
const backdate = 5 * time.Minute

// NewAuthority makes an authority whose certificate is valid from now for the duration holds.
func NewAuthority(name string, now time.Time, validity time.Duration) (*Authority, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	a := new(Authority)
	der, key, err := a.sign(template, now, validity)
	if err != nil {
		return nil, err
	}
	a.der, a.key = der, key
	a.cert, err = x509.ParseCertificate(der)
	return a, err
}

// PEM returns the authority's certificate and key.
func (a *Authority) PEM() (cert, key []byte, err error) { return encode(a.der, a.key) }

// Issue makes a certificate and its key. With hosts (names or addresses) it is for a
// server there, without hosts for a rank.
func (a *Authority) Issue(name string, hosts []string, now time.Time, validity time.Duration) (cert, key []byte, err error) {
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
	der, private, err := a.sign(template, now, validity)
	if err != nil {
		return nil, nil, err
	}
	return encode(der, private)
}

// sign generates a key and signs the template for it. An authority without a key signs
// itself.
func (a *Authority) sign(template *x509.Certificate, now time.Time, validity time.Duration) ([]byte, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("auth: cannot make a key: %w", err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, nil, fmt.Errorf("auth: cannot generate a serial number: %w", err)
	}
	template.NotBefore, template.NotAfter = now.Add(-backdate), now.Add(validity)
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
