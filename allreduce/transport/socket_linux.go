// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrAgain says that a socket has nothing to read, or no room to write, now.
var ErrAgain = errors.New("transport: not now")

// Socket is a connection as a bare descriptor that never blocks. Its owner waits for
// it with a [Poller]; the runtime knows nothing of it, so no goroutine is woken
// when bytes come.
type Socket struct {
	fd  int
	iov [2]unix.Iovec // of Write; on the heap, where the system call wants it
}

// NewSocket takes a TCP connection over: c is closed, the connection lives on in the
// Socket.
func NewSocket(c net.Conn) (*Socket, error) {
	tc, ok := c.(*net.TCPConn)
	if !ok {
		return nil, fmt.Errorf("transport: a poll loop needs TCP connections, got %T", c)
	}
	raw, err := tc.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &Socket{fd: -1}
	var dup error
	if err := raw.Control(func(fd uintptr) {
		s.fd, dup = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	}); err != nil {
		return nil, err
	}
	if dup != nil {
		return nil, os.NewSyscallError("fcntl", dup)
	}
	c.Close()
	return s, nil
}

// Read is one read: into b what is there, ErrAgain if that is nothing, io.EOF at the
// end. As it never waits, the scheduler of goroutines is not told.
func (s *Socket) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(s.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		switch {
		case errno == unix.EINTR:
		case errno == unix.EAGAIN:
			return 0, ErrAgain
		case errno != 0:
			return 0, os.NewSyscallError("read", errno)
		case n == 0:
			return 0, io.EOF
		default:
			return int(n), nil
		}
	}
}

// Write is one write of a, then b: as much of them as there is room for, ErrAgain if
// that is nothing.
func (s *Socket) Write(a, b []byte) (int, error) {
	if len(a) == 0 {
		a, b = b, nil
	}
	if len(a) == 0 {
		return 0, nil
	}
	if len(b) > 0 {
		return s.writeBoth(a, b)
	}
	for {
		n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(s.fd), uintptr(unsafe.Pointer(&a[0])), uintptr(len(a)))
		if errno != unix.EINTR {
			return written(n, errno)
		}
	}
}

// writeBoth writes two pieces of memory at once.
func (s *Socket) writeBoth(a, b []byte) (int, error) {
	s.iov[0].Base = &a[0]
	s.iov[0].SetLen(len(a))
	s.iov[1].Base = &b[0]
	s.iov[1].SetLen(len(b))
	defer func() { s.iov = [2]unix.Iovec{} }() // the memory is not the socket's
	for {
		n, _, errno := unix.RawSyscall(unix.SYS_WRITEV, uintptr(s.fd), uintptr(unsafe.Pointer(&s.iov[0])), 2)
		if errno != unix.EINTR {
			return written(n, errno)
		}
	}
}

// written is the outcome of a write.
func written(n uintptr, errno unix.Errno) (int, error) {
	switch errno {
	case 0:
		return int(n), nil
	case unix.EAGAIN:
		return 0, ErrAgain
	}
	return 0, os.NewSyscallError("write", errno)
}

// FD is the descriptor, for a [Poller].
func (s *Socket) FD() int { return s.fd }

// Shut ends the connection both ways; the descriptor stays open, and reads as ended.
func (s *Socket) Shut() {
	_ = unix.Shutdown(s.fd, unix.SHUT_RDWR) // one that has ended is what is wanted
}

// Close ends the connection.
func (s *Socket) Close() error {
	if s.fd < 0 {
		return net.ErrClosed
	}
	err := unix.Close(s.fd)
	s.fd = -1
	return err
}

// Bell wakes who waits in a [Poller].
type Bell struct {
	mu sync.Mutex
	fd int
}

// NewBell makes a bell that is silent.
func NewBell() (*Bell, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("eventfd", err)
	}
	return &Bell{fd: fd}, nil
}

var one = [8]byte{1}

// Ring wakes, now or at the next wait. It may be called at any time.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fd >= 0 {
		_, _ = unix.Write(b.fd, one[:]) // full: it rings already
	}
}

// Silence ends the ringing.
func (b *Bell) Silence() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fd >= 0 {
		var count [8]byte
		_, _ = unix.Read(b.fd, count[:]) // empty: it is silent
	}
}

// Close frees the bell, for which nobody waits any more. False: it was closed before.
func (b *Bell) Close() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fd < 0 {
		return false
	}
	unix.Close(b.fd)
	b.fd = -1
	return true
}

// Poller waits for descriptors. A wait has three parts:
//
//	p.Clear()
//	k := p.Add(socket.FD(), read, write)
//	p.Wait(timeout)
//	read, write := p.Ready(k)
//
// It is used by one goroutine at a time.
type Poller struct {
	fds     []unix.PollFd
	timeout unix.Timespec // on the heap, where the system call wants it
}

// Clear begins a wait.
func (p *Poller) Clear() { p.fds = p.fds[:0] }

// Add waits for a descriptor too, and returns its place.
func (p *Poller) Add(fd int, read, write bool) int {
	var events int16
	if read {
		events |= unix.POLLIN
	}
	if write {
		events |= unix.POLLOUT
	}
	if events == 0 {
		fd = -1 // else its end would be reported, again and again
	}
	p.fds = append(p.fds, unix.PollFd{Fd: int32(fd), Events: events})
	return len(p.fds) - 1
}

// AddBell waits for b too.
func (p *Poller) AddBell(b *Bell) {
	p.fds = append(p.fds, unix.PollFd{Fd: int32(b.fd), Events: unix.POLLIN})
}

// Wait waits for at most d, below 0 without end. A signal may end it early.
func (p *Poller) Wait(d int64) {
	ts := &p.timeout
	*ts = unix.NsecToTimespec(d)
	if d < 0 {
		ts = nil
	}
	if n, err := unix.Ppoll(p.fds, ts, nil); err != nil || n == 0 {
		for i := range p.fds {
			p.fds[i].Revents = 0
		}
	}
}

// Ready says what the descriptor at a place is ready for. An end or an error is both.
func (p *Poller) Ready(k int) (read, write bool) {
	const ended = unix.POLLHUP | unix.POLLERR | unix.POLLNVAL
	got := p.fds[k].Revents
	return got&(unix.POLLIN|ended) != 0, got&(unix.POLLOUT|ended) != 0
}

// Yield lets another thread run, if one is waiting for a processor.
func Yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
