// SPDX-License-Identifier: Apache-2.0

package mailbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync/atomic"
)

// Memory is the memory of a mailbox, which sender and receiver share.
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

const (
	roundAt    = 8
	timeAt     = 16
	sizeAt     = 24
	keyAt      = 28
	checksumAt = 32
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

// stride returns the distance of two slots.
func (l Layout) stride() int {
	return (payloadAt + pad(l.Payload) + trailer + align - 1) / align * align
}

// Size returns the number of bytes of the mailbox.
func (l Layout) Size() int { return l.Depth * l.stride() }

// slot returns the offset of the slot of an update.
func (l Layout) slot(number uint64) int {
	return l.At + int((number-1)%uint64(l.Depth))*l.stride()
}

func pad(n int) int { return (n + 7) &^ 7 }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the checksum of a slot's round, time, size and key, and of a payload.
func checksum(slot, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum(slot[roundAt:checksumAt], castagnoli), castagnoli, payload)
}

// fill writes the fields between header and payload.
func fill(slot []byte, size int, round uint64, sent int64, key uint32) {
	binary.LittleEndian.PutUint64(slot[roundAt:], round)
	binary.LittleEndian.PutUint64(slot[timeAt:], uint64(sent))
	binary.LittleEndian.PutUint32(slot[sizeAt:], uint32(size))
	binary.LittleEndian.PutUint32(slot[keyAt:], key)
	clear(slot[payloadAt+size : payloadAt+pad(size)])
	binary.LittleEndian.PutUint64(slot[checksumAt:], uint64(checksum(slot, slot[payloadAt:payloadAt+size])))
}
