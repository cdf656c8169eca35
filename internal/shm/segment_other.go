// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package shm

import (
	"sync/atomic"
)

// Machine fails: only Linux has an identifier of the machine.
func Machine() (string, error) { return "", ErrNoSegment }

// NewSegment fails: segments need Linux.
func NewSegment(int, int64) (*Segment, error) { return nil, ErrNoSegment }

// OpenSegment fails: segments need Linux.
func OpenSegment(Location) (*Segment, error) { return nil, ErrNoSegment }

// Commit fails: segments need Linux.
func (s *Segment) Commit(lo, hi int) error { return ErrNoSegment }

// Allocate fails: segments need Linux.
func (s *Segment) Allocate(lo, hi int) error { return ErrNoSegment }

// Unlink does nothing: there are no segments.
func (s *Segment) Unlink() {}

// Detach does nothing: there are no segments.
func (s *Segment) Detach() error { return nil }

// Close does nothing: there are no segments.
func (s *Segment) Close() error { return nil }

// Park does nothing: there are no segments.
func Park(*atomic.Uint32, uint32, bool) {}

// Wake does nothing: there are no segments.
func Wake(*atomic.Uint32) {}
