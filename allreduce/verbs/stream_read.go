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
			s.tend()
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
	return s.window.pane(a.number)[:a.size]
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
		s.keep(arrival{slot: slot, size: c.Len})
		return nil
	}
	w := &s.window
	switch {
	case c.Imm == 0 || c.Imm > paneSize:
		return s.nonsense("a message of %d bytes in a pane of %d", c.Imm, paneSize)
	case w.came-w.opened == panes:
		return s.nonsense("a message in a window whose %d panes are full", panes)
	}
	s.keep(arrival{slot: -1, number: w.came, size: int(c.Imm)})
	w.came++
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
	s.freed++
	if a.slot < 0 {
		s.window.read++
		return nil
	}
	return s.post(a.slot)
}

// giveCredit tells the other end what has been read, when that is a quarter of what
// it may send. So at most 8 such messages are on their way.
func (s *Stream) giveCredit() {
	now := credit{s.freed, s.window.opened}
	due := now.slots-s.told.slots >= dataSlots/4 || now.panes-s.told.panes >= panes/4
	if !due || s.flying == len(s.sent) {
		return
	}
	var b [creditSize]byte
	binary.LittleEndian.PutUint64(b[:], now.slots)
	binary.LittleEndian.PutUint64(b[8:], now.panes)
	mem, ok := s.room(creditSize)
	if !ok {
		return // there will be, with the next completion
	}
	copy(mem, b[:])
	if s.send(Work{Op: OpSendNote, Mem: mem, Key: s.key, Imm: noteCredit}, sending{bounce: creditSize}) == nil {
		s.told = now
	}
}

// credited takes what the other end has read.
func (s *Stream) credited(c credit) error {
	switch {
	case c.slots < s.given.slots || c.slots > s.used.slots || c.panes < s.given.panes || c.panes > s.used.panes:
		return s.nonsense("a credit of %d messages and %d panes: want %d to %d, and %d to %d", c.slots, c.panes, s.given.slots, s.used.slots, s.given.panes, s.used.panes)
	}
	s.given, s.stuck = c, false
	return nil
}
