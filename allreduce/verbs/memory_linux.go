// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"os"

	"golang.org/x/sys/unix"
)

// NewMemory returns n bytes outside of Go's heap, at a fixed address until FreeMemory. They
// must be deregistered before they are freed.
func NewMemory(n int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	// After a fork, copy-on-write would give this process new pages while the device uses the old ones.
	_ = unix.Madvise(b, unix.MADV_DONTFORK)
	return b, nil
}

// FreeMemory frees memory of NewMemory.
func FreeMemory(b []byte) error { return os.NewSyscallError("munmap", unix.Munmap(b)) }

// LockLimit returns the limit of this process's locked memory in bytes; NoLimit: none.
func LockLimit() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &l) != nil || l.Cur == unix.RLIM_INFINITY {
		return NoLimit
	}
	return l.Cur
}
