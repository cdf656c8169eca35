// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package verbs

// NewMemory returns n bytes. Without devices they need no fixed address.
func NewMemory(n int) ([]byte, error) { return make([]byte, n), nil }

// FreeMemory does nothing.
func FreeMemory([]byte) error { return nil }

// LockLimit returns NoLimit.
func LockLimit() uint64 { return NoLimit }
