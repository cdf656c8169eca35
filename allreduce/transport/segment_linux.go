// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
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

// NewSegment makes a segment with n bytes for its users, and an arena. The memory of
// the former is there when it returns: where there is not enough of it, that is an
// error, not a signal later. There is no arena where a file may not be that long, or a
// process that large.
func NewSegment(n int, arena int64) (*Segment, error) {
	fd, err := unix.MemfdCreate("gvw", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	s := &Segment{fd: fd, way: -1, where: Where{PID: int32(os.Getpid()), FD: int32(fd), Bytes: int64(n + SegmentHead)}}
	rand.Read(s.where.Nonce[:])
	if err := s.fill(arena); err != nil {
		s.Close()
		return nil, err
	}
	copy(s.mem, s.where.Nonce[:])
	return s, nil
}

func (s *Segment) fill(arena int64) error {
	if err := fallocate(s.fd, 0, s.where.Bytes); err != nil {
		return fmt.Errorf("%d bytes of shared memory: %w", s.where.Bytes, err)
	}
	end := s.arenaAt() + arena
	if arena > 0 && below(unix.RLIMIT_FSIZE, end) && below(unix.RLIMIT_AS, end) && unix.Ftruncate(s.fd, end) == nil {
		s.where.Arena = arena
	}
	if _, err := unix.FcntlInt(uintptr(s.fd), unix.F_ADD_SEALS, segmentSeals); err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	return s.view(s.fd)
}

// below says that n is within a limit of this process.
func below(limit int, n int64) bool {
	var l unix.Rlimit
	return unix.Getrlimit(limit, &l) == nil && uint64(n) <= l.Cur
}

// arenaAt is where the arena begins.
func (s *Segment) arenaAt() int64 {
	page := int64(os.Getpagesize())
	return (s.where.Bytes + page - 1) / page * page
}

func fallocate(fd int, at, n int64) error {
	for {
		if err := unix.Fallocate(fd, 0, at, n); err != unix.EINTR {
			return os.NewSyscallError("fallocate", err)
		}
	}
}

func (s *Segment) view(fd int) (err error) {
	s.mem, err = unix.Mmap(fd, 0, int(s.where.Bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil || s.where.Arena == 0 {
		return os.NewSyscallError("mmap", err)
	}
	if s.way, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	base, err := unix.MmapPtr(fd, s.arenaAt(), nil, uintptr(s.where.Arena), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	s.arena = unsafe.Slice((*byte)(base), s.where.Arena)
	_ = unix.Madvise(s.arena, unix.MADV_DONTDUMP) // a core file needs not all ranks' memory
	return nil
}

// Back puts memory behind the bytes lo … hi-1 of the arena, which then are this process's: lo
// is the hi of the call before. Where there is not enough memory, that is an
// error.
func (s *Segment) Back(lo, hi int) error {
	if s.backed[1] == 0 {
		s.backed[0] = lo
	}
	if err := fallocate(s.way, s.arenaAt()+int64(lo), int64(hi-lo)); err != nil {
		return fmt.Errorf("%d bytes of shared memory: %w", hi-lo, err)
	}
	s.backed[1] = hi
	_ = unix.Madvise(s.arena[lo:hi], unix.MADV_POPULATE_WRITE) // else page by page, at first use
	return nil
}

// OpenSegment opens what another process has made, and makes sure that it is that.
func OpenSegment(w Where) (*Segment, error) {
	if w.Bytes < SegmentHead || w.Bytes > 1<<40 || w.Arena < 0 || w.Arena > 1<<46 {
		return nil, fmt.Errorf("transport: a segment of %d bytes, and %d", w.Bytes, w.Arena)
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
	s := &Segment{fd: -1, way: -1, where: w}
	size := w.Bytes
	if w.Arena > 0 {
		size = s.arenaAt() + w.Arena
	}
	if err != nil || seals&segmentSeals != segmentSeals || st.Size != size {
		return nil, fmt.Errorf("%s is not the segment of this job: do the ranks see the same processes?", path)
	}
	if err := s.view(fd); err != nil {
		s.Close()
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

// Close gives the memory back: nothing may touch it from here on. The addresses of what
// this process had in the arena stay out of use, so that who touches them all the
// same ends by a fault, and changes nothing.
func (s *Segment) Close() error {
	s.Hide()
	if s.way >= 0 {
		unix.Close(s.way)
		s.way = -1
	}
	var err error
	if s.mem != nil {
		err = os.NewSyscallError("munmap", unix.Munmap(s.mem))
		s.mem = nil
	}
	if s.arena != nil {
		err = errors.Join(err, s.bar())
		s.arena = nil
	}
	return err
}

// Leave is Close, but what this process had in the arena stays there until Close: it is its own
// from here on, and what others do to theirs changes nothing in it.
func (s *Segment) Leave() error {
	lo, hi := s.backed[0], s.backed[1]
	if hi == lo {
		return s.Close()
	}
	const prot, flags = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
	at := unsafe.Pointer(&s.arena[lo])
	room, err := unix.MmapPtr(-1, 0, nil, uintptr(hi-lo), prot, flags)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	copy(unsafe.Slice((*byte)(room), hi-lo), s.arena[lo:hi])
	if _, _, errno := unix.Syscall6(unix.SYS_MREMAP, uintptr(room), uintptr(hi-lo), uintptr(hi-lo), unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, uintptr(at), 0); errno != 0 {
		return errors.Join(os.NewSyscallError("mremap", errno), unix.MunmapPtr(room, uintptr(hi-lo)))
	}
	err = s.outside(lo, hi)
	s.arena = s.arena[lo:hi]
	s.backed = [2]int{0, hi - lo}
	s.Hide()
	unix.Close(s.way)
	s.way = -1
	err = errors.Join(err, os.NewSyscallError("munmap", unix.Munmap(s.mem)))
	s.mem = nil
	return err
}

// bar gives the arena back, and bars the part that this process has used.
func (s *Segment) bar() error {
	lo, hi := s.backed[0], s.backed[1]
	var err error
	if hi > lo {
		_, err = unix.MmapPtr(-1, 0, unsafe.Pointer(&s.arena[lo]), uintptr(hi-lo), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE|unix.MAP_FIXED)
	}
	return errors.Join(os.NewSyscallError("mmap", err), s.outside(lo, hi))
}

// outside gives the arena's addresses but lo … hi-1 back.
func (s *Segment) outside(lo, hi int) error {
	var errs []error
	for _, part := range [2][]byte{s.arena[:lo], s.arena[hi:]} {
		if len(part) > 0 {
			errs = append(errs, os.NewSyscallError("munmap", unix.MunmapPtr(unsafe.Pointer(&part[0]), uintptr(len(part)))))
		}
	}
	return errors.Join(errs...)
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
