// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"net"

	"golang.org/x/sys/unix"
)

// mtu returns the system's limit of packets on the path of c in bytes; 0: unknown.
func mtu(c net.Conn) int {
	tc, ok := c.(*net.TCPConn)
	if !ok {
		return 0
	}
	raw, err := tc.SyscallConn()
	if err != nil {
		return 0
	}
	level, option := unix.IPPROTO_IPV6, unix.IPV6_MTU
	if a, ok := tc.RemoteAddr().(*net.TCPAddr); ok && a.IP.To4() != nil {
		level, option = unix.IPPROTO_IP, unix.IP_MTU
	}
	n := 0
	if err := raw.Control(func(fd uintptr) { n, _ = unix.GetsockoptInt(int(fd), level, option) }); err != nil {
		return 0
	}
	return n
}
