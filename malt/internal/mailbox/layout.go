// SPDX-License-Identifier: Apache-2.0

package mailbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gvw-project/gvw/internal/crc32c"
)

// Memory is the memory of a mailbox in its receiver's process.
type Memory interface {
	// Bytes returns all of it. The first byte's address is a multiple of 64.
	Bytes() []byte
	// Flag returns the 8 bytes at an offset, a multiple of 8, for atomic access.
	Flag(at int) *atomic.Uint64
}

// Layout is the shape of a mailbox.
type Layout struct {
	At      int // offset of the mailbox in its memory, in bytes; a multiple of 64
	Depth   int // slots; at least 1. A receiver that reads rarely loses fewer updates with more
	Payload int // largest size of an update, in bytes; at least 1
}

// Head describes an update to its receiver.
type Head struct {
	Round uint64    // the sender's round
	Sent  int64     // time of sending, in nanoseconds since 1970, by the sender's clock
	Tags  [2]uint64 // of the caller
}

const (
	roundAt    = 8
	timeAt     = 16
	sizeAt     = 24
	keyAt      = 28
	checksumAt = 32
	tagsAt     = 40
	fieldsAt   = 56
	payloadAt  = 64
	align      = 64
	trailer    = 8
	// maxPayload keeps sizes in 32 bits.
	maxPayload = 1<<32 - 2*align
)

// Validate reports all faults.
func (l Layout) Validate() error {
	var faults []error
	if l.At < 0 || l.At%align != 0 {
		faults = append(faults, fmt.Errorf("mailbox: offset %d: want a multiple of %d", l.At, align))
	}
	if l.Depth < 1 {
		faults = append(faults, fmt.Errorf("mailbox: depth %d: want at least 1", l.Depth))
	}
	if l.Payload < 1 || l.Payload > maxPayload {
		faults = append(faults, fmt.Errorf("mailbox: updates of %d bytes: want 1 to %d", l.Payload, maxPayload))
	}
	return errors.Join(faults...)
}

// Stride returns the size of a slot in bytes, which is the largest update with its header and trailer.
func (l Layout) Stride() int {
	return (payloadAt + pad(l.Payload) + trailer + align - 1) / align * align
}

// Size returns the number of bytes of the mailbox.
func (l Layout) Size() int { return l.Depth * l.Stride() }

// slot returns the offset of the slot of an update.
func (l Layout) slot(number uint64) int {
	return l.At + int((number-1)%uint64(l.Depth))*l.Stride()
}

func pad(n int) int { return (n + 7) &^ 7 }

// fields are what a slot has between its header and its payload.
type fields struct {
	Head
	size     int
	key, sum uint32
}

// put writes the fields to a slot's head, of which the header stays.
func (f *fields) put(head *[payloadAt]byte) {
	le := binary.LittleEndian
	le.PutUint64(head[roundAt:], f.Round)
	le.PutUint64(head[timeAt:], uint64(f.Sent))
	le.PutUint32(head[sizeAt:], uint32(f.size))
	le.PutUint32(head[keyAt:], f.key)
	le.PutUint64(head[checksumAt:], uint64(f.sum))
	le.PutUint64(head[tagsAt:], f.Tags[0])
	le.PutUint64(head[tagsAt+8:], f.Tags[1])
	le.PutUint64(head[fieldsAt:], uint64(crc32c.Checksum(head[roundAt:fieldsAt])))
}

// take reads the fields from a slot's head, and reports whether their checksum is right.
func (f *fields) take(head *[payloadAt]byte) (ok bool) {
	le := binary.LittleEndian
	f.Round, f.Sent = le.Uint64(head[roundAt:]), int64(le.Uint64(head[timeAt:]))
	f.size, f.key = int(le.Uint32(head[sizeAt:])), le.Uint32(head[keyAt:])
	f.sum = le.Uint32(head[checksumAt:])
	f.Tags = [2]uint64{le.Uint64(head[tagsAt:]), le.Uint64(head[tagsAt+8:])}
	return le.Uint64(head[fieldsAt:]) == uint64(crc32c.Checksum(head[roundAt:fieldsAt]))
}
