// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/link"
)

// nothing is the program of a collective that no edge has a part in.
var nothing = &schedule.Program{}

// ReduceShared is run for an all-reduce in the segment. The edges carry nothing, but
// are watched as ever: they tell when a rank is lost, or makes another call.
func (en *Engine) ReduceShared(ctx context.Context, id CallID, t Task) error {
	defer en.Suffer(fault.At(en.Rank, fault.Op))()
	s := en.Shared
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !en.beginShared(id, t.Among != nil) {
		return ErrStopped
	}
	s.task = t
	s.announce(en.Call.wire, &s.task)
	ok := s.reduce(ctx, &s.task)
	s.forget()
	if !ok && ctx.Err() != nil {
		en.giveUp(ctx)
	}
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if !ok || en.Failure != nil {
		return ErrStopped
	}
	en.Active, en.Call.shared = false, false
	s.Done.Add(1)
	return nil
}

// beginShared is begin for a collective in the segment. later: other machines follow.
func (en *Engine) beginShared(id CallID, later bool) bool {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if en.Stopped() {
		return false
	}
	c := &en.Call
	en.number(id)
	en.load(nothing, nil, nil)
	c.later = later
	en.Wake() // a reader may hold the header of this call
	en.Active, c.shared = true, true
	en.Shared.first = en.Shared.turn + 1
	return true
}

// announce tells the others which collective this rank is in, and where its vectors are,
// before it arrives.
func (s *Shared) announce(wire []byte, t *Task) {
	s.calls++
	room := s.places[s.self].calls[s.calls&1]
	le := binary.LittleEndian
	le.PutUint64(room, uint64(len(wire)))
	le.PutUint64(room[callSrc:], s.InArena(t.Src))
	le.PutUint64(room[CallDst:], s.InArena(t.Dst))
	copy(room[callWire:], wire)
	s.homes[s.self] = home{}
	if len(t.Dst) > SharedSmall {
		s.homes[s.self], _ = s.HomeOf(room, len(t.Dst))
	}
}

// meet compares the collectives of all ranks, which have arrived, and learns where their
// vectors of n bytes are. False: they differ.
func (s *Shared) meet(n int) bool {
	ours := callDigest(s.en.Call.wire)
	for r := range s.places {
		room := s.places[r].calls[s.calls&1]
		if r == s.self {
			continue
		}
		if callDigest(room[callWire:]) != ours {
			s.en.Fail(s.differs(r, room), nil)
			return false
		}
		if s.homes[r] = (home{}); n <= SharedSmall {
			continue // everybody copies it
		}
		var ok bool
		if s.homes[r], ok = s.HomeOf(room, n); !ok {
			s.en.Fail(s.garbled(r, errors.New("a vector that lies beyond the arena")), nil)
			return false
		}
	}
	return true
}

// InArena is 1 more than the place of a vector in the arena; 0: it is not there.
func (s *Shared) InArena(v []byte) uint64 {
	if len(v) == 0 || len(s.Arena) == 0 {
		return 0
	}
	at := uintptr(unsafe.Pointer(&v[0])) - uintptr(unsafe.Pointer(&s.Arena[0]))
	if at >= uintptr(len(s.Arena)) {
		return 0
	}
	return uint64(at) + 1
}

// HomeOf is where a rank has its vectors of n bytes.
func (s *Shared) HomeOf(room []byte, n int) (h home, ok bool) {
	for _, x := range [2]struct {
		at  uint64
		ptr *unsafe.Pointer
	}{
		{binary.LittleEndian.Uint64(room[callSrc:]), &h.src},
		{binary.LittleEndian.Uint64(room[CallDst:]), &h.dst},
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

// forget drops the callers' memory, which is theirs again.
func (s *Shared) forget() {
	s.task = Task{}
	s.summer.forget()
	clear(s.from)
	clear(s.to[:cap(s.to)])
}

// garbled is the failure that a rank has written what makes no sense.
func (s *Shared) garbled(place int, err error) *Failure {
	rank := s.Ranks[place]
	err = fmt.Errorf("in shared memory, from %s: %w", link.RankAt(rank, s.en.hostOf(rank)), err)
	return &Failure{Code: FaultGaveUp, By: s.en.Rank, Rank: s.en.Rank, Text: err.Error(), Err: err}
}

// differs is the failure that a rank makes another call.
func (s *Shared) differs(place int, room []byte) *Failure {
	wire := append([]byte(nil), room[callWire:]...)
	wire = wire[:min(binary.LittleEndian.Uint64(room), uint64(len(wire)))]
	if err := checkCall(wire); err != nil {
		return s.garbled(place, err)
	}
	f := &Failure{Code: faultMismatch, By: s.en.Rank, Rank: s.Ranks[place], Host: s.en.hostOf(s.Ranks[place])}
	f.calls = [2]CallID{s.en.Call.Id, decodeCall(wire)}
	return f
}

// arrived counts bytes of the result.
func (en *Engine) arrived(n int) {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	en.Call.received += int64(n)
}

func (en *Engine) hostOf(rank int) string {
	if rank < len(en.Peers) {
		return en.Peers[rank]
	}
	return ""
}

// lags is a rank that this one waits for, and whether it is in the collective; -1:
// none. Under the engine's lock.
func (s *Shared) lags() (rank int, entered bool) {
	me := &s.places[s.self]
	out, sum, in := me.steps[taken].Load(), me.steps[summed].Load(), me.steps[arrived].Load()
	for _, x := range [stepKinds]struct {
		want bool
		step step
		turn uint64
	}{
		{sum < in, arrived, sum + 1},
		{out < sum, summed, out + 1},
		{true, taken, max(in+1, SharedDepth) - SharedDepth},
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

// overdueShared says that a rank has kept this one waiting for too long.
func (en *Engine) overdueShared(now time.Time) *Failure {
	s, d := en.Shared, &en.dog
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
	f := &Failure{Code: faultStalled, By: en.Rank, Rank: rank, Host: en.hostOf(rank), entered: entered}
	limit := en.Limits.MaxWait
	f.idle = now.Sub(d.began)
	if entered {
		limit, f.idle = en.Limits.Stall, now.Sub(d.since)
	}
	if limit > 0 && f.idle >= limit {
		return f
	}
	if !entered {
		return en.unwatched(rank, f.Host, d.since, now)
	}
	return nil
}
