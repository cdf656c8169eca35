// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/fault"
)

// nothing is the program of a collective that no edge has a part in.
var nothing = &schedule.Program{}

// reduceShared is run for an all-reduce in the segment. The edges carry nothing, but
// are watched as ever: they tell when a rank is lost, or makes another call.
func (en *engine) reduceShared(ctx context.Context, id callID, t task) error {
	defer en.suffer(fault.At(en.rank, fault.Op))()
	s := en.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !en.beginShared(id, t.among != nil) {
		return errStopped
	}
	s.task = t
	s.announce(en.call.wire, &s.task)
	ok := s.reduce(ctx, &s.task)
	s.forget()
	if !ok && ctx.Err() != nil {
		en.giveUp(ctx)
	}
	en.mu.Lock()
	defer en.mu.Unlock()
	if !ok || en.failure != nil {
		return errStopped
	}
	en.active, en.call.shared = false, false
	s.done.Add(1)
	return nil
}

// beginShared is begin for a collective in the segment. later: other machines follow.
func (en *engine) beginShared(id callID, later bool) bool {
	en.mu.Lock()
	defer en.mu.Unlock()
	if en.stopped() {
		return false
	}
	c := &en.call
	en.number(id)
	en.load(nothing, nil, nil)
	c.later = later
	for _, e := range en.open {
		en.driver.nudge(e) // who reads may hold the header of this call
	}
	en.active, c.shared = true, true
	en.shared.first = en.shared.turn + 1
	return true
}

// announce tells the others which collective this rank is in, and where its vectors are,
// before it arrives.
func (s *shared) announce(wire []byte, t *task) {
	s.calls++
	room := s.places[s.self].calls[s.calls&1]
	le := binary.LittleEndian
	le.PutUint64(room, uint64(len(wire)))
	le.PutUint64(room[callSrc:], s.inArena(t.src))
	le.PutUint64(room[callDst:], s.inArena(t.dst))
	copy(room[callWire:], wire)
	s.homes[s.self] = home{}
	if len(t.dst) > sharedSmall {
		s.homes[s.self], _ = s.homeOf(room, len(t.dst))
	}
}

// meet compares the collectives of all ranks, which have arrived, and learns where their
// vectors of n bytes are. False: they differ.
func (s *shared) meet(n int) bool {
	ours := callDigest(s.en.call.wire)
	for r := range s.places {
		room := s.places[r].calls[s.calls&1]
		if r == s.self {
			continue
		}
		if callDigest(room[callWire:]) != ours {
			s.en.fail(s.differs(r, room), nil)
			return false
		}
		if s.homes[r] = (home{}); n <= sharedSmall {
			continue // everybody copies it
		}
		var ok bool
		if s.homes[r], ok = s.homeOf(room, n); !ok {
			s.en.fail(s.garbled(r, errors.New("a vector that lies beyond the arena")), nil)
			return false
		}
	}
	return true
}

// inArena is 1 more than the place of a vector in the arena; 0: it is not there.
func (s *shared) inArena(v []byte) uint64 {
	if len(v) == 0 || len(s.arena) == 0 {
		return 0
	}
	at := uintptr(unsafe.Pointer(&v[0])) - uintptr(unsafe.Pointer(&s.arena[0]))
	if at >= uintptr(len(s.arena)) {
		return 0
	}
	return uint64(at) + 1
}

// homeOf is where a rank has its vectors of n bytes.
func (s *shared) homeOf(room []byte, n int) (h home, ok bool) {
	for _, x := range [2]struct {
		at  uint64
		ptr *unsafe.Pointer
	}{
		{binary.LittleEndian.Uint64(room[callSrc:]), &h.src},
		{binary.LittleEndian.Uint64(room[callDst:]), &h.dst},
	} {
		switch {
		case x.at == 0:
		case x.at > uint64(len(s.arena)) || uint64(n) > uint64(len(s.arena))-(x.at-1):
			return home{}, false
		default:
			*x.ptr = unsafe.Pointer(&s.arena[x.at-1])
		}
	}
	return h, true
}

// forget drops the callers' memory, which is theirs again.
func (s *shared) forget() {
	s.task = task{}
	s.summer.forget()
	clear(s.from)
	clear(s.to[:cap(s.to)])
}

// garbled is the failure that a rank has written what makes no sense.
func (s *shared) garbled(place int, err error) *failure {
	rank := s.ranks[place]
	err = fmt.Errorf("in shared memory, from %s: %w", rankAt(rank, s.en.hostOf(rank)), err)
	return &failure{code: faultGaveUp, by: s.en.rank, rank: s.en.rank, text: err.Error(), err: err}
}

// differs is the failure that a rank makes another call.
func (s *shared) differs(place int, room []byte) *failure {
	wire := append([]byte(nil), room[callWire:]...)
	wire = wire[:min(binary.LittleEndian.Uint64(room), uint64(len(wire)))]
	if err := checkCall(wire); err != nil {
		return s.garbled(place, err)
	}
	f := &failure{code: faultMismatch, by: s.en.rank, rank: s.ranks[place], host: s.en.hostOf(s.ranks[place])}
	f.calls = [2]callID{s.en.call.id, decodeCall(wire)}
	return f
}

// arrived counts bytes of the result.
func (en *engine) arrived(n int) {
	en.mu.Lock()
	defer en.mu.Unlock()
	en.call.received += int64(n)
}

func (en *engine) hostOf(rank int) string {
	if rank < len(en.peers) {
		return en.peers[rank]
	}
	return ""
}

// lags is a rank that this one waits for, and whether it is in the collective; -1:
// none. Under the engine's lock.
func (s *shared) lags() (rank int, entered bool) {
	me := &s.places[s.self]
	out, sum, in := me.steps[taken].Load(), me.steps[summed].Load(), me.steps[arrived].Load()
	for _, x := range [stepKinds]struct {
		want bool
		step step
		turn uint64
	}{
		{sum < in, arrived, sum + 1},
		{out < sum, summed, out + 1},
		{true, taken, max(in+1, sharedDepth) - sharedDepth},
	} {
		for r := range s.places {
			if x.want && s.places[r].steps[x.step].Load() < x.turn {
				// The last piece of the call before may be as far as it has come.
				return s.ranks[r], s.places[r].steps[arrived].Load() >= s.first
			}
		}
	}
	return -1, false
}

// overdueShared says that a rank has kept this one waiting for too long.
func (en *engine) overdueShared(now time.Time) *failure {
	s, d := en.shared, &en.dog
	var moved uint64
	for r := range s.places {
		p := &s.places[r]
		moved += p.beats.Load()
		for _, at := range p.steps {
			moved += at.Load()
		}
	}
	if moved != d.moved {
		d.moved, d.since = moved, now
	}
	rank, entered := s.lags()
	if rank < 0 {
		return nil
	}
	f := &failure{code: faultStalled, by: en.rank, rank: rank, host: en.hostOf(rank), entered: entered}
	limit := en.limits.maxWait
	f.idle = now.Sub(d.began)
	if entered {
		limit, f.idle = en.limits.stall, now.Sub(d.since)
	}
	if limit > 0 && f.idle >= limit {
		return f
	}
	if !entered {
		return en.unwatched(rank, f.host, d.since, now)
	}
	return nil
}
