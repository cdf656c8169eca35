// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"context"
	"net"
)

// Credentials are what a program shows to others and asks of them. nil: nothing.
type Credentials struct {
	// Secret is shared by all who may take part; nil: none.
	Secret *Secret
	// TLS is this program's certificate; nil: connections are bare.
	TLS *TLS
	// AllowVW lets vw's protocol in, which can prove nothing, though there is a secret
	// or a certificate.
	AllowVW bool
}

// Validate reports what is wrong with them.
func (c *Credentials) Validate() error {
	if c != nil && c.TLS != nil && c.TLS.ca == nil && c.Secret == nil {
		return &Error{Why: "TLS without certificates (--encrypt) keeps nobody out without a secret (--secret_file)"}
	}
	return nil
}

// Any reports whether something is asked of others.
func (c *Credentials) Any() bool { return c != nil && (c.Secret != nil || c.TLS != nil) }

// VW reports whether vw's protocol may be spoken.
func (c *Credentials) VW() bool { return !c.Any() || c.AllowVW }

// Control is the key of connections to the server; false: none is asked for.
func (c *Credentials) Control() (Key, bool) {
	if c == nil || c.Secret == nil {
		return Key{}, false
	}
	return c.Secret.Control(), true
}

// Epoch is the key of connections between ranks.
func (c *Credentials) Epoch(s Scope) Key {
	if c == nil {
		return (*Secret)(nil).Epoch(s)
	}
	return c.Secret.Epoch(s)
}

// Client makes a new connection to a server of that name, "": to a rank, one over TLS
// if that is what there is. It takes c over, also when it fails.
func (c *Credentials) Client(ctx context.Context, conn net.Conn, name string) (net.Conn, error) {
	if c == nil || c.TLS == nil {
		return conn, nil
	}
	over, err := c.TLS.Client(ctx, conn, name)
	if err != nil {
		_ = conn.Close() // err says more
	}
	return over, err
}

// Server is Client for who is connected to.
func (c *Credentials) Server(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if c == nil || c.TLS == nil {
		return conn, nil
	}
	return c.TLS.Server(ctx, conn)
}
