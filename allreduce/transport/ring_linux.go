// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"sync/atomic"
)

// ring carries bytes one way, from one process to another, through memory that both
// share:
//
//	offset  size
//	     0     8  written: how many bytes its writer has put in
//	    64     8  read: how many of them its reader has taken out
//	   128     4  1: the reader sleeps, or is about to
//	   192     4  1: the writer sleeps for want of room, or is about to
//	   256   RingSize  the bytes
//
// Neither trusts the other's number beyond what there is memory for.
type ring struct {
	written, read   *atomic.Uint64
	hungry, crowded *atomic.Uint32
	buf             []byte
}

const (
	// RingSize is how many bytes may be on their way: what fits the innermost caches of
	// both ends, and lets them work at the same time.
	RingSize = 128 << 10
	ringHead = 256
	ringAll  = ringHead + RingSize
	// ringPart is after how many bytes the other end is told: it may begin with them.
	ringPart = 32 << 10
)

var errRing = errors.New("the memory shared with it makes no sense")

func newRing(s *Segment, at int) ring {
	return ring{
		written: s.Flag(at), read: s.Flag(at + 64),
		hungry: s.Word(at + 128), crowded: s.Word(at + 192),
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

// take reads as much as there is, and b holds.
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

// answers says that whoever set the flag is to be woken, once.
func answers(flag *atomic.Uint32) bool {
	return flag.Load() != 0 && flag.CompareAndSwap(1, 0)
}
