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

// Error reports that credentials of either side are wrong, missing, expired or of
// another authority. A retry cannot succeed.
type Error struct {
	File string // file that they were read from; "": they came over a connection
	Why  string
	Err  error // error of the TLS library; nil: none
}

func (e *Error) Error() string {
	if e.File != "" {
		return e.File + ": " + e.Why
	}
	return e.Why
}

func (e *Error) Unwrap() error { return e.Err }

// Explain converts errors about credentials to an *Error, and returns all other errors
// unchanged. In TLS 1.3 a side whose certificate is refused gets the error at its first
// read after the handshake.
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

// explain returns the text for an error about credentials; "" for any other error.
func explain(err error) string {
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "the other end does not use TLS, but this one does: set auth.Credentials.TLS on both or on neither"
	}
	if e, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return fmt.Sprintf("the other end's certificate%s is not signed by the authority that this program trusts", named(e.Cert))
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if e.Reason == x509.Expired {
			return fmt.Sprintf("the other end's certificate%s is out of date: it is valid from %s to %s", named(e.Cert), day(e.Cert.NotBefore), day(e.Cert.NotAfter))
		}
		return fmt.Sprintf("the other end's certificate%s is not valid for this use: %v", named(e.Cert), e)
	}
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("the server's certificate is for %[2]s, not for %[1]s", e.Host, strings.Join(names(e.Certificate), ", "))
	}
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Op != "remote error" {
		if strings.Contains(err.Error(), "client didn't provide a certificate") {
			return "the other end has no certificate"
		}
		return ""
	}
	// A TLS alert. The keys are the texts of crypto/tls for alerts about certificates.
	text := op.Err.Error()
	for alert, why := range map[string]string{
		"certificate required":           "the other end requires a certificate, but this one has none",
		"unknown certificate authority":  "the other end rejects this one's certificate: the other end does not trust its authority",
		"expired certificate":            "the other end rejects this one's certificate: it is out of date",
		"bad certificate":                "the other end rejects this one's certificate: it is for another use or of another authority",
		"certificate unknown":            "the other end rejects this one's certificate",
		"revoked certificate":            "the other end rejects this one's certificate: it was revoked",
		"unsupported certificate":        "the other end rejects this one's certificate: its type is not supported",
		"handshake failure":              "the two ends have no TLS parameters in common",
		"protocol version not supported": "the other end does not support TLS 1.3",
	} {
		if strings.Contains(text, alert) {
			return why
		}
	}
	return ""
}

// named returns the subject of a certificate, in parentheses, for an error.
func named(c *x509.Certificate) string {
	if c == nil || c.Subject.CommonName == "" {
		return ""
	}
	return fmt.Sprintf(" (%q)", c.Subject.CommonName)
}

// names returns the hosts that a certificate is for.
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
