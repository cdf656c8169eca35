// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package verbs

// NewMemory is n bytes. There are no devices here that could write to them.
func NewMemory(n int) ([]byte, error) { return make([]byte, n), nil }

// FreeMemory gives back what NewMemory gave.
func FreeMemory([]byte) error { return nil }

// LockLimit is how much memory this process may lock; NoLimit: as much as it likes.
func LockLimit() uint64 { return NoLimit }
