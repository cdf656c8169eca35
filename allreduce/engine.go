// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/fault"
)

// engine carries out the collectives of one epoch, one after the other. What a
// rank has to do is a program of package schedule; the engine keeps its state
// under one lock, takes the frames of the edges apart and puts them together.
// The bytes themselves are moved by a driver, which knows neither.
type engine struct {
	rank     int
	stream   bool // vw's raw stream
	part     int  // bytes that travel at once
	noSum    bool
	limits   limits
	log      *slog.Logger
	flight   *flight                       // nil: nothing is recorded
	failed   chan struct{}                 // closed with the first failure
	down     atomic.Bool                   // it is closed
	onFail   func(*failure)                // called once, after that
	away     func() error                  // why the server is lost; nil: it is not, or none decides
	onUnmet  func(rank int, detail string) // tells of a rank that does not enter a collective; nil: nobody wants to know
	missing  func(rank int) string         // why the edge to a rank does not open; nil: not known
	reach    func(rank int)                // starts to open the edge to a rank, if that is our part
	shared   *shared                       // nil: the ranks share no memory
	pipes    pipes                         // nil: edges stay with their connections
	segments segments
	peers    []string             // addresses by rank; nil in a job with vw workers
	lanes    func() (lane, error) // makes a lane for an edge; nil: all goes over TCP
	lanesOn  bool                 // there have to be lanes
	driver   driver
	dog      watchdog
	watchs   sync.WaitGroup // the watch

	mu      sync.Mutex
	edges   map[int]*edge // by the rank at the other end
	open    []*edge       // those that are open, in the order in which they opened
	call    call          // the one that is active, or the last one
	before  callID        // the one before it
	active  bool
	leaving bool // the next collective is the first after the job's last pass
	working bool // the rank is in a step's Work: it needs all its peers again
	ending  bool // edges may end from now on
	failure *failure
	where   Where         // at the time of the failure
	longest time.Duration // stream: this rank's longest work before a call
	rested  time.Time     // stream: when the last call was finished; zero: none was
	garble  bool          // of a fault: a bit of the next part flips

	mute atomic.Bool // of a fault: nothing goes over the edges any more
}

// driver moves the bytes of all edges of an engine, also while no collective is
// under way: then it looks for edges that end.
//
// What to write it gets from edge.compose, and where to read to from edge.space;
// edge.wrote and edge.filled say that it is done.
type driver interface {
	// attach takes an edge over, which has just opened.
	attach(e *edge) error
	// carry does the caller's share of the collective that has begun. It returns when
	// that is finished, or the job has failed.
	carry(ctx context.Context)
	// nudge: there may be something new to write on e, or room for what comes.
	// It is called under the engine's lock.
	nudge(e *edge)
	// farewell writes the faults that edges hold, all at once, and ends the writing.
	// It takes at most faultPatience.
	farewell()
	// stop ends the edges, and touches no memory of the caller's after wait.
	stop()
	wait()
	// cut ends all edges, as if each peer had: a fault.
	cut()
	// attend looks after the edges in a collective that goes over none of them and
	// takes long.
	attend()
}

// limits are the clocks of a collective.
type limits struct {
	stall   time.Duration // no byte moved, both in the collective
	maxWait time.Duration // a rank has not entered; 0: no limit
	server  time.Duration // a rank has not entered and sends nothing, and the server is lost
}

// call is one collective.
type call struct {
	id       callID
	wire     []byte // id, encoded
	prog     *schedule.Program
	run      schedule.Run
	edges    []*edge // by the index of the peer in the program
	dst, src []byte
	sums     sums
	started  time.Time
	received int64
	done     chan struct{} // capacity 1: it is finished
	finished atomic.Bool   // done holds that
	shared   bool          // it goes through the segment, now
	later    bool          // and then to other machines
}

// errStopped tells the caller of a collective that it is all over.
var errStopped = errors.New("allreduce: the engine has stopped")

// wire sets what the edges of an epoch need before the first of them opens. It reports
// false, and sets nothing, if the engine has stopped.
func (en *engine) wire(set func()) bool {
	en.mu.Lock()
	defer en.mu.Unlock()
	if en.stopped() {
		return false
	}
	set()
	return true
}

// attach opens the edge to a rank.
func (en *engine) attach(rank int, l link) error {
	en.mu.Lock()
	defer en.mu.Unlock()
	e := en.edge(rank)
	switch {
	case e.linked:
		return fmt.Errorf("rank %d is connected already", rank)
	case en.stopped():
		return errStopped
	}
	e.link = l
	if err := en.driver.attach(e); err != nil {
		return err
	}
	e.linked = true
	en.open = append(en.open, e)
	return nil
}

// edge is the edge to a rank, made when it is first asked for; under the lock.
func (en *engine) edge(rank int) *edge {
	e := en.edges[rank]
	if e == nil {
		e = newEdge(en, rank)
		en.edges[rank] = e
	}
	return e
}

// run carries out one collective: prog over dst, with this rank's contribution
// in src, which may be dst. It returns errStopped when the job fails.
func (en *engine) run(ctx context.Context, id callID, prog *schedule.Program, dst, src []byte) error {
	defer en.suffer(fault.At(en.rank, fault.Op))()
	if !en.begin(id, prog, dst, src) {
		return errStopped
	}
	en.driver.carry(ctx)
	en.mu.Lock()
	defer en.mu.Unlock()
	if en.active || en.failure != nil {
		return errStopped
	}
	return nil
}

// begin makes a collective the active one. False: the job has failed.
func (en *engine) begin(id callID, prog *schedule.Program, dst, src []byte) bool {
	en.mu.Lock()
	if en.stopped() {
		en.mu.Unlock()
		return false
	}
	en.number(id)
	if en.stream && !en.rested.IsZero() {
		en.longest = max(en.longest, en.call.started.Sub(en.rested))
	}
	en.load(prog, dst, src)
	en.active = true
	if gone := en.lostBetween(); gone != nil {
		en.mu.Unlock()
		en.fail(gone, nil)
		return false
	}
	for _, e := range en.open {
		en.driver.nudge(e)
	}
	en.progress()
	en.mu.Unlock()
	return true
}

// load gives the collective its program; under the lock.
func (en *engine) load(prog *schedule.Program, dst, src []byte) {
	c := &en.call
	c.prog, c.dst, c.src = prog, dst, src
	c.finished.Store(false)
	c.run.Start(prog, en.part)
	if !en.stream && !en.noSum {
		c.sums.reset(len(dst), en.part)
	}
	for _, e := range c.edges {
		e.peer = noPeer
	}
	c.edges = c.edges[:0]
	for i, rank := range prog.Peers {
		e := en.edge(rank)
		e.peer = i
		c.edges = append(c.edges, e)
		if !e.linked && !e.sought {
			e.sought = true
			en.reach(rank)
		}
	}
}

// number makes id the next collective; under the lock.
func (en *engine) number(id callID) {
	c := &en.call
	c.started, c.received = time.Now(), 0
	en.before = c.id
	id.seq = c.id.seq + 1
	c.id.seq = id.seq
	same := c.id == id && len(c.wire) > 0
	c.id = id
	switch {
	case en.stream:
	case same:
		renumber(c.wire, id.seq)
	default:
		c.wire = c.id.appendTo(c.wire[:0])
	}
}

// progress follows every change of the run, under the lock: what may be written or
// read now is, and at the end the caller learns it.
func (en *engine) progress() {
	if !en.active {
		return
	}
	c := &en.call
	for _, e := range c.edges {
		if !e.linked {
			continue
		}
		if _, ok := c.run.NextSend(e.peer); ok || e.waiting {
			en.driver.nudge(e)
		}
	}
	if c.run.Finished() {
		if en.active, en.leaving = false, false; en.stream {
			en.rested = time.Now()
		}
		c.finished.Store(true)
		c.done <- struct{}{}
	}
}

// stopped says that nothing goes on; under the lock.
func (en *engine) stopped() bool { return en.failure != nil || en.ending }

// over is stopped for those who do not hold the lock.
func (en *engine) over() bool {
	en.mu.Lock()
	defer en.mu.Unlock()
	return en.stopped()
}

// underWay says that a collective is.
func (en *engine) underWay() bool {
	en.mu.Lock()
	defer en.mu.Unlock()
	return en.active && en.failure == nil
}

// giveUp ends the job because the caller's context has ended.
func (en *engine) giveUp(ctx context.Context) {
	cause := context.Cause(ctx)
	en.fail(&failure{code: faultGaveUp, by: en.rank, rank: en.rank, text: cause.Error(), err: cause}, nil)
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
	en.down.Store(true)
	close(en.failed)
	for _, e := range en.open {
		if !en.stream && e != from && f.code != faultOver {
			e.fault = f
		}
		en.driver.nudge(e)
	}
	en.mu.Unlock()
	if en.stream {
		en.driver.stop() // it is all the news that vw understands
	} else {
		en.driver.farewell()
	}
	en.onFail(f)
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

// finish ends the edges: from here on nothing is a failure.
func (en *engine) finish() {
	en.mu.Lock()
	en.ending = true
	for _, e := range en.open {
		en.driver.nudge(e)
	}
	en.mu.Unlock()
	en.driver.stop()
	en.join()
}

// join waits until nobody works for the engine any more.
func (en *engine) join() {
	en.driver.wait()
	en.watchs.Wait()
}
