// SPDX-License-Identifier: Apache-2.0

package transport

import "net"

// sameHostBuffer is the size in bytes of the send buffer between two ranks of one machine.
// The bytes that the sender has just written are then still in the processor's cache when
// the receiver reads them. With the four megabytes to which the system grows a buffer by
// itself, a sum of 16 MiB takes twice as long, because its bytes go to memory and back.
// Over a network the system's choice is better.
const sameHostBuffer = 64 << 10

// Tune prepares a new connection for the messages of collectives.
func Tune(c net.Conn) {
	if over, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = over.NetConn() // below TLS
	}
	if t, ok := c.(*net.TCPConn); ok && sameHost(t) {
		_ = t.SetWriteBuffer(sameHostBuffer) // without it the connection is only slower
	}
}

// sameHost reports whether both ends are on one machine.
func sameHost(c net.Conn) bool {
	here, ok := c.LocalAddr().(*net.TCPAddr)
	there, also := c.RemoteAddr().(*net.TCPAddr)
	return ok && also && here.IP.Equal(there.IP)
}
