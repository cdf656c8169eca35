// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"context"
	"encoding/binary"
	"errors"
	"unsafe"
)

// Enter locks the group against Close for one collective. It returns false if the group is closed. The
// caller then calls Begin, Reduce and Leave.
func (s *Group) Enter() bool {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	return true
}

// Leave unlocks the group after Enter.
func (s *Group) Leave() { s.mu.Unlock() }

// Begin notes that a collective begins, under the owner's lock.
func (s *Group) Begin() { s.first = s.turn + 1 }

// Reduce carries out one all-reduce. The ranks compare their headers. It returns false if the job has
// failed, or ctx has ended.
func (s *Group) Reduce(ctx context.Context, header []byte, t Task) bool {
	s.task = t
	s.announce(header, &s.task)
	ok := s.reduce(ctx, &s.task)
	s.forget()
	return ok
}

// announce writes which collective this rank is in, and where its vectors are, before the rank
// arrives: others read the entry only after that. There are two entries, used in turn,
// because a rank may still read the last one while the next collective begins.
func (s *Group) announce(wire []byte, t *Task) {
	s.calls++
	room := s.places[s.self].headers[s.calls&1]
	le := binary.LittleEndian
	le.PutUint64(room, uint64(len(wire)))
	le.PutUint64(room[headerSrc:], s.InArena(t.Src))
	le.PutUint64(room[HeaderDst:], s.InArena(t.Dst))
	copy(room[headerBytes:], wire)
	s.homes[s.self] = home{}
	if len(t.Dst) > Small {
		s.homes[s.self], _ = s.HomeOf(room, len(t.Dst))
	}
}

// meet compares the collectives of all ranks, which have arrived, and finds where their vectors of n
// bytes are. It returns false if the calls differ, or if a place lies outside the arena: what
// other processes write is not trusted.
func (s *Group) meet(n int) bool {
	for r := range s.places {
		room := s.places[r].headers[s.calls&1]
		if r == s.self {
			continue
		}
		if !s.owner.Agrees(s.Ranks[r], room[headerBytes:], binary.LittleEndian.Uint64(room)) {
			return false
		}
		if s.homes[r] = (home{}); n <= Small {
			continue // all ranks copy it
		}
		var ok bool
		if s.homes[r], ok = s.HomeOf(room, n); !ok {
			s.owner.Corrupt(s.Ranks[r], errors.New("a vector that lies beyond the arena"))
			return false
		}
	}
	return true
}

// InArena returns 1 more than the offset of a vector in the arena; 0: the vector is not in the arena.
func (s *Group) InArena(v []byte) uint64 {
	if len(v) == 0 || len(s.Arena) == 0 {
		return 0
	}
	at := uintptr(unsafe.Pointer(&v[0])) - uintptr(unsafe.Pointer(&s.Arena[0]))
	if at >= uintptr(len(s.Arena)) {
		return 0
	}
	return uint64(at) + 1
}

// HomeOf returns where a rank's vectors of n bytes are, by its entry in the segment. It reports
// false if a vector lies outside the arena.
func (s *Group) HomeOf(room []byte, n int) (h home, ok bool) {
	for _, x := range [2]struct {
		at  uint64
		ptr *unsafe.Pointer
	}{
		{binary.LittleEndian.Uint64(room[headerSrc:]), &h.src},
		{binary.LittleEndian.Uint64(room[HeaderDst:]), &h.dst},
	} {
		switch {
		case x.at == 0:
		case x.at > uint64(len(s.Arena)) || uint64(n) > uint64(len(s.Arena))-(x.at-1):
			return home{}, false
		default:
			*x.ptr = unsafe.Pointer(&s.Arena[x.at-1])
		}
	}
	return h, true
}

// forget drops the references to the caller's memory after a collective.
func (s *Group) forget() {
	s.task = Task{}
	s.summer.forget()
	clear(s.from)
	clear(s.to[:cap(s.to)])
}

// Awaited returns the rank that this one waits for, and whether it has entered the collective; -1:
// it waits for none. It is called under the owner's lock.
func (s *Group) Awaited() (rank int, entered bool) {
	me := &s.places[s.self]
	out, sum, in := me.steps[taken].Load(), me.steps[summed].Load(), me.steps[arrived].Load()
	for _, x := range [stepKinds]struct {
		want bool
		step step
		turn uint64
	}{
		{sum < in, arrived, sum + 1},
		{out < sum, summed, out + 1},
		{true, taken, max(in+1, Depth) - Depth},
	} {
		for r := range s.places {
			if x.want && s.places[r].steps[x.step].Load() < x.turn {
				// The last piece of the call before may be as far as it has come.
				return s.Ranks[r], s.places[r].steps[arrived].Load() >= s.first
			}
		}
	}
	return -1, false
}

// Moved returns a number that grows whenever any rank gets further, or shows that it lives.
func (s *Group) Moved() (moved uint64) {
	for r := range s.places {
		p := &s.places[r]
		moved += p.beats.Load()
		for _, at := range p.steps {
			moved += at.Load()
		}
	}
	return moved
}

// Beat shows the other ranks that this one lives, while it is busy with other hosts.
func (s *Group) Beat() { s.places[s.self].beats.Add(1) }
