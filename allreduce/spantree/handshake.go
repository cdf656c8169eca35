// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"github.com/gvw-project/gvw/allreduce/auth"
	"net"
)

// exchange is the conversation of both sides as far as WELCOME and the client's nonce.
func exchange(key auth.Key, welcome []byte, nonce [auth.NonceSize]byte, conn net.Conn) auth.Exchange {
	return key.Exchange(appendHello(nil), welcome, nonce[:], auth.Binding(conn))
}

// sealed seals a connection, unless TLS does so already.
func sealed(conn net.Conn, x auth.Exchange, as auth.Role) net.Conn {
	if auth.Binding(conn) != nil {
		return conn
	}
	return x.Seal(conn, as)
}
