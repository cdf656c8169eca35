// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"fmt"
)

// Write sends head, then data, as far as there is room; ErrAgain: there is none. The caller
// may reuse the bytes that it reports as written. Long data in registered memory is sent
// without a copy, and reported as written when it has arrived. Until then
// the caller must call Write with the same data, from the first byte that is not written.
func (s *Stream) Write(head, data []byte) (n int, err error) {
	if s.closed || !s.connected {
		return 0, errClosed
	}
	s.progress()
	direct, key := false, uint32(0)
	if under := s.posted+s.delivered > 0; under || len(data) >= directLeast {
		if key, direct = s.domain.keyOf(data); under && !direct {
			panic("BUG: verbs: Write with other data than before")
		}
	}
	for s.err == nil && len(head) > 0 {
		k, ok := s.copyOut(head, pick(direct, nil, data))
		if !ok {
			break
		}
		n += k
		if k >= len(head) {
			data = data[k-len(head):]
			head = nil
			continue
		}
		head = head[k:]
	}
	if len(head) == 0 && s.err == nil {
		if direct {
			n += s.sendDirect(data, key)
		} else {
			for len(data) > 0 && s.err == nil {
				k, ok := s.copyOut(data, nil)
				if !ok {
					break
				}
				n += k
				data = data[k:]
			}
		}
	}
	switch {
	case n > 0:
		s.blocked = false
		return n, nil
	case s.err != nil:
		return 0, s.err
	}
	s.blocked = true
	return 0, ErrAgain
}

// pick returns a or b.
func pick(yes bool, a, b []byte) []byte {
	if yes {
		return a
	}
	return b
}

// copyOut sends one message with bytes of a, then b, through the bounce ring.
func (s *Stream) copyOut(a, b []byte) (n int, ok bool) {
	total := len(a) + len(b)
	if !s.mayPost() {
		return 0, false
	}
	n = total
	long := n > min(smallMessage, int(s.peer.small))
	if long {
		if n = min(n, s.slotRoom()); n == 0 {
			return 0, false
		}
	}
	mem, ok := s.room(n)
	if !ok {
		return 0, false
	}
	copy(mem[copy(mem, a):], b)
	w := Work{Op: OpSend, Mem: mem, Key: s.key}
	if long {
		w = s.write(mem)
	}
	if s.send(w, sending{bounce: n}) != nil {
		return 0, false
	}
	s.Bounced += int64(n)
	return n, true
}

// sendDirect sends data without a copy, and returns the number of bytes that have arrived.
func (s *Stream) sendDirect(data []byte, key uint32) (delivered int) {
	for rest := data[s.delivered+s.posted:]; len(rest) > 0 && s.err == nil; {
		n := min(len(rest), s.slotRoom())
		if n == 0 || !s.mayPost() {
			break
		}
		w := s.write(rest[:n])
		w.Key = key
		if s.send(w, sending{direct: n}) != nil {
			break
		}
		s.posted += n
		s.Direct += int64(n)
		rest = rest[n:]
	}
	s.progress()
	delivered, s.delivered = s.delivered, 0
	return delivered
}

// mayPost reports whether another message may be posted.
func (s *Stream) mayPost() bool {
	return s.pending < len(s.sent)-ownWorks && s.used.slots-s.credit.slots < uint64(s.peer.messages)
}

// write returns a work request that writes mem to the next slot of the other end's window.
func (s *Stream) write(mem []byte) Work {
	i := s.used.windowSlots % windowSlots
	return Work{Op: OpWriteNote, Mem: mem, Key: s.key, Imm: uint32(len(mem)), Remote: s.peer.address + i*uint64(s.peer.slotSize), RemoteKey: s.peer.keys[i]}
}

// slotRoom returns the size of the next slot; 0: it is not writable.
func (s *Stream) slotRoom() int {
	if s.used.windowSlots-s.credit.windowSlots == windowSlots {
		return 0
	}
	return min(slotSize, int(s.peer.slotSize))
}

// room returns n contiguous bytes of the bounce ring. It skips the rest at the ring's end if
// that is too short.
func (s *Stream) room(n int) ([]byte, bool) {
	size := len(s.bounce)
	at := s.copied % size
	skip := 0
	if at+n > size {
		skip, at = size-at, 0
	}
	if s.copied+skip+n-s.free > size {
		return nil, false
	}
	if skip > 0 && s.pending == 0 {
		s.free += skip
	} else if skip > 0 {
		last := &s.sent[(s.head+len(s.sent)-1)%len(s.sent)]
		last.bounce += skip
	}
	s.copied += skip
	return s.bounce[at:][:n:n], true
}

// send posts a work request, and records its bytes until it completes.
func (s *Stream) send(w Work, k sending) error {
	w.ID = uint64(s.head)
	w.Inline = (w.Op == OpSend || w.Op == OpSendNote) && len(w.Mem) <= s.queue.Inline()
	if err := s.queue.Send(w); err != nil {
		s.err = fmt.Errorf("verbs: %s: %v of %d bytes: %w", s.domain.place.Device, w.Op, len(w.Mem), err)
		return s.err
	}
	s.sent[s.head] = k
	s.head = (s.head + 1) % len(s.sent)
	s.pending++
	s.Posted++
	s.copied += k.bounce
	switch w.Op {
	case OpWriteNote:
		if i := s.used.windowSlots % windowSlots; s.peer.keysChange {
			s.peer.keys[i] = nextKey(s.peer.keys[i])
		}
		s.used.windowSlots++
		s.used.slots++
	case OpSend:
		s.used.slots++
	}
	return nil
}

// requestDone handles the completion of a work request. Requests complete in order.
func (s *Stream) requestDone(c *Completion) error {
	first := (s.head + len(s.sent) - s.pending) % len(s.sent)
	if s.pending == 0 || c.ID != uint64(first) {
		return fmt.Errorf("verbs: %s: work request %d has completed, want %d of %d", s.domain.place.Device, c.ID, first, s.pending)
	}
	k := &s.sent[first]
	s.pending--
	s.free += k.bounce
	s.delivered += k.direct
	s.posted -= k.direct
	s.blocked = false
	return nil
}
