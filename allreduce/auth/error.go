// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
)

// Error says that credentials are wrong, missing, expired or foreign: this side's, or
// those of the other one. To try again is in vain.
type Error struct {
	File string // that they were read from; "": they came over a connection
	Why  string
	Err  error // of the TLS library; nil: there is none
}

func (e *Error) Error() string {
	if e.File != "" {
		return e.File + ": " + e.Why
	}
	return e.Why
}

func (e *Error) Unwrap() error { return e.Err }

// Explain makes an *Error of what is about credentials in err, and leaves everything
// else as it is. Over TLS 1.3 a side whose certificate is refused learns it with the
// first bytes that it reads.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	if _, is := errors.AsType[*Error](err); is {
		return err
	}
	if why := explain(err); why != "" {
		return &Error{Why: why, Err: err}
	}
	return err
}

func explain(err error) string {
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "the other end does not speak TLS, and this one does: give --tls_cert, or --encrypt, to both or to none"
	}
	if e, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return fmt.Sprintf("the other end's certificate%s is foreign: the authority of --tls_ca has not signed it", named(e.Cert))
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if e.Reason == x509.Expired {
			return fmt.Sprintf("the other end's certificate%s is out of date: it holds from %s to %s", named(e.Cert), day(e.Cert.NotBefore), day(e.Cert.NotAfter))
		}
		return fmt.Sprintf("the other end's certificate%s is not for this: %v", named(e.Cert), e)
	}
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("the server's certificate is not for %s, but for %s", e.Host, strings.Join(names(e.Certificate), ", "))
	}
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Op != "remote error" {
		if strings.Contains(err.Error(), "client didn't provide a certificate") {
			return "the other end shows no certificate"
		}
		return ""
	}
	// An alert: these are the words of crypto/tls for those about certificates.
	text := op.Err.Error()
	for alert, why := range map[string]string{
		"certificate required":           "the other end wants a certificate, and this one has shown none",
		"unknown certificate authority":  "the other end refuses this one's certificate: it is foreign, of an authority that is not in the other's --tls_ca",
		"expired certificate":            "the other end refuses this one's certificate: it is out of date",
		"bad certificate":                "the other end refuses this one's certificate: it is not one for this, or is of another authority",
		"certificate unknown":            "the other end refuses this one's certificate",
		"revoked certificate":            "the other end refuses this one's certificate: it was revoked",
		"unsupported certificate":        "the other end refuses this one's certificate: it is of another kind",
		"handshake failure":              "the other end and this one agree on no way to speak TLS",
		"protocol version not supported": "the other end does not speak TLS 1.3",
	} {
		if strings.Contains(text, alert) {
			return why
		}
	}
	return ""
}

// named is whose certificate it is.
func named(c *x509.Certificate) string {
	if c == nil || c.Subject.CommonName == "" {
		return ""
	}
	return fmt.Sprintf(" (%q)", c.Subject.CommonName)
}

// names are the hosts that a certificate is for.
func names(c *x509.Certificate) []string {
	all := append([]string(nil), c.DNSNames...)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return []string{"no host"}
	}
	return all
}
