// SPDX-License-Identifier: Apache-2.0

package mailbox

import (
	"slices"

	"github.com/gvw-project/gvw/internal/crc32c"
)

// Update is an update that a reader has found.
type Update struct {
	Number uint64 // 1 for the sender's first update
	Head
	// Payload is a view of the mailbox, which the sender may overwrite at any time.
	Payload []byte

	sum uint32 // of the payload
}

// Stats counts what a reader has met.
type Stats struct {
	Read        uint64 // updates returned
	Overwritten uint64 // updates that were overwritten before they were read
	Torn        uint64 // reads of a slot that was being written
	Damaged     uint64 // updates whose checksum was wrong although no write was seen
}

// Reader is the receiver's end of a mailbox. It trusts nothing in the memory. It is not safe for
// concurrent use.
type Reader struct {
	mem    Memory
	layout Layout
	key    uint32
	last   uint64 // the newest update returned
	bad    uint64 // the newest update with damaged fields
	stats  Stats
	head   [payloadAt]byte // of the slot that is looked at
}

// NewReader returns the reader of a mailbox. Updates with another key do not count.
func NewReader(mem Memory, l Layout, key uint32) (*Reader, error) {
	if err := check(len(mem.Bytes()), l); err != nil {
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
		if u, ok := r.look(r.layout.At + i*r.layout.Stride()); ok {
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
	slot := r.mem.Bytes()[at : at+r.layout.Stride()]
	copy(r.head[:], slot)
	var f fields
	intact := f.take(&r.head)
	switch {
	case f.size > r.layout.Payload || r.mem.Flag(at+payloadAt+pad(f.size)).Load() != u.Number || !r.is(u.Number):
		r.stats.Torn++
		return u, false
	case !intact:
		if u.Number > r.bad { // once is enough
			r.stats.Damaged++
			r.bad = u.Number
		}
		return u, false
	case f.key != r.key:
		return u, false
	}
	u.Head, u.sum, u.Payload = f.Head, f.sum, slot[payloadAt:payloadAt+f.size:payloadAt+f.size]
	return u, true
}

// is reports whether the slot of an update has still its header. No read before it happens after it:
// the operation writes, too, since a mere load would not have this effect on arm64.
func (r *Reader) is(number uint64) bool {
	return r.mem.Flag(r.layout.slot(number)).CompareAndSwap(number, number)
}

// Intact reports whether the payload of an update is what the sender wrote. It is not if the
// sender has overwritten the update meanwhile, which it may also do afterwards.
func (r *Reader) Intact(u Update) bool { return r.matches(u, u.Payload) }

// Copy copies the payload of an update to dst's memory, and reports whether the copy is what the
// sender wrote. It is not if the sender has overwritten the update meanwhile.
func (r *Reader) Copy(dst []byte, u Update) ([]byte, bool) {
	dst = append(dst[:0], u.Payload...)
	return dst, r.matches(u, dst)
}

// matches reports whether what has been read of an update is what the sender wrote.
func (r *Reader) matches(u Update, payload []byte) bool {
	sum := crc32c.Checksum(payload)
	switch {
	case !r.is(u.Number):
		r.stats.Torn++
		return false
	case sum != u.sum:
		r.stats.Damaged++
		return false
	}
	return true
}
