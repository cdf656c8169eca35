// SPDX-License-Identifier: Apache-2.0

package engine

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
	"github.com/gvw-project/gvw/internal/link"
)

// Engine carries out the collectives of one epoch, one after the other. What a
// rank has to do is a program of package schedule; the engine keeps its state
// under one lock, takes the frames of the edges apart and puts them together.
// The bytes themselves are moved by a driver, which knows neither.
type Engine struct {
	Rank     int
	Stream   bool // vw's raw stream
	Part     int  // bytes that travel at once
	NoSum    bool
	Limits   Limits
	Log      *slog.Logger
	Flight   *Flight                       // nil: nothing is recorded
	Failed   chan struct{}                 // closed with the first failure
	down     atomic.Bool                   // it is closed
	OnFail   func(*Failure)                // called once, after that
	Away     func() error                  // why the server is lost; nil: it is not, or none decides
	OnUnmet  func(rank int, detail string) // gets a rank that does not enter a collective; nil: not called
	Missing  func(rank int) string         // why the edge to a rank does not open; nil: not known
	Reach    func(rank int)                // starts to open the edge to a rank, if that is our part
	Shared   *Shared                       // nil: the ranks share no memory
	Pipes    Pipes                         // nil: edges stay with their connections
	Segments Segments
	Peers    []string             // addresses by rank; nil in a job with vw workers
	Lanes    func() (Lane, error) // makes a lane for an edge; nil: all goes over TCP
	LanesOn  bool                 // there have to be lanes
	Driver   Driver
	dog      watchdog
	Watchs   sync.WaitGroup // the watch

	Mu      sync.Mutex
	Edges   map[int]*Edge // by the rank at the other end
	Open    []*Edge       // those that are open, in the order in which they opened
	Call    call          // the one that is active, or the last one
	before  CallID        // the one before it
	Active  bool
	Leaving bool // the next collective is the first after the job's last pass
	working bool // the rank is in a step's Work: it needs all its peers again
	Ending  bool // edges may end from now on
	Failure *Failure
	Where   Where         // at the time of the failure
	Longest time.Duration // stream: this rank's longest work before a call
	rested  time.Time     // stream: when the last call was finished; zero: none was
	garble  bool          // of a fault: a bit of the next part flips

	mute atomic.Bool // of a fault: nothing goes over the edges any more
}

// Driver moves the bytes of all edges of an engine, also while no collective is
// under way: then it looks for edges that end.
//
// Edge.compose gives it the bytes to write, and Edge.space the memory to read to.
// It reports progress by Edge.wrote and Edge.filled.
type Driver interface {
	// attach takes an edge over, which has just opened.
	attach(e *Edge) error
	// carry does the caller's share of the collective that has begun. It returns when
	// that is finished, or the job has failed.
	carry(ctx context.Context)
	// nudge: there may be something new to write on e, or room for what comes.
	// It is called under the engine's lock.
	nudge(e *Edge)
	// farewell writes the faults that edges hold, all at once, and ends the writing.
	// It takes at most faultPatience.
	farewell()
	// stop ends the edges, and touches no memory of the caller's after wait.
	Stop()
	Wait()
	// cut ends all edges, as if each peer had: a fault.
	cut()
	// attend looks after the edges in a collective that goes over none of them and
	// takes long.
	attend()
}

// Limits are the clocks of a collective.
type Limits struct {
	Stall   time.Duration // no byte moved, both in the collective
	MaxWait time.Duration // a rank has not entered; 0: no limit
	Server  time.Duration // a rank has not entered and sends nothing, and the server is lost
}

// call is one collective.
type call struct {
	Id       CallID
	wire     []byte // id, encoded
	prog     *schedule.Program
	run      schedule.Run
	edges    []*Edge // by the index of the peer in the program
	dst, src []byte
	sums     sums
	Started  time.Time
	received int64
	Done     chan struct{} // capacity 1: it is finished
	finished atomic.Bool   // done holds that
	shared   bool          // it goes through the segment, now
	later    bool          // and then to other machines
}

// ErrStopped tells the caller of a collective that it is all over.
var ErrStopped = errors.New("allreduce: the engine has stopped")

// Wire sets what the edges of an epoch need before the first of them opens. It reports
// false, and sets nothing, if the engine has stopped.
func (en *Engine) Wire(set func()) bool {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if en.stopped() {
		return false
	}
	set()
	return true
}

// Attach opens the edge to a rank.
func (en *Engine) Attach(rank int, l link.Peer) error {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	e := en.edge(rank)
	switch {
	case e.linked:
		return fmt.Errorf("rank %d is connected already", rank)
	case en.stopped():
		return ErrStopped
	}
	e.Peer = l
	if err := en.Driver.attach(e); err != nil {
		return err
	}
	e.linked = true
	en.Open = append(en.Open, e)
	return nil
}

// edge is the edge to a rank, made when it is first asked for; under the lock.
func (en *Engine) edge(rank int) *Edge {
	e := en.Edges[rank]
	if e == nil {
		e = NewEdge(en, rank)
		en.Edges[rank] = e
	}
	return e
}

// Run carries out one collective: prog over dst, with this rank's contribution
// in src, which may be dst. It returns ErrStopped when the job fails.
func (en *Engine) Run(ctx context.Context, id CallID, prog *schedule.Program, dst, src []byte) error {
	defer en.Suffer(fault.At(en.Rank, fault.Op))()
	if !en.begin(id, prog, dst, src) {
		return ErrStopped
	}
	en.Driver.carry(ctx)
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if en.Active || en.Failure != nil {
		return ErrStopped
	}
	return nil
}

// begin makes a collective the active one. False: the job has failed.
func (en *Engine) begin(id CallID, prog *schedule.Program, dst, src []byte) bool {
	en.Mu.Lock()
	if en.stopped() {
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
	for _, e := range en.Open {
		en.Driver.nudge(e)
	}
	en.progress()
	en.Mu.Unlock()
	return true
}

// load gives the collective its program; under the lock.
func (en *Engine) load(prog *schedule.Program, dst, src []byte) {
	c := &en.Call
	c.prog, c.dst, c.src = prog, dst, src
	c.finished.Store(false)
	c.run.Start(prog, en.Part)
	if !en.Stream && !en.NoSum {
		c.sums.reset(len(dst), en.Part)
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
			en.Reach(rank)
		}
	}
}

// number makes id the next collective; under the lock.
func (en *Engine) number(id CallID) {
	c := &en.Call
	c.Started, c.received = time.Now(), 0
	en.before = c.Id
	id.Seq = c.Id.Seq + 1
	c.Id.Seq = id.Seq
	same := c.Id == id && len(c.wire) > 0
	c.Id = id
	switch {
	case en.Stream:
	case same:
		renumber(c.wire, id.Seq)
	default:
		c.wire = c.Id.appendTo(c.wire[:0])
	}
}

// progress follows every change of the run, under the lock: what may be written or
// read now is, and at the end the caller learns it.
func (en *Engine) progress() {
	if !en.Active {
		return
	}
	c := &en.Call
	for _, e := range c.edges {
		if !e.linked {
			continue
		}
		if _, ok := c.run.NextSend(e.peer); ok || e.waiting {
			en.Driver.nudge(e)
		}
	}
	if c.run.Finished() {
		if en.Active, en.Leaving = false, false; en.Stream {
			en.rested = time.Now()
		}
		c.finished.Store(true)
		c.Done <- struct{}{}
	}
}

// stopped says that nothing goes on; under the lock.
func (en *Engine) stopped() bool { return en.Failure != nil || en.Ending }

// over is stopped for those who do not hold the lock.
func (en *Engine) over() bool {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	return en.stopped()
}

// underWay says that a collective is.
func (en *Engine) underWay() bool {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	return en.Active && en.Failure == nil
}

// giveUp ends the job because the caller's context has ended.
func (en *Engine) giveUp(ctx context.Context) {
	cause := context.Cause(ctx)
	en.Fail(&Failure{Code: FaultGaveUp, By: en.Rank, Rank: en.Rank, Text: cause.Error(), Err: cause}, nil)
}

// Fail ends everything, for the first reason that is given. The edge from is the
// one that brought the news, if any.
func (en *Engine) Fail(f *Failure, from *Edge) {
	en.Mu.Lock()
	if en.Failure != nil || en.Ending {
		en.Mu.Unlock()
		return
	}
	en.Failure = f
	en.Where = en.Here()
	en.down.Store(true)
	close(en.Failed)
	for _, e := range en.Open {
		if !en.Stream && e != from && f.Code != FaultOver {
			e.fault = f
		}
		en.Driver.nudge(e)
	}
	en.Mu.Unlock()
	if en.Stream {
		en.Driver.Stop() // it is all the news that vw understands
	} else {
		en.Driver.farewell()
	}
	en.OnFail(f)
}

// Here is what this rank is doing; under the lock.
func (en *Engine) Here() Where {
	w := Where{Rank: en.Rank}
	if en.Active {
		w.Call = en.Call.Id.String()
		w.Elapsed = time.Since(en.Call.Started)
		w.Received = en.Call.received
		w.Waiting = en.waitText()
	}
	return w
}

// Finish ends the edges: from here on nothing is a failure.
func (en *Engine) Finish() {
	en.Mu.Lock()
	en.Ending = true
	for _, e := range en.Open {
		en.Driver.nudge(e)
	}
	en.Mu.Unlock()
	en.Driver.Stop()
	en.Join()
}

// Join waits until all goroutines of the engine have ended.
func (en *Engine) Join() {
	en.Driver.Wait()
	en.Watchs.Wait()
}

// CallNumber is the number of the collective that is under way, or was last.
func (en *Engine) CallNumber() uint64 {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	return en.Call.Id.Seq
}
