// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"encoding/binary"
	"fmt"
)

// Read reads bytes that have arrived. Bytes that arrived before an error are read first.
func (s *Stream) Read(b []byte) (n int, err error) {
	if s.closed {
		return 0, errClosed
	}
	s.progress()
	for n < len(b) && s.count > 0 {
		a := &s.messages[s.first]
		k := copy(b[n:], s.bytesOf(a)[s.at:])
		n += k
		if s.at += k; s.at < a.size {
			break
		}
		if err := s.consumed(a); err != nil && s.err == nil {
			s.err = err
		}
	}
	switch {
	case n > 0:
		if s.err == nil {
			s.maintainWindow()
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
		return s.slot(a.slot)[:a.size]
	}
	return s.window.slot(a.number)[:a.size]
}

// arrived handles a received message. It checks all values, because the other end may be faulty.
func (s *Stream) arrived(c *Completion) error {
	slot := int(c.ID)
	switch {
	case c.Noted && c.Imm == noteCredit:
		if c.Len != creditSize {
			return s.peerErrorf("credit of %d bytes: want %d", c.Len, creditSize)
		}
		le, b := binary.LittleEndian, s.slot(slot)
		if err := s.credited(credit{le.Uint64(b), le.Uint64(b[8:])}); err != nil {
			return err
		}
		return s.post(slot)
	case s.count == len(s.messages):
		return s.peerErrorf("more than %d messages at once", len(s.messages))
	case !c.Noted:
		if c.Len > smallMessage {
			return s.peerErrorf("a small message of %d bytes", c.Len)
		}
		s.keep(arrival{slot: slot, size: c.Len})
		return nil
	}
	w := &s.window
	switch {
	case c.Imm == 0 || c.Imm > slotSize:
		return s.peerErrorf("a message of %d bytes in a pane of %d", c.Imm, slotSize)
	case w.arrived-w.writable == windowSlots:
		return s.peerErrorf("a message in a window whose %d panes are full", windowSlots)
	}
	s.keep(arrival{slot: -1, number: w.arrived, size: int(c.Imm)})
	w.arrived++
	return s.post(slot) // it was consumed only to signal the write
}

func (s *Stream) peerErrorf(format string, args ...any) error {
	return fmt.Errorf("verbs: %s: from the other end: "+format, append([]any{s.domain.place.Device}, args...)...)
}

func (s *Stream) keep(a arrival) {
	s.messages[(s.first+s.count)%len(s.messages)] = a
	s.count++
}

// consumed frees the buffer of a message that has been read completely.
func (s *Stream) consumed(a *arrival) error {
	s.first, s.at = (s.first+1)%len(s.messages), 0
	s.count--
	s.freed++
	if a.slot < 0 {
		s.window.read++
		return nil
	}
	return s.post(a.slot)
}

// giveCredit sends the other end a credit when a quarter of what it may send has been read.
// At most 8 credits are therefore in transit.
func (s *Stream) giveCredit() {
	now := credit{s.freed, s.window.writable}
	due := now.slots-s.sentCredit.slots >= dataSlots/4 || now.windowSlots-s.sentCredit.windowSlots >= windowSlots/4
	if !due || s.pending == len(s.sent) {
		return
	}
	var b [creditSize]byte
	binary.LittleEndian.PutUint64(b[:], now.slots)
	binary.LittleEndian.PutUint64(b[8:], now.windowSlots)
	mem, ok := s.room(creditSize)
	if !ok {
		return // retried at the next completion
	}
	copy(mem, b[:])
	if s.send(Work{Op: OpSendNote, Mem: mem, Key: s.key, Imm: noteCredit}, sending{bounce: creditSize}) == nil {
		s.sentCredit = now
	}
}

// credited applies a credit from the other end.
func (s *Stream) credited(c credit) error {
	switch {
	case c.slots < s.credit.slots || c.slots > s.used.slots || c.windowSlots < s.credit.windowSlots || c.windowSlots > s.used.windowSlots:
		return s.peerErrorf("credit of %d messages and %d slots: want %d to %d, and %d to %d", c.slots, c.windowSlots, s.credit.slots, s.used.slots, s.credit.windowSlots, s.used.windowSlots)
	}
	s.credit, s.blocked = c, false
	return nil
}
