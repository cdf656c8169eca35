// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"errors"
	"sync/atomic"
	"time"
	"unsafe"
)

// ErrNoSegment means that processes cannot share memory on this system.
var ErrNoSegment = errors.New("shm: shared memory between processes needs Linux")

// Segment is memory that processes of one machine share. It has no name. A process that
// may open it gets its Location, and verifies by the nonce at its beginning that
// it has opened the right one. The memory is freed when the last process closes it.
//
// A reader trusts the segment's length, which is sealed, and nothing else in it.
//
// The segment is followed by its arena, a range of addresses without memory. Commit
// adds memory to a part of it.
type Segment struct {
	mem       []byte
	arena     []byte
	fd        int // of the creator; -1: none
	commitFD  int // for adding memory to the arena: a descriptor; -1: none
	location  Location
	committed [2]int // lo and hi of this process's part of the arena
}

// ParkMax is the longest duration of one Park, and LongParkMax that of one during a long wait. Each Park
// keeps a thread of the runtime awake for 10 ms, which wakes 60 times meanwhile.
const (
	ParkMax     = 20 * time.Millisecond
	LongParkMax = 200 * time.Millisecond
)

// Location is the location of a segment, for other processes of the machine.
type Location struct {
	PID, FD int32    // of the creator, and its descriptor
	Bytes   int64    // size with the head, without the arena
	Arena   int64    // size of the arena in bytes; 0: none
	Nonce   [16]byte // random, the first bytes of the segment
}

// SegmentHead is the size in bytes of the head of a segment, one page. The users'
// part follows.
const SegmentHead = 4096

// Location returns the location that other processes need to open the segment.
func (s *Segment) Location() Location { return s.location }

// Bytes returns the users' part, initially zero.
func (s *Segment) Bytes() []byte { return s.mem[SegmentHead:] }

// Arena returns the arena; nil: there is none.
func (s *Segment) Arena() []byte { return s.arena }

// Flag returns the 64-bit number at an offset of the users' part, a multiple of 8.
func (s *Segment) Flag(at int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&s.Bytes()[at : at+8][0]))
}

// ArenaFlag returns the 64-bit number at an offset of the arena, a multiple of 8.
func (s *Segment) ArenaFlag(at int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&s.arena[at : at+8][0]))
}

// Word returns the 32-bit number at an offset of the users' part, a multiple of 4. Park
// can wait for it.
func (s *Segment) Word(at int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&s.Bytes()[at : at+4][0]))
}

// Segments are the functions by which a job makes and opens segments.
type Segments struct {
	// Make makes a segment with bytes for its users, and addresses for an arena; see NewSegment.
	Make func(bytes int, arena int64) (*Segment, error)
	// Open opens the segment of another process.
	Open func(l Location) (*Segment, error)
}
