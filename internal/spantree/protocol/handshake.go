// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"net"

	"github.com/gvw-project/gvw/allreduce/auth"
)

// Exchange returns the transcript of a handshake up to WELCOME and the client's nonce, from which
// both sides derive their proofs and seals.
func Exchange(key auth.Key, welcome []byte, nonce [auth.NonceSize]byte, conn net.Conn) auth.Exchange {
	return key.Exchange(AppendHello(nil), welcome, nonce[:], auth.Binding(conn))
}

// Sealed returns conn with every record authenticated by the keys of x. It returns conn itself if
// conn uses TLS, which does so already.
func Sealed(conn net.Conn, x auth.Exchange, as auth.Role) net.Conn {
	if auth.Binding(conn) != nil {
		return conn
	}
	return x.Seal(conn, as)
}
