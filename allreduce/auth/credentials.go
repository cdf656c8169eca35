// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"context"
	"net"
)

// Credentials are what a program presents to others and requires of them. nil: nothing.
type Credentials struct {
	// Secret is shared by all participants. nil: none.
	Secret *Secret
	// TLS is this program's certificate. nil: connections do not use TLS.
	TLS *TLS
	// AllowVW admits vw's protocol, which has no authentication, even though there is a
	// secret or a certificate.
	AllowVW bool
}

// Validate returns an error for credentials that protect nothing.
func (c *Credentials) Validate() error {
	if c != nil && c.TLS != nil && c.TLS.ca == nil && c.Secret == nil {
		return &Error{Why: "TLS without certificates authenticates no one without a secret (auth.Credentials.Secret)"}
	}
	return nil
}

// Any reports whether others must authenticate.
func (c *Credentials) Any() bool { return c != nil && (c.Secret != nil || c.TLS != nil) }

// VW reports whether vw's protocol is admitted.
func (c *Credentials) VW() bool { return !c.Any() || c.AllowVW }

// Control returns the key for connections to the server. It reports false if there is no secret.
func (c *Credentials) Control() (Key, bool) {
	if c == nil || c.Secret == nil {
		return Key{}, false
	}
	return c.Secret.Control(), true
}

// Epoch returns the key for connections between ranks.
func (c *Credentials) Epoch(s Scope) Key {
	if c == nil {
		return (*Secret)(nil).Epoch(s)
	}
	return c.Secret.Epoch(s)
}

// Client completes this side of a new connection to a server with that name; "": to a rank.
// It uses TLS if there is a certificate. It takes over conn, also when it fails.
func (c *Credentials) Client(ctx context.Context, conn net.Conn, name string) (net.Conn, error) {
	if c == nil || c.TLS == nil {
		return conn, nil
	}
	over, err := c.TLS.Client(ctx, conn, name)
	if err != nil {
		_ = conn.Close() // err is more specific
	}
	return over, err
}

// Server is Client for the accepting side.
func (c *Credentials) Server(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if c == nil || c.TLS == nil {
		return conn, nil
	}
	return c.TLS.Server(ctx, conn)
}
