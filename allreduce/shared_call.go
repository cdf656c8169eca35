// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

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
	if s.closed || !en.beginShared(id) {
		return errStopped
	}
	s.announce(en.call.wire)
	s.task = t
	ok := s.reduce(ctx, &s.task)
	s.task = task{} // the caller's memory is its own again
	if !ok && ctx.Err() != nil {
		en.giveUp(ctx)
	}
	en.mu.Lock()
	defer en.mu.Unlock()
	if !ok || en.failure != nil {
		return errStopped
	}
	en.active, en.call.shared = false, false
	return nil
}

// beginShared is begin for a collective in the segment.
func (en *engine) beginShared(id callID) bool {
	en.mu.Lock()
	defer en.mu.Unlock()
	if en.stopped() {
		return false
	}
	c := &en.call
	en.number(id)
	c.prog, c.dst, c.src = nothing, nil, nil
	c.started, c.received = time.Now(), 0
	for _, e := range c.edges {
		e.peer = noPeer
	}
	c.edges = c.edges[:0]
	for _, e := range en.open {
		en.driver.nudge(e) // who reads may hold the header of this call
	}
	en.active, c.shared = true, true
	en.shared.first = en.shared.turn + 1
	return true
}

// announce tells the others which collective this rank is in, before it arrives.
func (s *shared) announce(wire []byte) {
	s.calls++
	room := s.places[s.rank].calls[s.calls&1]
	binary.LittleEndian.PutUint64(room, uint64(len(wire)))
	copy(room[8:], wire)
}

// meet compares the collectives of all ranks, which have arrived. False: they differ.
func (s *shared) meet() bool {
	ours := callDigest(s.en.call.wire)
	for r := range s.places {
		room := s.places[r].calls[s.calls&1]
		if r == s.rank || callDigest(room[8:]) == ours {
			continue
		}
		s.en.fail(s.differs(r, room), nil)
		return false
	}
	return true
}

// differs is the failure that a rank makes another call.
func (s *shared) differs(rank int, room []byte) *failure {
	wire := append([]byte(nil), room[8:]...)
	wire = wire[:min(binary.LittleEndian.Uint64(room), uint64(len(wire)))]
	f := &failure{code: faultMismatch, by: s.rank, rank: rank, host: s.en.hostOf(rank)}
	if err := checkCall(wire); err != nil {
		err = fmt.Errorf("in shared memory, from %s: %w", rankAt(rank, f.host), err)
		return &failure{code: faultGaveUp, by: s.rank, rank: s.rank, text: err.Error(), err: err}
	}
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
	turn := s.places[s.rank].arrived.Load()
	summed := s.places[s.rank].summed.Load() == turn
	if r := s.behind(0, false, turn); r >= 0 {
		// The last piece of the call before may be as far as it has come.
		return r, s.places[r].arrived.Load() >= s.first
	}
	if summed {
		return s.behind(0, true, turn), true
	}
	return -1, false
}

// overdueShared says that a rank has kept this one waiting for too long.
func (en *engine) overdueShared(now time.Time) *failure {
	s, d := en.shared, &en.dog
	var moved uint64
	for r := range s.places {
		moved += s.places[r].arrived.Load() + s.places[r].summed.Load()
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
	f.idle = now.Sub(en.call.started)
	if entered {
		limit, f.idle = en.limits.stall, now.Sub(d.since)
	}
	if limit > 0 && f.idle >= limit {
		return f
	}
	return nil
}
