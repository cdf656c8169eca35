// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"errors"
	"sync/atomic"
)

// buffer carries bytes in one direction, from one process to another, through shared
// memory:
//
//	offset  size
//	     0     8  written: bytes that the writer has written so far
//	    64     8  read: bytes that the reader has read so far
//	   128     4  1: the reader sleeps, or is about to
//	   192     4  1: the writer sleeps until there is room, or is about to
//	   256   bufferSize  the bytes
//
// Neither end trusts the other's counter beyond the size of the buffer.
type buffer struct {
	written, read            *atomic.Uint64
	readerWaits, writerWaits *atomic.Uint32
	buf                      []byte
}

const (
	// bufferSize is the number of bytes in transit. It fits the first-level caches of both
	// ends, and is enough for both to work at the same time.
	bufferSize = 128 << 10
	bufferHead = 256
	bufferAll  = bufferHead + bufferSize
	// bufferPart is the number of bytes after which the counter is updated, so that the
	// other end may begin with them.
	bufferPart = 32 << 10
)

var errBuffer = errors.New("the counters in shared memory are invalid")

func newBuffer(s *Segment, at int) buffer {
	return buffer{
		written: s.Flag(at), read: s.Flag(at + 64),
		readerWaits: s.Word(at + 128), writerWaits: s.Word(at + 192),
		buf: s.Bytes()[at+bufferHead:][:bufferSize:bufferSize],
	}
}

// put writes as much of b as there is room for.
func (r *buffer) put(b []byte) (n int, err error) {
	at := r.written.Load()
	for n < len(b) {
		used := at - r.read.Load()
		if used > bufferSize {
			return n, errBuffer
		}
		part := min(len(b)-n, int(bufferSize-used), bufferPart)
		if part == 0 {
			break
		}
		from := int(at % bufferSize)
		done := copy(r.buf[from:], b[n:n+part])
		copy(r.buf, b[n+done:n+part])
		at += uint64(part)
		r.written.Store(at)
		n += part
	}
	return n, nil
}

// take reads as many bytes as are available and fit into b.
func (r *buffer) take(b []byte) (n int, err error) {
	at := r.read.Load()
	for n < len(b) {
		there := r.written.Load() - at
		if there > bufferSize {
			return n, errBuffer
		}
		part := min(len(b)-n, int(there), bufferPart)
		if part == 0 {
			break
		}
		from := int(at % bufferSize)
		done := copy(b[n:n+part], r.buf[from:])
		copy(b[n+done:n+part], r.buf)
		at += uint64(part)
		r.read.Store(at)
		n += part
	}
	return n, nil
}

func (r *buffer) empty() bool { return r.written.Load() == r.read.Load() }

func (r *buffer) full() bool { return r.written.Load()-r.read.Load() >= bufferSize }

// takeWakeup reports whether the other end waits for a wake-up, and clears its flag.
func takeWakeup(flag *atomic.Uint32) bool {
	return flag.Load() != 0 && flag.CompareAndSwap(1, 0)
}
