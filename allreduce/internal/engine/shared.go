// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/shm"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// nothing is the program of a collective that uses no edge.
var nothing = &schedule.Program{}

var _ shm.Owner = (*Engine)(nil)

// ReduceShared is Run for an all-reduce in shared memory. The edges carry no data, but they are
// still watched: they show that a rank is lost, or makes another call.
func (en *Engine) ReduceShared(ctx context.Context, id CallID, t shm.Task) error {
	defer en.Inject(fault.At(en.Rank, fault.Op))()
	s := en.Shared
	if !s.Enter() {
		return ErrStopped
	}
	defer s.Leave()
	if !en.beginShared(id, t.Among != nil) {
		return ErrStopped
	}
	ok := s.Reduce(ctx, en.Call.wire, t)
	if !ok && ctx.Err() != nil {
		en.giveUp(ctx)
	}
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if !ok || en.Failure != nil {
		return ErrStopped
	}
	en.Active, en.Call.shared = false, false
	en.countShared(len(t.Dst), t.Part)
	en.ended()
	s.Done.Add(1)
	return nil
}

// beginShared is begin for a collective in shared memory. later means that a part between hosts
// follows.
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
	c.wait.asleep, c.wait.slept = true, en.Shared.Slept()
	en.Shared.Begin()
	return true
}

// InterHost carries out the part of a collective in shared memory that goes to other hosts: prog
// over v, which this rank's host has summed. False: the job has failed, or ctx has ended.
func (en *Engine) InterHost(ctx context.Context, prog *schedule.Program, v []byte) bool {
	en.Mu.Lock()
	if en.Stopped() {
		en.Mu.Unlock()
		return false
	}
	c := &en.Call
	c.shared, c.later = false, false
	en.dog.seq = 0 // the clocks of these edges start now
	en.load(prog, v, v)
	en.Wake() // a reader may hold the first parts
	en.progress()
	en.Mu.Unlock()
	en.carry(ctx)
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if en.Active || en.Failure != nil {
		return false
	}
	en.Active, c.shared = true, true
	en.dog.seq = 0
	return true
}

// Agrees compares the header that a rank has announced in shared memory with this rank's.
func (en *Engine) Agrees(rank int, theirs []byte, n uint64) bool {
	if callDigest(theirs) == callDigest(en.Call.wire) {
		return true
	}
	wire := append([]byte(nil), theirs[:min(n, uint64(len(theirs)))]...) // the rank may still write to its own
	if err := checkCall(wire); err != nil {
		en.Corrupt(rank, err)
		return false
	}
	en.Fail(&Failure{
		Code: faultMismatch, By: en.Rank, Rank: rank, Host: en.hostOf(rank),
		calls: [2]CallID{en.Call.ID, decodeCall(wire)},
	}, nil)
	return false
}

// Corrupt fails the job: a rank has written invalid values to shared memory.
func (en *Engine) Corrupt(rank int, err error) {
	err = fmt.Errorf("in shared memory, from %s: %w", link.RankAt(rank, en.hostOf(rank)), err)
	en.Fail(&Failure{Code: FaultGaveUp, By: en.Rank, Rank: en.Rank, Text: err.Error(), Err: err}, nil)
}

// Progress counts bytes of the result.
func (en *Engine) Progress(n int) {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	en.Call.received += int64(n)
}

// Attend has the driver watch the links during a long wait for shared memory.
func (en *Engine) Attend() { en.Driver.Attend() }

// overdueShared returns a failure if a rank has kept this one waiting for too long in shared memory.
func (en *Engine) overdueShared(now time.Time) *Failure {
	s, d := en.Shared, &en.dog
	if moved := s.Moved(); moved != d.moved {
		d.moved, d.since = moved, now
	}
	rank, entered := s.Awaited()
	if rank < 0 {
		return nil
	}
	f := &Failure{Code: faultStalled, By: en.Rank, Rank: rank, Host: en.hostOf(rank), entered: entered, Ask: protocol.EdgeStalls}
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
