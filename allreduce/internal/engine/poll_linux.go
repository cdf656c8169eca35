// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/link"
)

const (
	// tellAfter is how long a rank waits before it tells all its neighbours which
	// collective it is in: those that are in another one should know soon.
	tellAfter = 50 * time.Millisecond
	// ctxTick is how often a rank asleep in a collective looks at its context.
	ctxTick = 20 * time.Millisecond
	// keepTick is how often the keeper looks whether a collective is under way;
	// keepMax is how often when one is for long.
	keepTick = 20 * time.Millisecond
	keepMax  = 200 * time.Millisecond
	// clockTurns is how many turns without news go by between two looks at the clock,
	// the context and the edges from which nothing is due.
	clockTurns = 4
	// leastTurns is how many turns a rank makes before it sleeps, however long they take:
	// on a busy machine a turn is a turn of all who yield, and sleeping costs more.
	leastTurns = 64
	// fewTries is up to how many tries are cheaper than a poll.
	fewTries = 4
	// farewellTick is how often who says farewell looks whether there is room for it in
	// memory: nobody can be trusted to call.
	farewellTick = 5 * time.Millisecond
	// smallData is up to where data is copied behind its header: one piece of memory
	// costs the system less than two.
	smallData = 512
)

// pollLoop is the driver over bare sockets: who calls a collective moves its bytes,
// on all edges, and no other goroutine is woken for it. Between collectives
// a keeper watches the edges.
type pollLoop struct {
	en     *Engine
	bell   *transport.Bell
	asleep atomic.Bool // the caller: who has news rings
	keeper sync.WaitGroup
	kept   bool

	io   sync.Mutex // held by who reads and writes
	poll transport.Poller
	all  []*Edge // the open edges, as of the last long look

	lifted   bool               // some go over lanes
	patience transport.Patience // of waits for those
}

// polled is an edge's share of a pollLoop, of who holds io.
type polled struct {
	up      atomic.Bool // sock is there
	sock    socket
	pipe    *transport.Pipe // is sock, where that may go through memory
	place   int             // in the poller
	beside  int             // of its lane
	ready   bool            // there may be something to read
	held    bool            // what has been read waits for this rank's own calls
	unsent  atomic.Bool     // there may be something new to write
	freed   atomic.Bool     // what is held may go on
	rise    atomic.Bool     // its lift may come further
	wanted  bool            // of glance: it is worth a read
	blocked bool            // there was no room to write
	at      int             // how much of the outbox is written
	full    bool            // the outbox is not written yet
}

// socket is what a loop can drive without ever waiting for it.
type socket interface {
	Read(b []byte) (int, error)
	Write(head, data []byte) (int, error)
	FD() int // which a poll finds ready
	Shut()   // ends the connection, both ways; the descriptor stays
	Close() error
}

// loops is how many there are in this process.
var loops atomic.Int32

// NewPollLoop returns the driver that serves all edges of en by one epoll loop.
func NewPollLoop(en *Engine) (Driver, error) {
	bell, err := transport.NewBell()
	if err != nil {
		return nil, err
	}
	loops.Add(1)
	return &pollLoop{en: en, bell: bell, patience: transport.Patience{Turns: leastTurns, Spin: spinFor}}, nil
}

func (d *pollLoop) attach(e *Edge) error {
	s, err := transport.NewSocket(e.Conn)
	if err != nil {
		return fmt.Errorf("the connection to %s: %w", link.RankAt(e.Rank, e.Host), err)
	}
	e.sock = s
	e.liftNews()
	e.unsent.Store(true) // a collective may wait for it
	e.up.Store(true)
	if !d.kept {
		d.kept = true
		d.keeper.Go(d.keep)
	}
	d.bell.Ring() // a new edge to wait for
	return nil
}

func (d *pollLoop) nudge(e *Edge) {
	e.unsent.Store(true)
	e.freed.Store(true)
	if d.asleep.Load() {
		d.bell.Ring()
	}
}

// attend wakes the keeper, which may have put an edge aside until this call.
func (d *pollLoop) attend() { d.bell.Ring() }

func (d *pollLoop) carry(ctx context.Context) {
	d.io.Lock()
	from, f := d.loop(ctx)
	d.io.Unlock()
	switch {
	case f != nil:
		d.en.Fail(f, from)
	case ctx.Err() != nil && d.en.underWay():
		d.en.giveUp(ctx)
	}
}

// loop moves the bytes of a collective until it is finished, or the job has failed,
// or ctx has ended.
func (d *pollLoop) loop(ctx context.Context) (from *Edge, f *Failure) {
	c := &d.en.Call
	var idle time.Time
	told, turns, slept := false, 0, 0
	for {
		d.glance(c.edges, turns) // before another rank has its turn: what is due may be there
		moved, from, f := d.sweep(c.edges)
		switch {
		case f != nil:
			return from, f
		case c.finished.Load():
			<-c.Done
			return nil, nil
		case d.en.down.Load():
			return nil, nil
		case moved:
			if d.lifted && slept > 0 {
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
			if !told && time.Since(idle) > tellAfter {
				told = true
				d.en.tellAll()
			}
			if from, f := d.sleep(ctx, told); f != nil {
				return from, f
			}
			turns, slept = 0, leastTurns
			continue
		}
		if loops.Load() > 1 {
			runtime.Gosched() // to other ranks in this process; it wakes a thread, so not without need
		}
		transport.Yield()
	}
}

// sweep does once on each edge what can be done now.
func (d *pollLoop) sweep(edges []*Edge) (moved bool, from *Edge, f *Failure) {
	for _, e := range edges {
		if !e.up.Load() {
			continue
		}
		if f := d.raise(e); f != nil {
			return moved, nil, f
		}
		out := d.push(e)
		in, f := d.pull(e)
		if f != nil {
			return moved, e, f
		}
		moved = moved || out || in
	}
	return moved, nil, nil
}

// glance says which edges the next sweep tries to read and write. Trying a few is
// cheaper than asking for them, and most often the parts that may come now are
// those that come next; all others are tried now and then, and where this rank
// cannot write: then its peers may be unable, too.
func (d *pollLoop) glance(edges []*Edge, turns int) {
	all := turns%clockTurns == clockTurns-1
	for _, e := range edges {
		all = all || e.blocked
	}
	tries := 0
	for _, e := range edges {
		// A look at a lane costs less than a poll, which would not find it.
		d.lifted = d.lifted || e.Lift.In
		e.ready = e.ready || e.Lift.In && e.up.Load() && !e.held
		e.blocked = e.blocked && !e.Lift.Out
		e.wanted = e.up.Load() && !e.held && !e.ready && (all || d.due(e))
		if e.pipe != nil && e.up.Load() && e.peek() {
			continue
		}
		if e.wanted {
			tries++
		}
		if e.blocked {
			tries++
		}
	}
	if tries <= fewTries {
		for _, e := range edges {
			e.ready = e.ready || e.wanted
			e.blocked = false
		}
		return
	}
	d.poll.Clear()
	d.add(edges)
	d.poll.Wait(0)
	d.mark(edges)
}

// due says that a part from e may come now. It is for who carries: nobody else
// changes the run.
func (d *pollLoop) due(e *Edge) bool {
	_, ok := d.en.Call.run.NextReceive(e.peer)
	return ok
}

func (d *pollLoop) add(edges []*Edge) {
	for _, e := range edges {
		e.place = -1
		if e.up.Load() {
			e.awaitIn(&d.poll, !e.held && !e.ready, e.blocked)
		}
	}
}

func (d *pollLoop) mark(edges []*Edge) {
	for _, e := range edges {
		if e.place >= 0 { // else it was not up when the wait began
			e.awaited(&d.poll)
		}
	}
}

// sleep waits until any edge can be read or written, or the bell rings.
func (d *pollLoop) sleep(ctx context.Context, told bool) (from *Edge, f *Failure) {
	d.asleep.Store(true) // from here on news ring, and what was before is seen below
	defer d.asleep.Store(false)
	d.snapshot()
	moved, from, f := d.sweep(d.all)
	if f != nil || moved || d.en.over() {
		return from, f
	}
	d.poll.Clear()
	d.add(d.all)
	d.poll.AddBell(d.bell)
	wait := time.Duration(-1)
	if ctx.Done() != nil || !told {
		wait = ctxTick
	}
	if news := d.armed(d.all); arm(d.all) || news {
		wait = 0
	}
	d.poll.Wait(int64(wait))
	disarm(d.all)
	d.mark(d.all)
	d.bell.Silence()
	return nil, nil
}

// snapshot takes the list of the edges that are open.
func (d *pollLoop) snapshot() {
	d.en.Mu.Lock()
	defer d.en.Mu.Unlock()
	d.all = append(d.all[:0], d.en.Open...)
}

// push writes what e has to write, once. A failed write is no news yet: the next
// pull says why.
func (d *pollLoop) push(e *Edge) (moved bool) {
	if e.blocked {
		return false
	}
	o := &e.outbox
	if !e.full {
		if !e.unsent.Load() {
			return false
		}
		e.unsent.Store(false) // before the look: who has news later says so again
		if ok, _ := e.compose(); !ok {
			return false
		}
		if len(o.data) <= smallData {
			o.head, o.data = append(o.head, o.data...), nil
		}
		e.full, e.at = true, 0
		e.unsent.Store(!o.part) // after a sign of life there may be more; a part says so itself
	}
	done := min(e.at, len(o.head))
	head, data := o.head[done:], o.data[e.at-done:]
	n, err := d.write(e, head, data)
	e.at += n
	switch {
	case err == transport.ErrAgain:
	case err != nil:
		e.full = false
		e.breaks()
		e.ready = true
		return true
	case o.part:
		e.out.Add(int64(n)) // signs of life are no progress
	}
	e.full = e.at < len(o.head)+len(o.data)
	e.blocked = e.full
	e.writing.Store(e.full)
	if !e.full {
		e.wrote()
	}
	return n > 0
}

// pull reads what has come on e, once, and takes it apart.
func (d *pollLoop) pull(e *Edge) (moved bool, f *Failure) {
	if e.held {
		if !e.freed.Load() {
			return false, nil
		}
		e.freed.Store(false)
		if e.held, f = e.digest(); f != nil || e.held {
			return false, f
		}
		moved = true
	}
	if !e.ready {
		return moved, nil
	}
	b := e.space()
	n, err := d.read(e, b)
	if n < len(b) {
		e.ready = false
	}
	switch {
	case err == transport.ErrAgain:
		return moved, nil
	case err == io.EOF, err != nil:
		return false, e.lost(err)
	}
	e.filled(n)
	e.held, f = e.digest()
	return true, f
}

// farewell writes the faults, and what was begun before them.
func (d *pollLoop) farewell() {
	d.bell.Ring()
	d.io.Lock()
	defer d.io.Unlock()
	d.snapshot()
	deadline := time.Now().Add(faultPatience)
	for {
		d.poll.Clear()
		due := d.all[:0]
		for _, e := range d.all {
			if e.fault == nil || e.broken || !e.up.Load() {
				continue
			}
			for d.push(e) && !e.broken {
			}
			if e.full {
				e.awaitIn(&d.poll, false, true)
				due = append(due, e)
			}
		}
		left := min(time.Until(deadline), farewellTick)
		if d.all = due; len(due) == 0 || left <= 0 {
			return
		}
		if d.armed(due) {
			continue
		}
		d.poll.Wait(int64(left))
		d.mark(due)
	}
}

// Stop closes the sockets.
func (d *pollLoop) Stop() {
	d.bell.Ring()
	d.io.Lock()
	defer d.io.Unlock()
	d.bell.Ring() // for the keeper: the caller may have taken the first for its own
	d.snapshot()
	d.flush()
	for _, e := range d.all {
		if e.up.Swap(false) {
			d.lower(e)
			e.sock.Close()
		}
	}
}

// cut shuts the connections down; the sockets stay, and read as ended.
func (d *pollLoop) cut() {
	d.bell.Ring()
	d.io.Lock()
	defer d.io.Unlock()
	d.snapshot()
	for _, e := range d.all {
		if e.up.Load() {
			e.sock.Shut()
			if e.Lift.Lane != nil {
				_ = e.Lift.Lane.Break() // one that is broken is what is wanted
			}
		}
	}
}

// Wait waits until the keeper has ended.
func (d *pollLoop) Wait() {
	d.keeper.Wait()
	if d.bell.Close() {
		loops.Add(-1)
	}
}
