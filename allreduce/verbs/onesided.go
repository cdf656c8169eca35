// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// An Inbox is memory into which one other rank writes messages, without any act of this
// one: places that are written in turn, each with
//
//	offset  size  field
//	     0     8  number of the message, from 1
//	     8     4  bytes of the payload
//	    12     4  CRC-32C of what is before and of the payload
//	    16     …  payload
//
// A writer that is ahead writes over what nobody has taken. A counter stands before the
// places, to which other ranks add.
type Inbox struct {
	domain *Domain
	region Region
	mem    []byte
	places int
	size   int
	next   uint64 // the message that is taken next
}

// Target says where an Inbox is, to who writes to it.
type Target struct {
	Address uint64
	Key     uint32
	Places  int
	Size    int // bytes of a payload, at most
}

const (
	placeHead = 16
	// largestPayload is what two of fit into the ring of copies.
	largestPayload = bounceSize / 2
	counterSize    = 64 // of which 8 are the counter: the rest keeps it apart
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// NewInbox makes an inbox of so many places, for payloads of up to size bytes.
func (d *Domain) NewInbox(places, size int) (*Inbox, error) {
	if places < 1 || size < 1 || places > 1<<20 || size > largestPayload {
		return nil, fmt.Errorf("verbs: an inbox of %d places for %d bytes: want up to %d, and %d", places, size, 1<<20, largestPayload)
	}
	ctx, err := d.open()
	if err != nil {
		return nil, err
	}
	in := &Inbox{domain: d, places: places, size: (size + 7) / 8 * 8, next: 1}
	n := counterSize + places*(placeHead+in.size)
	if in.mem, err = NewMemory(n); err == nil {
		if in.region, err = ctx.Register(in.mem, AccessRemote); err != nil {
			err = errors.Join(d.refused(n, err), FreeMemory(in.mem))
		}
	}
	if err != nil {
		d.left(0, 0)
		return nil, err
	}
	return in, nil
}

// Target is for the rank that writes.
func (in *Inbox) Target() Target {
	_, key := in.region.Keys()
	return Target{Address: in.region.Address(), Key: key, Places: in.places, Size: in.size}
}

// Counter is what others have added up.
func (in *Inbox) Counter() uint64 { return binary.NativeEndian.Uint64(in.mem) }

// Take appends the next message to dst, and tells its number; more than one up from that of the
// last means that some were written over. False: there is none that is whole.
func (in *Inbox) Take(dst []byte) (_ []byte, number uint64, ok bool) {
	le := binary.LittleEndian
	at := int(in.next % uint64(in.places))
	place := in.mem[counterSize+at*(placeHead+in.size):][:placeHead+in.size]
	number, n := le.Uint64(place), int(le.Uint32(place[8:]))
	if number < in.next || n > in.size {
		return dst, 0, false
	}
	kept := len(dst)
	dst = append(dst, place[placeHead:placeHead+n]...)
	// The place may be written to now: what was copied is whole if its sum says so.
	if crc := crc32.Update(crc32.Checksum(place[:12], castagnoli), castagnoli, dst[kept:]); crc != le.Uint32(place[12:]) || le.Uint64(place) != number {
		return dst[:kept], 0, false
	}
	in.next = number + 1
	return dst, number, true
}

// Close deregisters the inbox. Nobody writes to it any more.
func (in *Inbox) Close() error {
	if in.mem == nil {
		return nil
	}
	err := errors.Join(in.region.Close(), FreeMemory(in.mem))
	in.mem = nil
	in.domain.left(0, 0)
	return err
}

// Put writes message number to an inbox at the other end of the stream, which learns
// nothing of it. False: there is no room now. It may be in between Writes.
func (s *Stream) Put(to Target, number uint64, payload []byte) (bool, error) {
	if len(payload) > to.Size {
		return false, fmt.Errorf("verbs: a payload of %d bytes for an inbox of %d", len(payload), to.Size)
	}
	mem, ok, err := s.oneSided(placeHead + len(payload))
	if !ok {
		return false, err
	}
	le := binary.LittleEndian
	le.PutUint64(mem, number)
	le.PutUint32(mem[8:], uint32(len(payload)))
	copy(mem[placeHead:], payload)
	le.PutUint32(mem[12:], crc32.Update(crc32.Checksum(mem[:12], castagnoli), castagnoli, payload))
	at := counterSize + number%uint64(to.Places)*uint64(placeHead+to.Size)
	err = s.send(Work{Op: OpWrite, Mem: mem, Key: s.key, Remote: to.Address + at, RemoteKey: to.Key}, sending{bounce: len(mem)})
	return err == nil, err
}

// FetchAdd adds to the counter of an inbox. What it was before comes with Fetched. False: there is
// no room now.
func (s *Stream) FetchAdd(to Target, n uint64) (bool, error) {
	mem, ok, err := s.oneSided(8 + 7) // aligned, wherever the ring is
	if !ok {
		return false, err
	}
	skew := (8 - s.copied%8) % 8
	result := mem[skew:][:8]
	err = s.send(Work{Op: OpFetchAdd, Mem: result, Key: s.key, Remote: to.Address, RemoteKey: to.Key, Add: n}, sending{bounce: len(mem), fetch: result})
	return err == nil, err
}

// Fetched is the oldest answer to a FetchAdd that has not been told. False: there is none yet.
func (s *Stream) Fetched() (was uint64, ok bool, err error) {
	s.progress()
	if len(s.fetched) == 0 {
		return 0, false, s.err
	}
	was = s.fetched[0]
	s.fetched = s.fetched[:copy(s.fetched, s.fetched[1:])]
	return was, true, nil
}

// oneSided is room for a request that the other end learns nothing of.
func (s *Stream) oneSided(n int) ([]byte, bool, error) {
	if s.closed || !s.linked {
		return nil, false, errClosed
	}
	s.progress()
	if s.err != nil || s.flying >= len(s.sent)-ownWorks {
		return nil, false, s.err
	}
	mem, ok := s.room(n)
	return mem, ok, nil
}
