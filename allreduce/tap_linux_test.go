// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"io"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// tap returns a handle that ends the connection of c when it is closed, also after a driver has
// taken the descriptor out of c.
func tap(c net.Conn) io.Closer {
	f, err := c.(*net.TCPConn).File()
	if err != nil {
		return c
	}
	return &closer{end: func() error {
		defer f.Close()
		raw, err := f.SyscallConn()
		if err != nil {
			return err
		}
		return raw.Control(func(fd uintptr) { unix.Shutdown(int(fd), unix.SHUT_RDWR) })
	}}
}

type closer struct {
	once sync.Once
	end  func() error
}

func (c *closer) Close() (err error) {
	c.once.Do(func() { err = c.end() })
	return err
}
