// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

// engine carries out the collectives of one epoch, one after the other: it is
// the driver of package schedule's flows over net.Conn.
//
// Each edge has a reader, which watches it also when nothing is pending. Work
// is done where it turns up: the reader that brings the last missing part adds it
// and sends the sum on, so a small message crosses a rank without
// changing goroutines. The caller of the collective does what can be done without
// anybody's bytes, then waits.
type engine struct {
	rank   int
	stream bool // vw's raw stream
	place  schedule.Place
	opt    schedule.Options
	noSum  bool
	limits limits
	log    *slog.Logger
	failed chan struct{}  // closed with the first failure
	onFail func(*failure) // called once, after that

	edges   [schedule.Edges]*edge // nil: not there
	readers sync.WaitGroup

	mu      sync.Mutex
	call    call   // the one that is active, or the last one
	before  callID // the one before it
	active  bool
	leaving bool // the next collective is the first after the job's last pass
	working bool // the rank is in a step's Work: it needs all its peers again
	ending  bool // edges may end from now on
	failure *failure
	where   Where // at the time of the failure
	dog     watchdog
}

// limits are the clocks of a collective.
type limits struct {
	stall   time.Duration // no byte moved, both in the collective
	maxWait time.Duration // a rank has not entered; 0: no limit
}

// call is one collective.
type call struct {
	id       callID
	wire     []byte // id, encoded
	flow     schedule.Flow
	dst, src []byte
	sums     []partSum // of the parts of the result
	started  time.Time
	received int64
	done     chan struct{} // capacity 1: it is finished
}

// partSum is the checksum of a part that is sent more than once.
type partSum struct {
	known bool
	sum   uint32
}

// errStopped tells a goroutine of the engine that it is all over.
var errStopped = errors.New("allreduce: the engine has stopped")

func (en *engine) start() {
	en.call.done = make(chan struct{}, 1)
	for _, e := range en.edges {
		if e != nil {
			en.readers.Go(e.serve)
		}
	}
}

// run carries out one collective: flow over dst, with this rank's contribution
// in src, which may be dst. It returns errStopped when the job fails.
func (en *engine) run(ctx context.Context, id callID, flow schedule.Flow, dst, src []byte) error {
	c := &en.call
	en.mu.Lock()
	if en.stopped() {
		en.mu.Unlock()
		return errStopped
	}
	id.seq = c.id.seq + 1
	en.before = c.id
	c.id, c.flow, c.dst, c.src = id, flow, dst, src
	c.started, c.received = time.Now(), 0
	if !en.stream {
		c.wire = c.id.appendTo(c.wire[:0])
		c.resetSums(en.opt.PartSize)
	}
	en.active = true
	if gone := en.gone(); gone != nil {
		en.mu.Unlock()
		en.fail(gone, nil)
		return errStopped
	}
	a, ok := flow.Next(schedule.Self)
	en.progress()
	en.mu.Unlock()

	en.work(schedule.Self, a, ok)
	select {
	case <-c.done:
		return nil
	case <-en.failed:
	case <-ctx.Done():
		en.fail(&failure{code: faultGaveUp, by: en.rank, rank: en.rank, text: context.Cause(ctx).Error(), err: context.Cause(ctx)}, nil)
	}
	return errStopped
}

func (c *call) resetSums(part int) {
	n := max(1, (len(c.dst)+part-1)/part)
	if cap(c.sums) < n {
		c.sums = make([]partSum, n)
	}
	c.sums = c.sums[:n]
	clear(c.sums)
}

// work carries out action a, if ok, and all that by may do after it.
func (en *engine) work(by int, a schedule.Action, ok bool) {
	for ok {
		if !en.carryOut(a) {
			return
		}
		en.mu.Lock()
		if en.failure != nil {
			en.mu.Unlock()
			return
		}
		en.call.flow.Done(a)
		a, ok = en.call.flow.Next(by)
		en.progress()
		en.mu.Unlock()
	}
}

// progress follows every change of the flow, under the lock: it wakes the readers
// that wait for one, and the caller at the end.
func (en *engine) progress() {
	for _, e := range en.edges {
		if e != nil && e.parked {
			e.parked = false
			e.wake <- struct{}{} // capacity 1, and only the parked reader takes it
		}
	}
	if en.active && en.call.flow.Finished() {
		en.active, en.leaving = false, false
		en.call.done <- struct{}{}
	}
}

// carryOut does an action. False: the edge is broken.
func (en *engine) carryOut(a schedule.Action) bool {
	c := &en.call
	e := en.edges[a.Edge]
	own := c.dst[a.Part.Lo:a.Part.Hi]
	if a.Own {
		own = c.src[a.Part.Lo:a.Part.Hi]
	}
	if a.Verb == schedule.Send {
		return e.send(own, en.sumFor(a, own))
	}
	dst, received := c.dst[a.Part.Lo:a.Part.Hi], e.slots[a.Slot][:a.Part.Hi-a.Part.Lo]
	if a.Lower {
		combine(c.id.kind, c.id.op, dst, received, own)
	} else {
		combine(c.id.kind, c.id.op, dst, own, received)
	}
	return true
}

// sumFor is the checksum of a part. What comes down the tree, or is broadcast, is
// sent on as it came, so its checksum is computed only once.
func (en *engine) sumFor(a schedule.Action, data []byte) uint32 {
	if en.noSum || en.stream {
		return 0
	}
	if a.Edge == schedule.Up && en.call.id.verb != verbBroadcast {
		return checksum(data)
	}
	s := &en.call.sums[a.Part.Index]
	en.mu.Lock()
	known, sum := s.known, s.sum
	en.mu.Unlock()
	if known {
		return sum
	}
	sum = checksum(data)
	en.mu.Lock()
	*s = partSum{true, sum}
	en.mu.Unlock()
	return sum
}

// expect waits until the next part of e may come, and says where it goes. The
// whole of it is buf. False: it is all over, or e is broken.
func (en *engine) expect(e *edge) (r schedule.Receive, buf []byte, ok bool) {
	en.mu.Lock()
	defer en.mu.Unlock()
	for !en.stopped() && !e.broken {
		if r, ok = en.call.flow.Expect(e.index); ok {
			if r.Slot == schedule.Straight {
				return r, en.call.dst[r.Part.Lo:r.Part.Hi], true
			}
			return r, e.slot(r.Slot, en.opt.PartSize)[:r.Part.Hi-r.Part.Lo], true
		}
		en.park(e)
	}
	return r, nil, false
}

// stopped says that nothing goes on; under the lock.
func (en *engine) stopped() bool { return en.failure != nil || en.ending }

// park releases the lock until something has changed.
func (en *engine) park(e *edge) {
	e.parked = true
	en.mu.Unlock()
	select {
	case <-e.wake:
	case <-en.failed:
	}
	en.mu.Lock()
	e.parked = false
}

// arrived takes note of a part that the reader of e has put where it belongs, and
// does what can be done now.
func (en *engine) arrived(e *edge, r schedule.Receive, sum partSum) {
	en.mu.Lock()
	if en.failure != nil {
		en.mu.Unlock()
		return
	}
	c := &en.call
	c.received += int64(r.Part.Hi - r.Part.Lo)
	if sum.known && r.Slot == schedule.Straight && (e.index == schedule.Up || c.id.verb == verbBroadcast) {
		c.sums[r.Part.Index] = sum
	}
	c.flow.Arrived(e.index)
	a, ok := c.flow.Next(e.index)
	en.progress()
	en.mu.Unlock()
	en.work(e.index, a, ok)
}

// fail ends everything, for the first reason that is given. The edge from is the
// one that brought the news, if any.
func (en *engine) fail(f *failure, from *edge) {
	en.mu.Lock()
	if en.failure != nil || en.ending {
		en.mu.Unlock()
		return
	}
	en.failure = f
	en.where = en.here()
	close(en.failed)
	en.mu.Unlock()
	if en.stream {
		en.closeEdges() // it is all the news that vw understands
	} else {
		en.spread(f, from)
	}
	en.onFail(f)
}

// spread tells the other neighbours, all at once.
func (en *engine) spread(f *failure, from *edge) {
	var told sync.WaitGroup
	for _, e := range en.edges {
		if e != nil && e != from {
			told.Go(func() { e.sendFault(f) })
		}
	}
	told.Wait() // bounded: faultPatience, twice
}

// here is what this rank is doing; under the lock.
func (en *engine) here() Where {
	w := Where{Rank: en.rank}
	if en.active {
		w.Call = en.call.id.String()
		w.Elapsed = time.Since(en.call.started)
		w.Received = en.call.received
		w.Waiting = en.waitText()
	}
	return w
}

// closeEdges breaks all connections, which ends the readers.
func (en *engine) closeEdges() {
	for _, e := range en.edges {
		if e != nil {
			e.close()
		}
	}
}
