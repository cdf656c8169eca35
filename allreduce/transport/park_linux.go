// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxParked is the number of descriptors above which a wait blocks its thread: a wait that parks makes two system calls for
// each of them.
const maxParked = 64

// parking lets a goroutine wait for descriptors without a thread. A thread that blocks in poll makes the
// runtime's monitor take its processor away, and the monitor then looks after the process some 50 times within
// the next milliseconds. A rank among hundreds on a machine would spend more time on this than on its work.
// A parked goroutine has no thread, and the monitor sleeps with the process.
//
// The descriptors are in an epoll set for the time of one wait. The set's own descriptor is among those
// that the runtime polls.
type parking struct {
	set    int
	file   *os.File // the set
	raw    syscall.RawConn
	look   func(uintptr) bool // p.check; a field, so that a wait allocates nothing
	events [maxParked]unix.EpollEvent
	found  int // events of the last look
}

// newParking returns nil if the system refuses it, for example because all descriptors are in use.
func newParking() *parking {
	set, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil
	}
	if err := unix.SetNonblock(set, true); err != nil { // what NewFile asks of a descriptor that the runtime polls
		unix.Close(set)
		return nil
	}
	p := &parking{set: set, file: os.NewFile(uintptr(set), "epoll")}
	p.look = p.check
	p.raw, err = p.file.SyscallConn()
	if err != nil || p.file.SetReadDeadline(time.Time{}) != nil { // the runtime does not poll it
		p.file.Close()
		return nil
	}
	return p
}

// wait waits until one of fds is ready, and at most for d ns; below 0, without a limit. It sets Revents. false: the
// system has refused it, and nothing was waited for.
func (p *parking) wait(fds []unix.PollFd, d int64) bool {
	for k := range fds {
		fds[k].Revents = 0
		if fds[k].Fd < 0 {
			continue
		}
		event := unix.EpollEvent{Events: uint32(fds[k].Events), Fd: int32(k)} // the kernel returns the field Fd as it is
		if err := unix.EpollCtl(p.set, unix.EPOLL_CTL_ADD, int(fds[k].Fd), &event); err != nil {
			p.remove(fds[:k])
			return false
		}
	}
	if d >= 0 {
		_ = p.file.SetReadDeadline(time.Now().Add(time.Duration(d))) // newParking has tried it
	}
	p.found = 0
	_ = p.raw.Read(p.look) // an error is the end of the limit
	if d >= 0 {
		_ = p.file.SetReadDeadline(time.Time{})
	}
	for _, e := range p.events[:p.found] {
		fds[e.Fd].Revents = int16(e.Events)
	}
	p.remove(fds)
	return true
}

// check reports whether a descriptor of the set is ready.
func (p *parking) check(set uintptr) bool {
	for {
		n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, set, uintptr(unsafe.Pointer(&p.events[0])), maxParked, 0, 0, 0)
		if errno == unix.EINTR {
			continue
		}
		if errno == 0 {
			p.found = int(n)
		}
		return errno != 0 || n > 0
	}
}

// remove takes descriptors out of the set.
func (p *parking) remove(fds []unix.PollFd) {
	for k := range fds {
		if fds[k].Fd >= 0 {
			_ = unix.EpollCtl(p.set, unix.EPOLL_CTL_DEL, int(fds[k].Fd), nil) // it is in the set
		}
	}
}

func (p *parking) close() { p.file.Close() }
