// SPDX-License-Identifier: Apache-2.0

package mailbox

import (
	"encoding/binary"
	"slices"
)

// Update is an update that a reader has found.
type Update struct {
	Number uint64 // 1 for the sender's first update
	Round  uint64 // the sender's round
	Sent   int64  // time of sending, in nanoseconds since 1970, by the sender's clock
	// Payload is a view of the mailbox, which the sender may overwrite at any time.
	Payload []byte
}

// Stats counts what a reader has met.
type Stats struct {
	Read        uint64 // updates returned
	Overwritten uint64 // updates that were overwritten before they were read
	Torn        uint64 // reads of a slot that was being written
	Damaged     uint64 // copies whose checksum was wrong although no write was seen
}

// Reader is the receiver's end of a mailbox. It trusts nothing in the memory. It is not safe for
// concurrent use.
type Reader struct {
	mem    Memory
	layout Layout
	key    uint32
	last   uint64 // the newest update returned
	stats  Stats
	head   [payloadAt]byte // of the update that Copy verifies
}

// NewReader returns the reader of a mailbox. Updates with another key do not count.
func NewReader(mem Memory, l Layout, key uint32) (*Reader, error) {
	if err := check(mem, l); err != nil {
		return nil, err
	}
	return &Reader{mem: mem, layout: l, key: key}, nil
}

// Stats returns the counts so far.
func (r *Reader) Stats() Stats { return r.stats }

// Updates appends the updates since the last call, oldest first: at most Layout.Depth. It does
// not wait, and allocates nothing if dst has room.
func (r *Reader) Updates(dst []Update) []Update {
	first := len(dst)
	for i := range r.layout.Depth {
		if u, ok := r.look(r.layout.At + i*r.layout.stride()); ok {
			dst = append(dst, u)
		}
	}
	found := dst[first:]
	slices.SortFunc(found, func(a, b Update) int {
		if a.Number < b.Number {
			return -1
		}
		return 1
	})
	if n := len(found); n > 0 {
		newest := found[n-1].Number
		r.stats.Read += uint64(n)
		r.stats.Overwritten += newest - r.last - uint64(n)
		r.last = newest
	}
	return dst
}

// Pending reports whether there may be an update that Updates has not returned.
func (r *Reader) Pending() bool {
	return r.mem.Flag(r.layout.slot(r.last+1)).Load() > r.last
}

// look reads the fields of a slot, and reports whether it holds a whole update which is new.
func (r *Reader) look(at int) (u Update, ok bool) {
	flag := r.mem.Flag(at)
	u.Number = flag.Load()
	switch {
	case u.Number == 0 || u.Number <= r.last:
		return u, false
	case r.layout.slot(u.Number) != at: // not written by a sender of this layout
		r.stats.Torn++
		return u, false
	}
	slot := r.mem.Bytes()[at : at+r.layout.stride()]
	u.Round = binary.LittleEndian.Uint64(slot[roundAt:])
	u.Sent = int64(binary.LittleEndian.Uint64(slot[timeAt:]))
	size := int(binary.LittleEndian.Uint32(slot[sizeAt:]))
	key := binary.LittleEndian.Uint32(slot[keyAt:])
	switch {
	case size > r.layout.Payload || r.mem.Flag(at+payloadAt+pad(size)).Load() != u.Number || flag.Load() != u.Number:
		r.stats.Torn++
		return u, false
	case key != r.key:
		return u, false
	}
	u.Payload = slot[payloadAt : payloadAt+size : payloadAt+size]
	return u, true
}

// Copy copies the payload of an update to dst's memory, and reports whether the copy is what the
// sender wrote. It is not if the sender has overwritten the update meanwhile.
func (r *Reader) Copy(dst []byte, u Update) ([]byte, bool) {
	at := r.layout.slot(u.Number)
	copy(r.head[:], r.mem.Bytes()[at:])
	dst = append(dst[:0], u.Payload...)
	// The header is read by an operation that writes, too: no read of the payload may
	// happen after it, which a mere load would permit on arm64.
	if !r.mem.Flag(at).CompareAndSwap(u.Number, u.Number) {
		r.stats.Torn++
		return dst, false
	}
	if uint64(checksum(r.head[:], dst)) != binary.LittleEndian.Uint64(r.head[checksumAt:]) {
		r.stats.Damaged++
		return dst, false
	}
	return dst, true
}
