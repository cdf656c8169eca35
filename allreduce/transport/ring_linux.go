// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"sync/atomic"
)

// ring carries bytes in one direction, from one process to another, through shared
// memory:
//
//	offset  size
//	     0     8  written: bytes that the writer has written so far
//	    64     8  read: bytes that the reader has read so far
//	   128     4  1: the reader sleeps, or is about to
//	   192     4  1: the writer sleeps until there is room, or is about to
//	   256   RingSize  the bytes
//
// Neither end trusts the other's counter beyond the size of the buffer.
type ring struct {
	written, read            *atomic.Uint64
	readerWaits, writerWaits *atomic.Uint32
	buf                      []byte
}

const (
	// RingSize is the number of bytes in transit. It fits the first-level caches of both
	// ends, and is enough for both to work at the same time.
	RingSize = 128 << 10
	ringHead = 256
	ringAll  = ringHead + RingSize
	// ringPart is the number of bytes after which the counter is updated, so that the
	// other end may begin with them.
	ringPart = 32 << 10
)

var errRing = errors.New("the counters in shared memory are invalid")

func newRing(s *Segment, at int) ring {
	return ring{
		written: s.Flag(at), read: s.Flag(at + 64),
		readerWaits: s.Word(at + 128), writerWaits: s.Word(at + 192),
		buf: s.Bytes()[at+ringHead:][:RingSize:RingSize],
	}
}

// put writes as much of b as there is room for.
func (r *ring) put(b []byte) (n int, err error) {
	at := r.written.Load()
	for n < len(b) {
		used := at - r.read.Load()
		if used > RingSize {
			return n, errRing
		}
		part := min(len(b)-n, int(RingSize-used), ringPart)
		if part == 0 {
			break
		}
		from := int(at % RingSize)
		done := copy(r.buf[from:], b[n:n+part])
		copy(r.buf, b[n+done:n+part])
		at += uint64(part)
		r.written.Store(at)
		n += part
	}
	return n, nil
}

// take reads as many bytes as are available and fit into b.
func (r *ring) take(b []byte) (n int, err error) {
	at := r.read.Load()
	for n < len(b) {
		there := r.written.Load() - at
		if there > RingSize {
			return n, errRing
		}
		part := min(len(b)-n, int(there), ringPart)
		if part == 0 {
			break
		}
		from := int(at % RingSize)
		done := copy(b[n:n+part], r.buf[from:])
		copy(b[n+done:n+part], r.buf)
		at += uint64(part)
		r.read.Store(at)
		n += part
	}
	return n, nil
}

func (r *ring) empty() bool { return r.written.Load() == r.read.Load() }

func (r *ring) full() bool { return r.written.Load()-r.read.Load() >= RingSize }

// takeWakeup reports whether the other end waits for a wake-up, and clears its flag.
func takeWakeup(flag *atomic.Uint32) bool {
	return flag.Load() != 0 && flag.CompareAndSwap(1, 0)
}
