// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package transport

import (
	"runtime"
	"sync/atomic"
)

// Machine tells this machine from others, on Linux.
func Machine() (string, error) { return "", ErrNoSegment }

// NewSegment makes a segment, on Linux.
func NewSegment(int, int64) (*Segment, error) { return nil, ErrNoSegment }

// OpenSegment opens a segment, on Linux.
func OpenSegment(Where) (*Segment, error) { return nil, ErrNoSegment }

// Back puts memory behind a part of the arena.
func (s *Segment) Back(lo, hi int) error { return ErrNoSegment }

// Hide closes the way in.
func (s *Segment) Hide() {}

// Leave gives the memory back but for what this process had in the arena.
func (s *Segment) Leave() error { return nil }

// Close gives the memory back.
func (s *Segment) Close() error { return nil }

// Doze sleeps; nobody does here.
func Doze(*atomic.Uint32, uint32) {}

// Wake wakes who sleeps; nobody does here.
func Wake(*atomic.Uint32) {}

// Yield lets others run.
func Yield() { runtime.Gosched() }
