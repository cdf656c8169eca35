// SPDX-License-Identifier: Apache-2.0

package shm

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

// A segment must not change its size: a reader of a truncated file would get SIGBUS.
const segmentSeals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// Machine returns an identifier of this machine since its last boot. Containers on one
// machine have the same.
func Machine() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(id)), nil
}

// NewSegment makes a segment with n bytes for its users, and an arena of arena bytes. The
// memory of the users' part is allocated before it returns: a lack of memory is an
// error here, not a signal later. The arena is omitted where the limit of file sizes or of
// address space does not allow it.
func NewSegment(n int, arena int64) (*Segment, error) {
	fd, err := unix.MemfdCreate("gvw", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	s := &Segment{fd: fd, commitFD: -1, location: Location{PID: int32(os.Getpid()), FD: int32(fd), Bytes: int64(n + SegmentHead)}}
	rand.Read(s.location.Nonce[:])
	if err := s.allocate(arena); err != nil {
		s.Close()
		return nil, err
	}
	copy(s.mem, s.location.Nonce[:])
	return s, nil
}

// allocate allocates, sizes, seals and maps a new segment.
func (s *Segment) allocate(arena int64) error {
	if err := fallocate(s.fd, 0, s.location.Bytes); err != nil {
		return fmt.Errorf("cannot allocate %d bytes of shared memory: %w", s.location.Bytes, err)
	}
	end := s.arenaAt() + arena
	if arena > 0 && withinLimit(unix.RLIMIT_FSIZE, end) && withinLimit(unix.RLIMIT_AS, end) && unix.Ftruncate(s.fd, end) == nil {
		s.location.Arena = arena
	}
	if _, err := unix.FcntlInt(uintptr(s.fd), unix.F_ADD_SEALS, segmentSeals); err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	return s.mapAll(s.fd)
}

// withinLimit reports whether n is within a resource limit of this process.
func withinLimit(limit int, n int64) bool {
	var l unix.Rlimit
	return unix.Getrlimit(limit, &l) == nil && uint64(n) <= l.Cur
}

// arenaAt returns the offset of the arena in the file.
func (s *Segment) arenaAt() int64 {
	page := int64(os.Getpagesize())
	return (s.location.Bytes + page - 1) / page * page
}

// fallocate allocates n bytes of a file from offset at, and retries when a signal interrupts it.
func fallocate(fd int, at, n int64) error {
	for {
		if err := unix.Fallocate(fd, 0, at, n); err != unix.EINTR {
			return os.NewSyscallError("fallocate", err)
		}
	}
}

// mapAll maps the segment and its arena.
func (s *Segment) mapAll(fd int) (err error) {
	s.mem, err = unix.Mmap(fd, 0, int(s.location.Bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil || s.location.Arena == 0 {
		return os.NewSyscallError("mmap", err)
	}
	if s.commitFD, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	base, err := unix.MmapPtr(fd, s.arenaAt(), nil, uintptr(s.location.Arena), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	s.arena = unsafe.Slice((*byte)(base), s.location.Arena)
	_ = unix.Madvise(s.arena, unix.MADV_DONTDUMP) // keeps all ranks' memory out of core files
	return nil
}

// Commit allocates memory for the bytes lo … hi-1 of the arena, which then belong to this
// process. lo must be the hi of the previous call. A lack of memory is an error.
func (s *Segment) Commit(lo, hi int) error {
	if err := s.Allocate(lo, hi); err != nil {
		return err
	}
	if s.committed[1] == 0 {
		s.committed[0] = lo
	}
	s.committed[1] = hi
	return nil
}

// Allocate allocates memory for the bytes lo … hi-1 of the arena, which belong to no process. Bytes that have memory
// keep their contents. A lack of memory is an error.
func (s *Segment) Allocate(lo, hi int) error {
	if err := fallocate(s.commitFD, s.arenaAt()+int64(lo), int64(hi-lo)); err != nil {
		return fmt.Errorf("cannot allocate %d bytes of shared memory: %w", hi-lo, err)
	}
	page := os.Getpagesize()
	_ = unix.Madvise(s.arena[lo/page*page:hi], unix.MADV_POPULATE_WRITE) // otherwise each page is faulted in at its first use
	return nil
}

// OpenSegment opens and maps the segment of another process, and verifies it.
func OpenSegment(w Location) (*Segment, error) {
	if w.Bytes < SegmentHead || w.Bytes > 1<<40 || w.Arena < 0 || w.Arena > 1<<46 {
		return nil, fmt.Errorf("shm: invalid location of a segment: %d bytes, arena of %d", w.Bytes, w.Arena)
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
	s := &Segment{fd: -1, commitFD: -1, location: w}
	size := w.Bytes
	if w.Arena > 0 {
		size = s.arenaAt() + w.Arena
	}
	if err != nil || seals&segmentSeals != segmentSeals || st.Size != size {
		return nil, fmt.Errorf("%s is not the segment of this job: check that the ranks share a PID namespace", path)
	}
	if err := s.mapAll(fd); err != nil {
		s.Close()
		return nil, err
	}
	if subtle.ConstantTimeCompare(s.mem[:len(w.Nonce)], w.Nonce[:]) != 1 {
		s.Close()
		return nil, fmt.Errorf("%s is the segment of another job: check that the ranks share a PID namespace", path)
	}
	return s, nil
}

// Unlink removes the segment's path. Processes that have opened the segment keep it.
func (s *Segment) Unlink() {
	if s.fd >= 0 {
		unix.Close(s.fd)
		s.fd = -1
	}
}

// Close unmaps the memory: nothing may access it afterwards. The addresses of this
// process's part of the arena stay reserved without access, so that a late access
// faults instead of changing other memory.
func (s *Segment) Close() error {
	s.Unlink()
	if s.commitFD >= 0 {
		unix.Close(s.commitFD)
		s.commitFD = -1
	}
	var err error
	if s.mem != nil {
		err = os.NewSyscallError("munmap", unix.Munmap(s.mem))
		s.mem = nil
	}
	if s.arena != nil {
		err = errors.Join(err, s.protect())
		s.arena = nil
	}
	return err
}

// Detach closes the segment, but keeps the contents of this process's part of the arena
// readable until Close. They become private: other processes no longer change them.
func (s *Segment) Detach() error {
	lo, hi := s.committed[0], s.committed[1]
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
	err = s.unmapExcept(lo, hi)
	s.arena = s.arena[lo:hi]
	s.committed = [2]int{0, hi - lo}
	s.Unlink()
	unix.Close(s.commitFD)
	s.commitFD = -1
	err = errors.Join(err, os.NewSyscallError("munmap", unix.Munmap(s.mem)))
	s.mem = nil
	return err
}

// protect unmaps the arena, and makes this process's part of it inaccessible.
func (s *Segment) protect() error {
	lo, hi := s.committed[0], s.committed[1]
	var err error
	if hi > lo {
		_, err = unix.MmapPtr(-1, 0, unsafe.Pointer(&s.arena[lo]), uintptr(hi-lo), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE|unix.MAP_FIXED)
	}
	return errors.Join(os.NewSyscallError("mmap", err), s.unmapExcept(lo, hi))
}

// unmapExcept unmaps the arena's addresses except lo … hi-1.
func (s *Segment) unmapExcept(lo, hi int) error {
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

// Variables, because the system call takes their addresses.
var (
	parkMax     = unix.NsecToTimespec(int64(ParkMax))
	longParkMax = unix.NsecToTimespec(int64(LongParkMax))
)

// Park sleeps while the word equals old, until a Wake or for at most ParkMax, with long for at most
// LongParkMax. It may return early.
func Park(word *atomic.Uint32, old uint32, long bool) {
	limit := &parkMax
	if long {
		limit = &longParkMax
	}
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(old), uintptr(unsafe.Pointer(limit)), 0, 0)
}

// Wake wakes all processes that sleep on the word.
func Wake(word *atomic.Uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1<<30, 0, 0, 0)
}
