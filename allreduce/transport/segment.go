// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"sync/atomic"
	"time"
	"unsafe"
)

// ErrNoSegment says that this system shares no memory between processes here.
var ErrNoSegment = errors.New("transport: memory is shared between processes on Linux alone")

// Segment is memory that processes of one machine share. It has no name: who may open
// it is told where it is (Where) and what it begins with (Nonce), and finds out by
// that whether it has opened the right one. It goes when the last process does.
//
// Who reads it trusts its length, which is sealed, and nothing else in it.
//
// Behind it lies its arena, addresses without memory: who wants some there gets it by
// Back.
type Segment struct {
	mem    []byte
	arena  []byte
	fd     int // of who has made it; -1
	way    int // the way to back the arena: a descriptor; -1
	where  Where
	backed [2]int // lo and hi of what this process has got
}

// DozeMax is how long one Doze may last.
const DozeMax = 20 * time.Millisecond

// Where is the way to a segment from another process of the machine.
type Where struct {
	PID, FD int32
	Bytes   int64 // with the head, without the arena
	Arena   int64 // 0: there is none
	Nonce   [16]byte
}

// SegmentHead is how many bytes at the beginning of a segment belong to it, a
// page: what follows is the users'.
const SegmentHead = 4096

// Where is what others need to open it.
func (s *Segment) Where() Where { return s.where }

// Bytes is the users' part, zero at the beginning.
func (s *Segment) Bytes() []byte { return s.mem[SegmentHead:] }

// Arena is the arena, nil: there is none.
func (s *Segment) Arena() []byte { return s.arena }

// Flag is a number of 64 bits at an offset of the users' part, a multiple of 8.
func (s *Segment) Flag(at int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&s.Bytes()[at : at+8][0]))
}

// Word is a number of 32 bits at an offset of the users' part, a multiple of 4: it
// can be slept on.
func (s *Segment) Word(at int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&s.Bytes()[at : at+4][0]))
}

// Segments are the functions by which a job makes and opens segments.
type Segments struct {
	// Make makes a segment with bytes for its users, and addresses for an arena; see NewSegment.
	Make func(bytes int, arena int64) (*Segment, error)
	// Open opens the segment of another process.
	Open func(w Where) (*Segment, error)
}
