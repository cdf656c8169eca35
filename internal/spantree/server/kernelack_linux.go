// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// ackAge returns the time since the kernel at the other end of a connection acknowledged something, which it also does
// for a stopped process. It is in milliseconds of the clock on which the kernel of this host keeps it.
func ackAge(c net.Conn) (age time.Duration, known bool) {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return 0, false
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			age, known = time.Duration(info.Last_ack_recv)*time.Millisecond, true
		}
	})
	return age, known && err == nil
}
