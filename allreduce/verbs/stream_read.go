// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"encoding/binary"
	"fmt"
)

// Read takes what has come. What came before an error is read first.
func (s *Stream) Read(b []byte) (n int, err error) {
	if s.closed {
		return 0, errClosed
	}
	s.progress()
	for n < len(b) && s.count > 0 {
		a := &s.came[s.first]
		k := copy(b[n:], s.bytesOf(a)[s.at:])
		n += k
		if s.at += k; s.at < a.hi-a.lo {
			break
		}
		if err := s.consumed(a); err != nil && s.err == nil {
			s.err = err
		}
	}
	switch {
	case n > 0:
		if s.err == nil {
			s.giveCredit()
		}
		return n, nil
	case s.err != nil:
		return 0, s.err
	}
	return 0, ErrAgain
}

func (s *Stream) bytesOf(a *arrival) []byte {
	if a.slot >= 0 {
		return s.slot(a.slot)[a.lo:a.hi]
	}
	return s.window[a.lo:a.hi]
}

// arrived takes a message. What the other end says is checked: it may be mad.
func (s *Stream) arrived(c *Completion) error {
	slot := int(c.ID)
	switch {
	case c.Noted && c.Imm == noteCredit:
		if c.Len != creditSize {
			return s.nonsense("a credit of %d bytes, want %d", c.Len, creditSize)
		}
		le, b := binary.LittleEndian, s.slot(slot)
		if err := s.credited(credit{le.Uint64(b), le.Uint64(b[8:])}); err != nil {
			return err
		}
		return s.post(slot)
	case s.count == len(s.came):
		return s.nonsense("more than %d messages at once", len(s.came))
	case !c.Noted:
		if c.Len > smallMessage {
			return s.nonsense("a small message of %d bytes", c.Len)
		}
		s.keep(arrival{slot: slot, hi: c.Len})
		return nil
	}
	n := int(c.Imm)
	if n == 0 || n > len(s.window)-s.edge {
		return s.nonsense("a message of %d bytes at %d of a window of %d", n, s.edge, len(s.window))
	}
	s.keep(arrival{slot: -1, lo: s.edge, hi: s.edge + n})
	s.edge = (s.edge + n) % len(s.window)
	return s.post(slot) // it has carried nothing
}

func (s *Stream) nonsense(format string, args ...any) error {
	return fmt.Errorf("verbs: %s: from the other end: "+format, append([]any{s.domain.place.Device}, args...)...)
}

func (s *Stream) keep(a arrival) {
	s.came[(s.first+s.count)%len(s.came)] = a
	s.count++
}

// consumed follows the reading of a whole message.
func (s *Stream) consumed(a *arrival) error {
	s.first, s.at = (s.first+1)%len(s.came), 0
	s.count--
	s.freed.slots++
	if a.slot < 0 {
		s.freed.bytes += uint64(a.hi - a.lo)
		return nil
	}
	return s.post(a.slot)
}

// giveCredit tells the other end what has been read, when that is a quarter of what
// it may send. So at most 8 such messages are on their way.
func (s *Stream) giveCredit() {
	due := s.freed.slots-s.told.slots >= dataSlots/4 || s.freed.bytes-s.told.bytes >= windowSize/4
	if !due || s.flying == len(s.sent) {
		return
	}
	var b [creditSize]byte
	binary.LittleEndian.PutUint64(b[:], s.freed.slots)
	binary.LittleEndian.PutUint64(b[8:], s.freed.bytes)
	mem, ok := s.room(creditSize)
	if !ok {
		return // there will be, with the next completion
	}
	copy(mem, b[:])
	if s.send(Work{Op: OpSendNote, Mem: mem, Key: s.key, Imm: noteCredit}, sending{bounce: creditSize}) == nil {
		s.told = s.freed
	}
}

// credited takes what the other end has read.
func (s *Stream) credited(c credit) error {
	switch {
	case c.slots < s.given.slots || c.slots > s.used.slots || c.bytes < s.given.bytes || c.bytes > s.used.bytes:
		return s.nonsense("a credit of %d messages and %d bytes: want %d to %d, and %d to %d", c.slots, c.bytes, s.given.slots, s.used.slots, s.given.bytes, s.used.bytes)
	}
	s.given, s.stuck = c, false
	return nil
}
