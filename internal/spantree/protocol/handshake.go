// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"net"

	"github.com/gvw-project/gvw/allreduce/auth"
)

// Exchange is the conversation of both sides as far as WELCOME and the client's nonce.
func Exchange(key auth.Key, welcome []byte, nonce [auth.NonceSize]byte, conn net.Conn) auth.Exchange {
	return key.Exchange(AppendHello(nil), welcome, nonce[:], auth.Binding(conn))
}

// Sealed seals a connection, unless TLS does so already.
func Sealed(conn net.Conn, x auth.Exchange, as auth.Role) net.Conn {
	if auth.Binding(conn) != nil {
		return conn
	}
	return x.Seal(conn, as)
}
