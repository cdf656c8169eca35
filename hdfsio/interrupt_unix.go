// SPDX-License-Identifier: Apache-2.0

//go:build unix

package hdfsio

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Interruptible returns a reader of f whose reads fail with the cause of ctx once ctx has
// ended, also a read that waits for data in a pipe, a terminal or a socket. Closing the reader
// leaves f open. Regular files are read directly.
//
// Reads wait in poll(2), together with a pipe that the end of ctx closes. The flags of the
// descriptor remain unchanged, because other processes may share it. If another process takes
// the data between poll and read, that read waits in the kernel.
func Interruptible(ctx context.Context, f *os.File) (io.ReadCloser, error) {
	if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
		return io.NopCloser(f), nil
	}
	wake, end, err := os.Pipe()
	if err != nil {
		return nil, newError("read", f.Name(), err, "")
	}
	r := &interruptible{ctx: ctx, f: f, wake: wake, end: end}
	if err := descriptors(f, wake, &r.fds); err != nil {
		return nil, errors.Join(err, wake.Close(), end.Close())
	}
	r.stop = context.AfterFunc(ctx, r.interrupt)
	return r, nil
}

// interruptible is a file whose reads may wait for data.
type interruptible struct {
	ctx  context.Context
	f    *os.File
	wake *os.File    // read end of a pipe, polled together with f
	end  *os.File    // its write end, closed at the end of ctx
	stop func() bool // ends the wait for the end of ctx

	closed  atomic.Bool    // set before end is closed
	polling sync.Mutex     // held while fds are polled
	fds     [2]unix.PollFd // of f and wake
}

// descriptors fills in the descriptors for poll.
func descriptors(f, wake *os.File, fds *[2]unix.PollFd) error {
	for i, f := range []*os.File{f, wake} {
		conn, err := f.SyscallConn()
		if err != nil {
			return err
		}
		err = conn.Control(func(fd uintptr) { fds[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN} })
		if err != nil {
			return err
		}
	}
	return nil
}

// interrupt ends the current read and all later ones.
func (r *interruptible) interrupt() {
	_ = r.end.Close()
	// For a descriptor in non-blocking mode whose data another process has read after poll.
	_ = r.f.SetReadDeadline(time.Unix(1, 0))
}

func (r *interruptible) Read(b []byte) (int, error) {
	if err := r.poll(); err != nil {
		return 0, err
	}
	n, err := r.f.Read(b)
	if err != nil && r.ctx.Err() != nil {
		err = context.Cause(r.ctx)
	}
	return n, err
}

// poll waits for data, for the end of the file, or for an error that Read will return.
func (r *interruptible) poll() error {
	r.polling.Lock()
	defer r.polling.Unlock()
	for {
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		if r.closed.Load() {
			return os.ErrClosed
		}
		_, err := unix.Poll(r.fds[:], -1)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return os.NewSyscallError("poll", err)
		case r.fds[1].Revents == 0:
			return nil
		}
	}
}

// Close ends a blocked read. It leaves the file open.
func (r *interruptible) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	r.stop()
	_ = r.end.Close() // the end of ctx may have closed it
	r.polling.Lock()
	defer r.polling.Unlock()
	return r.wake.Close()
}

// openFile opens a file for reading. On Linux, opening a FIFO does not wait for a writer: the
// first poll does.
func openFile(name string) (*os.File, error) {
	flags := os.O_RDONLY
	if fi, err := os.Stat(name); err == nil && fi.Mode()&os.ModeNamedPipe != 0 && runtime.GOOS == "linux" {
		flags |= syscall.O_NONBLOCK
	}
	return os.OpenFile(name, flags, 0)
}
