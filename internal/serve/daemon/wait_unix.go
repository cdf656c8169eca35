// SPDX-License-Identifier: Apache-2.0

//go:build unix

package daemon

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// waiter returns a function that waits until bytes have arrived, and only then takes a buffer from
// the pool for them: ten thousand idle connections have no buffers.
//
// A client that has just got its answers usually sends the next line at once. The system wakes a thread that waits for
// this one connection sooner than Go's poller wakes a goroutine. So if no other client has got answers since the ones before, the
// goroutine first waits in the system, for a short time. Among the lines of many clients the poller is faster.
func (c *conn) waiter() func() (*buffers, int, error) {
	s, nc, pool := c.s, c.nc, &c.s.buffers
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
	soon := false // the next line of all is likely one of this connection
	try := func(fd uintptr) bool {
		if soon {
			soon = false
			s.await(int(fd))
		}
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
		soon = s.last.Swap(c) == c
		return b, n, nil
	}
}

const (
	soonMillis = 1 // time for which a thread waits for the next line of a connection
	mostSoon   = 2 // threads that wait at the same time
)

// await waits until bytes arrive or the time is over, unless enough others do so.
func (s *Server) await(fd int) {
	defer s.awaiting.Add(-1)
	if s.awaiting.Add(1) <= mostSoon {
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, soonMillis) // the read that follows decides
	}
}
