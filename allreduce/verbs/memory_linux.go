// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"os"

	"golang.org/x/sys/unix"
)

// NewMemory is n bytes that stay where they are, outside of Go's heap, until FreeMemory.
// That follows the deregistration.
func NewMemory(n int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	// A child process would get the pages that the device writes to, and this one copies.
	_ = unix.Madvise(b, unix.MADV_DONTFORK)
	return b, nil
}

// FreeMemory gives back what NewMemory gave.
func FreeMemory(b []byte) error { return os.NewSyscallError("munmap", unix.Munmap(b)) }

// LockLimit is how much memory this process may lock; NoLimit: as much as it likes.
func LockLimit() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &l) != nil || l.Cur == unix.RLIM_INFINITY {
		return NoLimit
	}
	return l.Cur
}
