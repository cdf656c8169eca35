// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/link/netconn"
	"github.com/gvw-project/gvw/internal/link/vwstream"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/shm"
	"github.com/gvw-project/gvw/internal/timeline"
)

// Engine carries out the collectives of one epoch, one after the other. The work of a rank is
// a program of package schedule. The engine keeps its state under one lock, that of its
// links. For each link it chooses the part to send next, and the memory for incoming parts
// ([link.Handler]). The links' driver moves the bytes and does not depend on collectives.
type Engine struct {
	link.Set
	Part         int // bytes that travel at once
	Limits       Limits
	Recorder     *FlightRecorder               // nil: nothing is recorded
	Timeline     *timeline.Recorder            // nil: nothing is recorded
	Events       *events.Ring                  // nil: nothing is recorded
	Traffic      *traffic.Meter                // nil: nothing is counted
	OnFail       func(*Failure)                // called once, after Failed is closed
	Away         func() error                  // why the server is lost; nil: it is not, or none decides
	OnNotEntered func(rank int, detail string) // gets a rank that does not enter a collective; nil: not called
	Missing      func(rank int) string         // why the edge to a rank does not open; nil: not known
	Reach        func(rank int)                // starts to open the edge to a rank, if that is this rank's part
	Shared       *shm.Group                    // nil: the ranks share no memory
	Segments     shm.Segments
	Address      func(rank int) string // returns the address of a rank, "" in a job with vw workers; nil: none is known
	dog          watchdog
	watches      sync.WaitGroup // Watch
	failing      sync.WaitGroup // calls of Fail that have failed the engine

	// Under the lock of the set.
	edges   map[int]*Edge // by the rank at the other end
	open    []*Edge       // those whose links are open, in the order in which they opened
	Call    call          // the one that is active, or the last one
	before  CallID        // the one before it
	Active  bool
	Leaving bool // the next collective is the first after the job's last pass
	working bool // the rank is in a step's Work: it needs all its peers again
	Failure *Failure
	Where   Where         // at the time of the failure
	Longest time.Duration // stream: this rank's longest work before a call
	rested  time.Time     // stream: when the last call was finished; zero: none was
	tally   tally
}

var _ link.Owner = (*Engine)(nil)

// Init prepares an engine whose configuration is set. Until Wire its links have no driver but
// an idle one.
func (en *Engine) Init() {
	en.edges = map[int]*Edge{}
	en.Failed = make(chan struct{})
	en.Owner = en
	en.Driver = netconn.New(&en.Set)
	en.Call.Done = make(chan struct{}, 1)
}

// StreamDriver returns the driver of a job with vw workers.
func (en *Engine) StreamDriver() link.Driver {
	return vwstream.NewDriver(&en.Set, func(l *link.Link) vwstream.Handler {
		en.Mu.Lock()
		defer en.Mu.Unlock()
		return en.open[l.Index]
	})
}

// Limits bound the waits of a collective.
type Limits struct {
	Stall   time.Duration // no byte has moved, and both ranks are in the collective
	MaxWait time.Duration // a rank has not entered the collective; 0: no limit
	Server  time.Duration // a rank has not entered, sends nothing, and the server is lost
}

// call is the state of one collective. Only one is active at a time. Its schedule.Run decides
// which part may be sent or received next on each edge; everything else follows from it.
type call struct {
	ID       CallID
	wire     []byte // id, encoded
	prog     *schedule.Program
	run      schedule.Run
	edges    []*Edge      // by the index of the peer in the program
	links    []*link.Link // of edges
	dst, src []byte
	sums     sums
	Started  time.Time
	received int64
	Done     chan struct{} // capacity 1: it is finished
	shared   bool          // it goes through the segment, now
	later    bool          // and then to other machines
	mark     events.Mark
	wait     callWait
}

// ErrStopped is returned to the caller of a collective when the engine has failed or ended. Failure
// holds the reason.
var ErrStopped = errors.New("allreduce: the engine has stopped")

// Wire sets what the edges of an epoch need before the first of them opens. It reports
// false, and does not call set, if the engine has stopped.
func (en *Engine) Wire(set func()) bool {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if en.Stopped() {
		return false
	}
	set()
	return true
}

// Attach opens the edge to a rank.
func (en *Engine) Attach(rank int, p link.Peer) error {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	e := en.edge(rank)
	switch {
	case e.IsOpen():
		return fmt.Errorf("rank %d is connected already", rank)
	case en.Stopped():
		return ErrStopped
	}
	if err := en.Set.Attach(e.Link, p); err != nil {
		return err
	}
	en.open = append(en.open, e)
	e.local = p.Local()
	return nil
}

// edge returns the edge to a rank, made when it is first asked for; under the lock.
func (en *Engine) edge(rank int) *Edge {
	e := en.edges[rank]
	if e == nil {
		e = newEdge(en, rank)
		en.edges[rank] = e
	}
	return e
}

// Run carries out one collective: prog over dst, with this rank's contribution
// in src, which may be dst. It returns ErrStopped when the job fails, or the engine has ended.
func (en *Engine) Run(ctx context.Context, id CallID, prog *schedule.Program, dst, src []byte) error {
	defer en.Inject(fault.At(en.Rank, fault.Op))()
	if !en.begin(id, prog, dst, src) {
		return ErrStopped
	}
	en.carry(ctx)
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if en.Active || en.Failure != nil {
		return ErrStopped
	}
	en.ended()
	return nil
}

// carry moves the bytes of the collective until it is finished, the job has failed, or ctx has
// ended, which fails the job.
func (en *Engine) carry(ctx context.Context) {
	en.Driver.Carry(ctx, en.Call.Done, en.Call.links)
	if ctx.Err() == nil {
		return
	}
	if en.underWay() {
		en.giveUp(ctx)
		return
	}
	select {
	case <-en.Call.Done: // it was finished at the same time
	default:
	}
}

// begin makes a collective the active one. False: the job has failed.
func (en *Engine) begin(id CallID, prog *schedule.Program, dst, src []byte) bool {
	en.Mu.Lock()
	if en.Stopped() {
		en.Mu.Unlock()
		return false
	}
	en.number(id)
	if en.Stream && !en.rested.IsZero() {
		en.Longest = max(en.Longest, en.Call.Started.Sub(en.rested))
	}
	en.load(prog, dst, src)
	en.Active = true
	if gone := en.lostBetween(); gone != nil {
		en.Mu.Unlock()
		en.Fail(gone, nil)
		return false
	}
	en.Wake()
	en.progress()
	en.Mu.Unlock()
	return true
}

// load starts the program of the collective, under the lock. Edges that the program needs and
// that are not open are requested by Reach: the collective waits for them.
func (en *Engine) load(prog *schedule.Program, dst, src []byte) {
	c := &en.Call
	c.prog, c.dst, c.src = prog, dst, src
	c.run.Start(prog, en.Part)
	if !en.Stream && !en.NoSum {
		c.sums.reset(len(dst), en.Part)
	}
	for _, e := range c.edges {
		e.at, e.awaited = noPeer, false
	}
	c.edges, c.links = c.edges[:0], c.links[:0]
	for i, rank := range prog.Peers {
		e := en.edge(rank)
		e.at = i
		c.edges, c.links = append(c.edges, e), append(c.links, e.Link)
		en.expect(e)
		if !e.IsOpen() && !e.sought {
			e.sought = true
			en.Reach(rank)
		}
	}
}

// number makes id the next collective, under the lock. All ranks count alike, because they make the
// same calls.
func (en *Engine) number(id CallID) {
	c := &en.Call
	c.Started, c.received = time.Now(), 0
	en.before = c.ID
	id.Seq = c.ID.Seq + 1
	c.ID.Seq = id.Seq
	same := c.ID == id && len(c.wire) > 0
	c.ID = id
	c.wait = callWait{}
	if en.Events != nil {
		c.mark = en.Events.Begin(id.event(), c.Started)
	}
	switch {
	case en.Stream:
	case same:
		renumber(c.wire, id.Seq)
	default:
		c.wire = c.ID.appendTo(c.wire[:0])
	}
}

// progress follows every change of the run, under the lock. It wakes the edges on which something can be
// written or read now. At the end of the program it wakes the caller by Done.
func (en *Engine) progress() {
	if !en.Active {
		return
	}
	c := &en.Call
	for _, e := range c.edges {
		if !e.IsOpen() {
			continue
		}
		if _, ok := c.run.NextSend(e.at); ok || e.Held() {
			e.Wake()
		}
	}
	if c.run.Finished() {
		if en.Active, en.Leaving = false, false; en.Stream {
			en.rested = time.Now()
		}
		c.Done <- struct{}{}
		en.Driver.Wake()
	}
}

// underWay reports whether a collective is under way.
func (en *Engine) underWay() bool {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	return en.Active && en.Failure == nil
}

// giveUp fails the job because the caller's context has ended. The other ranks cannot finish the
// collective without this one.
func (en *Engine) giveUp(ctx context.Context) {
	cause := context.Cause(ctx)
	en.Fail(&Failure{Code: FaultGaveUp, By: en.Rank, Rank: en.Rank, Text: cause.Error(), Err: cause}, nil)
}

// Fail ends everything, for the first reason that is given. from is the link that
// brought the failure; nil: none. All other links send it to their peers. Fail does nothing when Ending is set.
func (en *Engine) Fail(f *Failure, from *link.Link) {
	en.Mu.Lock()
	if en.Stopped() {
		en.Mu.Unlock()
		return
	}
	en.failing.Add(1) // before Ending is set, so that Finish waits
	defer en.failing.Done()
	en.Failure = f
	en.Where = en.Here()
	if en.Active {
		now := time.Now()
		en.Traffic.Failed(en.Call.Started, now, en.waited(now))
	}
	var last []byte
	if !en.Stream && f.Code != FaultOver {
		last = f.appendTo(nil)
	}
	en.Seal(last, from)
	en.Mu.Unlock()
	if en.Stream {
		en.Driver.Stop() // vw's stream has no error message: only a closed connection ends the job
	} else {
		en.Driver.FlushErrors()
	}
	en.OnFail(f)
}

// LinkFailed fails the engine because of a link.
func (en *Engine) LinkFailed(l *link.Link, err error) {
	en.Fail(en.failureOf(l, err))
}

// Here describes what this rank is doing, under the lock.
func (en *Engine) Here() Where {
	w := Where{Rank: en.Rank}
	if en.Active {
		w.Call = en.Call.ID.String()
		w.Elapsed = time.Since(en.Call.Started)
		w.Received = en.Call.received
		w.Waiting = en.waitText()
	}
	return w
}

// FailClosed fails the engine because its group is closed during a collective.
func (en *Engine) FailClosed() {
	en.Fail(&Failure{Code: FaultGaveUp, By: en.Rank, Rank: en.Rank, Text: "its group was closed in the middle of a collective", Err: ErrClosed}, nil)
}

// Finish ends the edges. From now on the end of an edge is no failure. A collective that is under way
// fails, so that its caller returns. After Finish OnFail is not called any more.
func (en *Engine) Finish() {
	en.Mu.Lock()
	if en.Active && !en.Stopped() {
		en.Mu.Unlock()
		en.FailClosed()
		en.Mu.Lock()
	}
	en.Ending = true
	en.Wake()
	en.Mu.Unlock()
	en.Driver.Stop()
	en.failing.Wait()
	en.Join()
}

// Join waits until all goroutines of the engine have ended.
func (en *Engine) Join() {
	en.Driver.Wait()
	en.watches.Wait()
}

// CallNumber returns the number of the collective that is under way, or was last.
func (en *Engine) CallNumber() uint64 {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	return en.Call.ID.Seq
}
