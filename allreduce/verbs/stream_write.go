// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"fmt"
)

// Write sends head, then data: as much of them as there is room for, ErrAgain if that is
// nothing. What it says is written may be changed. Long data from registered memory is
// sent from where it is, and said to be written when it has arrived: until then
// Write is called with the same data, from the first byte that is not written.
func (s *Stream) Write(head, data []byte) (n int, err error) {
	if s.closed || !s.linked {
		return 0, errClosed
	}
	s.progress()
	direct, key := false, uint32(0)
	if under := s.posted+s.landed > 0; under || len(data) >= directLeast {
		if key, direct = s.domain.keyOf(data); under && !direct {
			panic("BUG: verbs: other data than before is written")
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
		s.stuck = false
		return n, nil
	case s.err != nil:
		return 0, s.err
	}
	s.stuck = true
	return 0, ErrAgain
}

func pick(yes bool, a, b []byte) []byte {
	if yes {
		return a
	}
	return b
}

// copyOut sends a, then b, by way of the bounce ring: one message of them.
func (s *Stream) copyOut(a, b []byte) (n int, ok bool) {
	total := len(a) + len(b)
	if !s.mayPost() {
		return 0, false
	}
	n = total
	long := n > min(smallMessage, int(s.peer.small))
	if long {
		if n = min(n, s.paneRoom()); n == 0 {
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

// sendDirect sends data from where it is, and returns how much of it has arrived.
func (s *Stream) sendDirect(data []byte, key uint32) (landed int) {
	for rest := data[s.landed+s.posted:]; len(rest) > 0 && s.err == nil; {
		n := min(len(rest), s.paneRoom())
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
	landed, s.landed = s.landed, 0
	return landed
}

// mayPost says that there is room for one more message.
func (s *Stream) mayPost() bool {
	return s.flying < len(s.sent)-ownWorks && s.used.slots-s.given.slots < uint64(s.peer.slots)
}

// write is a work request that puts mem into the next pane of the other end's window.
func (s *Stream) write(mem []byte) Work {
	i := s.used.panes % panes
	return Work{Op: OpWriteNote, Mem: mem, Key: s.key, Imm: uint32(len(mem)), Remote: s.peer.address + i*uint64(s.peer.pane), RemoteKey: s.peer.keys[i]}
}

// paneRoom is how much the next pane takes; 0: none is open.
func (s *Stream) paneRoom() int {
	if s.used.panes-s.given.panes == panes {
		return 0
	}
	return min(paneSize, int(s.peer.pane))
}

// room is so many bytes of the bounce ring, in one piece. Those left over at its end are
// not used.
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
	if skip > 0 && s.flying == 0 {
		s.free += skip
	} else if skip > 0 {
		last := &s.sent[(s.head+len(s.sent)-1)%len(s.sent)]
		last.bounce += skip
	}
	s.copied += skip
	return s.bounce[at:][:n:n], true
}

// send posts a work request, and keeps what it holds until it completes.
func (s *Stream) send(w Work, k sending) error {
	w.ID = uint64(s.head)
	w.Inline = (w.Op == OpSend || w.Op == OpSendNote) && len(w.Mem) <= s.queue.Inline()
	if err := s.queue.Send(w); err != nil {
		s.err = fmt.Errorf("verbs: %s: %v of %d bytes: %w", s.domain.place.Device, w.Op, len(w.Mem), err)
		return s.err
	}
	s.sent[s.head] = k
	s.head = (s.head + 1) % len(s.sent)
	s.flying++
	s.Posted++
	s.copied += k.bounce
	switch w.Op {
	case OpWriteNote:
		if i := s.used.panes % panes; s.peer.turns {
			s.peer.keys[i] = nextKey(s.peer.keys[i])
		}
		s.used.panes++
		s.used.slots++
	case OpSend:
		s.used.slots++
	}
	return nil
}

// gone follows the completion of a work request; they complete in order.
func (s *Stream) gone(c *Completion) error {
	first := (s.head + len(s.sent) - s.flying) % len(s.sent)
	if s.flying == 0 || c.ID != uint64(first) {
		return fmt.Errorf("verbs: %s: work request %d has completed, want %d of %d", s.domain.place.Device, c.ID, first, s.flying)
	}
	k := &s.sent[first]
	s.flying--
	s.free += k.bounce
	s.landed += k.direct
	s.posted -= k.direct
	s.stuck = false
	return nil
}
