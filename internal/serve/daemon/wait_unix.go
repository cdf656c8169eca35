// SPDX-License-Identifier: Apache-2.0

//go:build unix

package daemon

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
)

// waiter returns a function that waits until bytes have arrived, and only then takes a buffer from
// the pool for them: ten thousand idle connections have no buffers.
func waiter(nc net.Conn, pool *sync.Pool) func() (*buffers, int, error) {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return reader(nc, pool)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return reader(nc, pool)
	}
	var b *buffers
	var n int
	var failed error
	try := func(fd uintptr) bool {
		b = pool.Get().(*buffers)
		for {
			n, failed = syscall.Read(int(fd), b.in[:])
			if !errors.Is(failed, syscall.EINTR) {
				break
			}
		}
		if errors.Is(failed, syscall.EAGAIN) {
			pool.Put(b)
			b = nil
			return false
		}
		return true
	}
	return func() (*buffers, int, error) {
		b, n, failed = nil, 0, nil
		switch err := raw.Read(try); {
		case err != nil:
			return b, 0, err
		case failed != nil:
			return b, 0, os.NewSyscallError("read", failed)
		case n == 0:
			return b, 0, io.EOF
		}
		return b, n, nil
	}
}
