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

// ErrAgain means that a socket has nothing to read, or no room to write, at present.
var ErrAgain = errors.New("transport: would block")

// Socket is a connection as a bare descriptor that never blocks. Its owner waits for
// it with a [Poller]. Go's runtime does not poll it, so no goroutine is woken
// when bytes arrive.
type Socket struct {
	fd  int
	iov [2]unix.Iovec // of Write; a field, because the system call takes its address
}

// NewSocket takes over a TCP connection: it closes c, and the Socket keeps the connection
// open.
func NewSocket(c net.Conn) (*Socket, error) {
	tc, ok := c.(*net.TCPConn)
	if !ok {
		return nil, fmt.Errorf("transport: a poll loop needs a TCP connection: got %T", c)
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

// Read reads once into b. It returns ErrAgain if nothing is available, io.EOF at the
// end. As it never blocks, the call bypasses Go's scheduler.
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

// Write writes once: as much of a, then b, as there is room for. It returns ErrAgain if
// there is no room.
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

// writeBoth writes two buffers with one system call.
func (s *Socket) writeBoth(a, b []byte) (int, error) {
	s.iov[0].Base = &a[0]
	s.iov[0].SetLen(len(a))
	s.iov[1].Base = &b[0]
	s.iov[1].SetLen(len(b))
	defer func() { s.iov = [2]unix.Iovec{} }() // do not keep the caller's buffers alive
	for {
		n, _, errno := unix.RawSyscall(unix.SYS_WRITEV, uintptr(s.fd), uintptr(unsafe.Pointer(&s.iov[0])), 2)
		if errno != unix.EINTR {
			return written(n, errno)
		}
	}
}

// written converts the result of a write.
func written(n uintptr, errno unix.Errno) (int, error) {
	switch errno {
	case 0:
		return int(n), nil
	case unix.EAGAIN:
		return 0, ErrAgain
	}
	return 0, os.NewSyscallError("write", errno)
}

// FD returns the descriptor, for a [Poller].
func (s *Socket) FD() int { return s.fd }

// Shut ends the connection in both directions. The descriptor stays open, and reads return io.EOF.
func (s *Socket) Shut() {
	_ = unix.Shutdown(s.fd, unix.SHUT_RDWR) // an error means that it has ended already
}

// Close closes the connection.
func (s *Socket) Close() error {
	if s.fd < 0 {
		return net.ErrClosed
	}
	err := unix.Close(s.fd)
	s.fd = -1
	return err
}

// Waker wakes a goroutine that waits in a [Poller]. It is safe for concurrent use. Its calls never block, so they bypass Go's
// scheduler.
type Waker struct {
	mu sync.Mutex // guards fd against Close
	fd int
}

// NewWaker returns a bell that is not set.
func NewWaker() (*Waker, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("eventfd", err)
	}
	return &Waker{fd: fd}, nil
}

var one = [8]byte{1}

// Wake wakes the current wait, or else the next one.
func (b *Waker) Wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fd >= 0 {
		unix.RawSyscall(unix.SYS_WRITE, uintptr(b.fd), uintptr(unsafe.Pointer(&one[0])), uintptr(len(one))) // full: it is set already
	}
}

// Clear resets the bell.
func (b *Waker) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fd >= 0 {
		var count [8]byte
		unix.RawSyscall(unix.SYS_READ, uintptr(b.fd), uintptr(unsafe.Pointer(&count[0])), uintptr(len(count))) // empty: it is not set
	}
}

// Close frees the bell, which no wait may use any more. It reports whether it was open.
func (b *Waker) Close() bool {
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
// It is used by one goroutine at a time. The goroutine parks, so that it needs no thread while it waits, unless there are very
// many descriptors.
type Poller struct {
	fds     []unix.PollFd
	timeout unix.Timespec // on the heap, where the system call wants it
	parking *parking      // nil before the first wait
	refused bool          // the system has refused to let the goroutine park
}

// Clear begins a new wait.
func (p *Poller) Clear() { p.fds = p.fds[:0] }

// Add adds a descriptor to the wait, and returns its index.
func (p *Poller) Add(fd int, read, write bool) int {
	var events int16
	if read {
		events |= unix.POLLIN
	}
	if write {
		events |= unix.POLLOUT
	}
	if events == 0 {
		fd = -1 // otherwise its end would be reported at each wait
	}
	p.fds = append(p.fds, unix.PollFd{Fd: int32(fd), Events: events})
	return len(p.fds) - 1
}

// AddWaker adds b to the wait.
func (p *Poller) AddWaker(b *Waker) {
	p.fds = append(p.fds, unix.PollFd{Fd: int32(b.fd), Events: unix.POLLIN})
}

// Wait waits for at most d ns; below 0, without a limit. A signal may end it early.
func (p *Poller) Wait(d int64) {
	if d == 0 {
		p.look()
		return
	}
	if p.parking == nil && !p.refused {
		p.parking = newParking()
		p.refused = p.parking == nil
	}
	if p.parking != nil && len(p.fds) <= maxParked && p.parking.wait(p.fds, d) {
		return
	}
	ts := &p.timeout
	*ts = unix.NsecToTimespec(d)
	if d < 0 {
		ts = nil
	}
	if n, err := unix.Ppoll(p.fds, ts, nil); err != nil || n == 0 {
		p.clearReady()
	}
}

// look is Wait without waiting. As it does not block, the call bypasses Go's scheduler.
func (p *Poller) look() {
	if len(p.fds) == 0 {
		return
	}
	p.timeout = unix.Timespec{}
	n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p.fds[0])), uintptr(len(p.fds)), uintptr(unsafe.Pointer(&p.timeout)), 0, 0, 0)
	if errno != 0 || n == 0 {
		p.clearReady()
	}
}

// clearReady notes that no descriptor is ready.
func (p *Poller) clearReady() {
	for i := range p.fds {
		p.fds[i].Revents = 0
	}
}

// Close frees what the waits have needed. Another wait needs it again.
func (p *Poller) Close() {
	if p.parking != nil {
		p.parking.close()
		p.parking = nil
	}
}

// Ready reports whether the descriptor with index k is readable and writable. An end or an
// error counts as both.
func (p *Poller) Ready(k int) (read, write bool) {
	const ended = unix.POLLHUP | unix.POLLERR | unix.POLLNVAL
	got := p.fds[k].Revents
	return got&(unix.POLLIN|ended) != 0, got&(unix.POLLOUT|ended) != 0
}

// Yield lets another thread run, if one waits for the processor.
func Yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
