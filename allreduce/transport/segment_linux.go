// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const segmentSeals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// Machine tells this machine, as long as it is up, from others. Containers of a machine
// are one.
func Machine() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(id)), nil
}

// NewSegment makes a segment with n bytes for its users. The memory is there when
// it returns: where there is not enough of it, that is an error, not a signal later.
func NewSegment(n int) (*Segment, error) {
	fd, err := unix.MemfdCreate("gvw", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	s := &Segment{fd: fd, where: Where{PID: int32(os.Getpid()), FD: int32(fd), Bytes: int64(n + SegmentHead)}}
	rand.Read(s.where.Nonce[:])
	if err := s.fill(); err != nil {
		unix.Close(fd)
		return nil, err
	}
	copy(s.mem, s.where.Nonce[:])
	return s, nil
}

func (s *Segment) fill() error {
	for {
		err := unix.Fallocate(s.fd, 0, 0, s.where.Bytes)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("%d bytes of shared memory: %w", s.where.Bytes, os.NewSyscallError("fallocate", err))
		}
		break
	}
	if _, err := unix.FcntlInt(uintptr(s.fd), unix.F_ADD_SEALS, segmentSeals); err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	return s.view(s.fd)
}

func (s *Segment) view(fd int) (err error) {
	s.mem, err = unix.Mmap(fd, 0, int(s.where.Bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	return os.NewSyscallError("mmap", err)
}

// OpenSegment opens what another process has made, and makes sure that it is that.
func OpenSegment(w Where) (*Segment, error) {
	if w.Bytes < SegmentHead || w.Bytes > 1<<40 {
		return nil, fmt.Errorf("transport: a segment of %d bytes", w.Bytes)
	}
	path := fmt.Sprintf("/proc/%d/fd/%d", w.PID, w.FD)
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&segmentSeals != segmentSeals || st.Size != w.Bytes {
		return nil, fmt.Errorf("%s is not the segment of this job: do the ranks see the same processes?", path)
	}
	s := &Segment{fd: -1, where: w}
	if err := s.view(fd); err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare(s.mem[:len(w.Nonce)], w.Nonce[:]) != 1 {
		s.Close()
		return nil, fmt.Errorf("%s is the segment of another job: do the ranks see the same processes?", path)
	}
	return s, nil
}

// Hide closes the way in: who has opened the segment keeps it.
func (s *Segment) Hide() {
	if s.fd >= 0 {
		unix.Close(s.fd)
		s.fd = -1
	}
}

// Close gives the memory back: nothing may touch it from here on.
func (s *Segment) Close() error {
	s.Hide()
	if s.mem == nil {
		return nil
	}
	mem := s.mem
	s.mem = nil
	return os.NewSyscallError("munmap", unix.Munmap(mem))
}

const (
	futexWait = 0
	futexWake = 1
)

var dozeMax = unix.NsecToTimespec(int64(DozeMax)) // where the system call wants it

// Doze sleeps while the word is old, until it is woken or for DozeMax. It may end
// early.
func Doze(word *atomic.Uint32, old uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(old), uintptr(unsafe.Pointer(&dozeMax)), 0, 0)
}

// Wake wakes who sleeps on the word, in whatever process.
func Wake(word *atomic.Uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1<<30, 0, 0, 0)
}
