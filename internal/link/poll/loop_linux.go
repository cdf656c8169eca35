// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/shm"
)

const (
	// spinFor is how long a rank that waits tries again and again, and lets others run in between,
	// before it sleeps. It is longer than a small message takes, so that the message finds the
	// rank awake, and so short that waiting costs little.
	spinFor = 100 * time.Microsecond
	// announceAfter is how long a rank waits before it announces its collective to all neighbours:
	// those that are in another one should know soon.
	announceAfter = 50 * time.Millisecond
	// clockTurns is the number of turns without progress between two looks at the clock, the
	// context, and the links from which nothing is due.
	clockTurns = 4
	// leastTurns is the least number of turns before a rank sleeps, however long they take. On a
	// busy machine a turn includes the turns of all others that yield, and sleeping costs more.
	leastTurns = 64
	// fewTries is the number of non-blocking tries that cost no more than one poll.
	fewTries = 4
	// flushTick is how often FlushErrors looks for room in shared memory: the peer may not send a
	// wake-up any more.
	flushTick = 5 * time.Millisecond
)

// Loop is the driver over bare sockets: the goroutine that calls a collective moves its bytes, on
// all links, and no other goroutine has to wake up. Between collectives a watcher reads from
// the links, so that it notices a lost peer.
//
// The lock io belongs to the goroutine that reads and writes: the caller, the watcher, or one that
// ends the loop. It is taken before the set's lock. Wake-ups need neither: they set atomic
// flags, and ring the bell if the caller sleeps. The caller sleeps without a tick, since each one
// keeps a thread of the runtime awake for 10 ms. All that can end or change its wait therefore
// rings: bytes and room through the poll, a link by Wake, the work and the set by Loop.Wake, a new
// link by Attach, and the context by a hook.
type Loop struct {
	set      *link.Set
	segments *shm.Segments // rings; under the set's lock
	bell     bell
	watcher  sync.WaitGroup
	watched  bool          // the watcher has started
	attached atomic.Uint32 // how many links have been attached
	conns    []*conn       // by the index of the link; under the set's lock

	io     sync.Mutex // held to read and write
	poll   transport.Poller
	active []*conn // of the work under way
	seen   uint32  // attached, when active was filled
	all    []*conn // as of the last snapshot

	// Of the watcher's wait. If it may miss something after the work, Carry ends it.
	kept    uint32      // attached, when it began
	partial bool        // a link is set aside, or the work may use up the wake-ups of a ring or stream
	rung    bool        // the bell has rung for the watcher, and was not cleared
	aside   atomic.Bool // a link is set aside, and none has been woken since

	onVerbs  bool              // some links are carried by verbs streams
	patience transport.Backoff // of waits for those
}

var _ link.Driver = (*Loop)(nil)

// loops is the number of loops in this process.
var loops atomic.Int32

// New returns the driver of a set whose connections are bare sockets. It makes and opens rings by
// segments, which may change under the set's lock.
func New(s *link.Set, segments *shm.Segments) (link.Driver, error) {
	waker, err := transport.NewWaker()
	if err != nil {
		return nil, err
	}
	loops.Add(1)
	return &Loop{set: s, segments: segments, bell: bell{Waker: waker}, patience: transport.Backoff{Tries: leastTurns, Spin: spinFor}}, nil
}

// Attach takes over the socket of a link. The first one starts the watcher.
func (d *Loop) Attach(l *link.Link) (link.Handle, error) {
	s, err := transport.NewSocket(l.Conn)
	if err != nil {
		return nil, fmt.Errorf("the connection to %s: %w", link.RankAt(l.Rank, l.Host), err)
	}
	c := &conn{l: l, d: d, sock: s}
	c.unsent.Store(true) // a collective may wait for the link
	c.up.Store(true)
	d.conns = append(d.conns, c)
	d.attached.Add(1)
	if !d.watched {
		d.watched = true
		d.watcher.Go(d.watch)
	}
	d.bell.Wake() // there is a new link to wait for
	return c, nil
}

// Attend wakes the watcher, which may have set a link aside until this call.
func (d *Loop) Attend() { d.bell.Wake() }

// Wake wakes the goroutine in Carry.
func (d *Loop) Wake() { d.bell.wake() }

// Upgrades returns true.
func (d *Loop) Upgrades() bool { return true }

// Carry moves the bytes of the work until it is done, the set has failed or ended, or ctx has ended.
func (d *Loop) Carry(ctx context.Context, done <-chan struct{}, links []*link.Link) {
	d.io.Lock()
	d.selectActive(links)
	l, err := d.loop(ctx, done, links)
	if !d.rung && (d.partial || d.attached.Load() != d.kept) {
		d.rung = true
		d.bell.Wake() // the watcher looks at all links again
	}
	d.io.Unlock()
	if err != nil {
		l.Fail(err)
	}
}

// selectActive fills active with those of the links that are open. Links that open during the work are
// noticed by the count attached.
func (d *Loop) selectActive(links []*link.Link) {
	d.set.Mu.Lock()
	defer d.set.Mu.Unlock()
	d.seen = d.attached.Load()
	d.active = d.active[:0]
	for _, l := range links {
		if l.IsOpen() {
			d.active = append(d.active, d.conns[l.Index])
		}
	}
}

// loop is Carry, with io held. It returns the link that has failed.
//
// Each turn tries what can be done. Turns without progress yield to other threads. After spinFor, and
// at least leastTurns turns, the rank sleeps until news come: on a busy machine the ranks that
// it waits for need the processor.
func (d *Loop) loop(ctx context.Context, done <-chan struct{}, links []*link.Link) (*link.Link, error) {
	var idle time.Time
	announced, turns, slept := false, 0, 0
	for {
		if d.attached.Load() != d.seen {
			d.selectActive(links)
		}
		d.selectReady(turns) // before another rank has its turn: what is due may be there
		moved, l, err := d.pollOnce(d.active)
		if err != nil {
			return l, err
		}
		select {
		case <-done:
			return nil, nil
		default:
		}
		switch {
		case d.set.Down():
			return nil, nil
		case moved:
			if d.onVerbs && slept > 0 {
				d.patience.Slept(time.Since(idle))
			}
			idle, turns, slept = time.Time{}, 0, 0
			continue
		}
		turns++
		switch {
		case turns%clockTurns != 1: // the clock and the context cost as much as a try
		case ctx.Err() != nil:
			return nil, nil
		case idle.IsZero():
			idle = time.Now()
		case d.patience.Over(turns+slept, idle):
			if !announced && time.Since(idle) > announceAfter {
				announced = true
				d.set.Owner.Announce()
			}
			limit := time.Duration(-1)
			if !announced {
				limit = max(0, announceAfter-time.Since(idle))
			}
			ended, l, err := d.sleep(ctx, done, limit)
			if err != nil || ended {
				return l, err
			}
			turns, slept = 0, leastTurns
			continue
		}
		if loops.Load() > 1 {
			runtime.Gosched() // to other ranks in this process; it wakes a thread, so it is done only where there are some
		}
		transport.Yield()
	}
}

// pollOnce does once on each connection what can be done now: a step of an upgrade, a write, a read.
// moved reports progress. A failure ends the turn, since it ends the job.
func (d *Loop) pollOnce(conns []*conn) (moved bool, l *link.Link, err error) {
	for _, c := range conns {
		if !c.up.Load() {
			continue
		}
		if c.l.UpgradeDue() {
			if err := c.l.Upgrade(); err != nil {
				return moved, c.l, err
			}
		}
		out := c.push()
		in, err := c.pull()
		if err != nil {
			return moved, c.l, err
		}
		moved = moved || out || in
	}
	return moved, nil, nil
}

// selectReady marks the connections that the next pollOnce reads and writes. Trying a few is cheaper
// than asking the system, and most often the chunks that may come now are those that come
// next. All others are tried now and then, and also where this rank cannot write: then its
// peers may be unable to write, too.
func (d *Loop) selectReady(turns int) {
	all := turns%clockTurns == clockTurns-1
	for _, c := range d.active {
		all = all || c.blocked
	}
	tries := 0
	for _, c := range d.active {
		// Looking at a verbs stream costs less than a poll, which would not find it.
		v := &c.l.Verbs
		d.onVerbs = d.onVerbs || v.In
		c.ready = c.ready || v.In && c.up.Load() && !c.held
		c.blocked = c.blocked && !v.Out
		c.wanted = c.up.Load() && !c.held && !c.ready && (all || c.l.Handler.Due())
		if c.ring != nil && c.up.Load() && c.pollRing() {
			continue
		}
		if c.wanted {
			tries++
		}
		if c.blocked {
			tries++
		}
	}
	if tries <= fewTries {
		for _, c := range d.active {
			c.ready = c.ready || c.wanted
			c.blocked = false
		}
		return
	}
	d.poll.Clear()
	d.add(d.active)
	d.poll.Wait(0)
	d.mark(d.active)
}

// add lets the next poll wait for connections.
func (d *Loop) add(conns []*conn) {
	for _, c := range conns {
		c.place = -1
		if c.up.Load() {
			c.awaitIn(&d.poll, !c.held && !c.ready, c.blocked)
		}
	}
}

// mark takes what the poll has found.
func (d *Loop) mark(conns []*conn) {
	for _, c := range conns {
		if c.place >= 0 { // else it was not up when the wait began
			c.awaited(&d.poll)
		}
	}
}

// sleep waits until any connection can be read or written, or the bell rings, and at most for limit;
// below 0, without a limit. It watches all links, not only the active ones: the end of any rank
// concerns the job. Between prepare and commit everything is tried once more (see bell). ended: done
// was received, or the set has failed or ended.
func (d *Loop) sleep(ctx context.Context, done <-chan struct{}, limit time.Duration) (ended bool, l *link.Link, err error) {
	d.bell.prepare()
	defer d.bell.wakeUp()
	d.snapshot()
	moved, l, err := d.pollOnce(d.all)
	if err != nil || moved {
		return false, l, err
	}
	select {
	case <-done:
		return true, nil, nil
	default:
	}
	if d.set.Over() {
		return true, nil, nil
	}
	d.bell.hook(ctx)
	if ctx.Err() != nil {
		return false, nil, nil // the next turn returns
	}
	d.poll.Clear()
	d.add(d.all)
	d.poll.AddWaker(d.bell.Waker)
	if news := armVerbs(d.all); armRings(d.all) || news || !d.bell.commit() {
		limit = 0
	}
	d.poll.Wait(int64(limit))
	disarmRings(d.all)
	d.mark(d.all)
	d.bell.Clear()
	d.rung = false
	return false, nil, nil
}

// snapshot fills all with the open connections.
func (d *Loop) snapshot() {
	d.set.Mu.Lock()
	defer d.set.Mu.Unlock()
	d.all = append(d.all[:0], d.conns...)
}

// FlushErrors writes the last frames, and frames that were begun before them: a peer can decode the last
// frame only after a whole one.
func (d *Loop) FlushErrors() {
	d.bell.Wake()
	d.io.Lock()
	defer d.io.Unlock()
	d.snapshot()
	deadline := time.Now().Add(link.FlushWithin)
	for {
		d.poll.Clear()
		due := d.all[:0]
		for _, c := range d.all {
			if !c.up.Load() || !c.l.HasLast() {
				continue
			}
			for c.push() && c.l.HasLast() {
			}
			if c.full {
				c.awaitIn(&d.poll, false, true)
				due = append(due, c)
			}
		}
		left := min(time.Until(deadline), flushTick)
		if d.all = due; len(due) == 0 || left <= 0 {
			return
		}
		if armVerbs(due) {
			continue
		}
		d.poll.Wait(int64(left))
		d.mark(due)
	}
}

// Stop closes the connections.
func (d *Loop) Stop() {
	d.bell.Wake()
	d.io.Lock()
	defer d.io.Unlock()
	d.bell.Wake() // for the watcher: the caller may have taken the first for its own
	d.bell.hook(context.Background())
	d.snapshot()
	d.flushVerbs()
	for _, c := range d.all {
		if c.up.Swap(false) {
			c.closeVerbs()
			c.sock.Close()
		}
	}
}

// Cut shuts the connections down. The sockets stay, and read as ended.
func (d *Loop) Cut() {
	d.bell.Wake()
	d.io.Lock()
	defer d.io.Unlock()
	d.snapshot()
	for _, c := range d.all {
		if c.up.Load() {
			c.sock.Shut()
			if c.l.Stream != nil {
				_ = c.l.Stream.Break() // it may be broken already
			}
		}
	}
}

// Wait waits until the watcher has ended.
func (d *Loop) Wait() {
	d.watcher.Wait()
	d.io.Lock()
	d.poll.Close()
	d.io.Unlock()
	if d.bell.Close() {
		loops.Add(-1)
	}
}
