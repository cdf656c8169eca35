// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/malt/internal/carrier"
	"github.com/gvw-project/gvw/malt/internal/snapshot"
)

// ErrClosed is returned by calls of a closed group.
var ErrClosed = errors.New("malt: the group is closed")

// ErrFinished is returned by Join and by calls of a rank that has joined a running job, if all other ranks
// are done. The rank is not needed: its process exits without an error.
var ErrFinished = errors.New("malt: the job has finished: this rank is not needed")

// Group is a rank's membership in a job. Its methods may be called by several goroutines.
type Group struct {
	cfg    Config
	member *client.Member
	mesh   *mesh.Mesh

	progress progress
	custody  custody
	traffic  *traffic.Meter
	events   *events.Ring  // of the last seconds, for the cause of a failure
	barriers atomic.Uint64 // calls of Barrier, in all memberships

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu         sync.Mutex
	wiring     *client.Wiring   // the membership that this rank is in; nil: none yet
	conns      *mesh.Epoch      // its connections; nil: none
	carrier    *carrier.Carrier // its traffic; nil: not wired
	live       members.Set      // the ranks that take part
	objects    []*object        // in the order of creation
	registered int              // of them, with the newest carrier: the first ones
	epochs     int              // memberships so far
	done       bool             // Done was called
	left       bool             // all ranks have called Done: connections may end
	ending     bool             // the other ranks are done: no membership follows
	err        error            // why the job has ended; nil: it has not
	changed    chan struct{}    // closed at the next change of carrier, ending or err

	pulls     bool                       // this rank is receiving values from source
	inherits  bool                       // this rank has joined a running job, and has its values from source
	inherited map[uint32]snapshot.Object // of objects that it has not created yet
	source    int
}

// Join registers this process as a rank, and returns when all ranks have joined and are connected.
func Join(ctx context.Context, cfg Config) (*Group, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	g := newGroup(cfg)
	g.ctx, g.cancel = context.WithCancel(context.Background())
	var err error
	if g.mesh, err = mesh.Listen(ctx, cfg.mesh(), owner{g}); err != nil {
		return nil, fmt.Errorf("malt: rank %d: %w", cfg.Rank, err)
	}
	j := cfg.join(g.mesh.Advertised())
	j.Waiting, j.Steps, j.Traffic, j.Events = g.waiting, &g.progress, g.counts, g.events
	if g.member, err = client.Join(ctx, j); err != nil {
		g.mesh.Close()
		return nil, fmt.Errorf("malt: rank %d: cannot join job %v: %w", cfg.Rank, cfg.Job, asFinished(err))
	}
	if cfg.Spare {
		var rank int
		if rank, err = g.member.Assigned(ctx); err != nil {
			g.Close()
			return nil, fmt.Errorf("malt: a spare of job %v: %w", cfg.Job, asFinished(err))
		}
		g.cfg.Rank = rank
		g.mesh.SetRank(rank)
	}
	if err := g.start(ctx); err != nil {
		g.Close()
		return nil, fmt.Errorf("malt: rank %d: the job does not start: %w", g.cfg.Rank, asFinished(err))
	}
	return g, nil
}

// newGroup returns a group that has not joined its job.
func newGroup(cfg Config) *Group {
	g := &Group{cfg: cfg, changed: make(chan struct{}), custody: newCustody(cfg.replaces()), traffic: traffic.New(time.Now()), events: events.New()}
	g.progress.has = !cfg.replaces() // no rank is new, so none takes the values of another one
	return g
}

// start waits for the first membership of this rank, and for the values that it lacks.
func (g *Group) start(ctx context.Context) error {
	g.traffic.Begin(time.Now(), traffic.Waiting)
	w, err := g.member.Ready(ctx, protocol.Shard{})
	if err == nil && w.Stream {
		err = errors.New("vw workers are in the job, which have no shared vectors")
	}
	if err == nil {
		g.work.Go(func() { g.run(w) })
		_, err = g.current(ctx, nil)
	}
	g.traffic.Begin(time.Now(), traffic.Computing)
	return err
}

// counts returns the counts of this rank, for heartbeats.
func (g *Group) counts() *traffic.Counts {
	g.mu.Lock()
	c, objects := g.carrier, g.objects
	g.mu.Unlock()
	var r traffic.Rounds
	if c != nil {
		r = c.Count()
	}
	for _, o := range objects {
		s := o.stats()
		r.Missed += s.Overwritten + s.Dropped
		r.Sent = max(r.Sent, o.iteration())
	}
	n := g.traffic.Counts(time.Now(), time.Time{}, 0)
	n.Rounds = r
	return n
}

// Report sends this rank's progress to the server with the next heartbeat. gvw jobs, gvw top and the page show it.
func (g *Group) Report(p Progress) { g.member.Report(p) }

// EdgeTraffic has the bytes between this rank and another one, headers included.
type EdgeTraffic struct {
	Rank           int    // the other one
	Via            string // carrier: tcp, shared_memory, verbs
	Local          bool   // both ranks are on one machine
	Sent, Received uint64 // bytes
}

// Traffic returns the bytes that this rank has exchanged since it has joined, by rank and carrier: at most those of the 96 edges
// with the most bytes.
func (g *Group) Traffic() (edges []EdgeTraffic) {
	for _, e := range g.counts().Edges {
		edges = append(edges, EdgeTraffic{Rank: e.Rank, Via: e.Via.String(), Local: e.Local, Sent: e.Sent, Received: e.Received})
	}
	return edges
}

// asFinished returns ErrFinished for an error that means it, and otherwise err.
func asFinished(err error) error {
	refused, ok := errors.AsType[*protocol.RefusedError](err)
	if _, finished := errors.AsType[*protocol.FinishedError](err); finished || ok && refused.Finished() {
		return ErrFinished
	}
	return err
}

// Rank returns this process's number, which never changes.
func (g *Group) Rank() int { return g.cfg.Rank }

// Inherits reports whether this process has joined a job that was already training. Vectors then begin with the values
// and the iteration of another rank, and the program does not initialise them.
func (g *Group) Inherits() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inherits
}

// Barrier waits until all ranks have called it as often as this one. All updates that were sent before have
// arrived then. If the membership ends meanwhile, Barrier returns at once. A rank that joins a running job has entered as
// many barriers as the rank whose values it takes, but its program may be elsewhere: where ranks are replaced, rounds of a
// vector with bsp, whose number a new rank takes over, separate the parts of a program.
func (g *Group) Barrier(ctx context.Context) error {
	g.custody.release()
	defer g.custody.regain()
	defer g.events.End(g.events.Begin(events.Event{Kind: events.Collective, Number: g.barriers.Load() + 1, Verb: "barrier", Peer: -1}, time.Now()))
	for last := (*carrier.Carrier)(nil); ; {
		c, err := g.current(ctx, last)
		if err != nil {
			return err
		}
		entered, err := c.Barrier(ctx)
		switch {
		case !errors.Is(err, carrier.ErrOver):
			return err
		case entered:
			return g.failure()
		}
		last = c
	}
}

// Done tells the other ranks that this one sends and merges no more, and waits until all ranks have called
// it. Ranks that still train do not wait for this one.
func (g *Group) Done(ctx context.Context) error {
	g.custody.release()
	defer g.custody.regain()
	g.mu.Lock()
	g.done = true
	c := g.carrier
	g.mu.Unlock()
	if c != nil {
		c.LeaveAll()
	}
	if err := g.allDone(ctx); err != nil {
		return err
	}
	g.mu.Lock()
	g.left = true
	g.mu.Unlock()
	_, err := g.member.Complete(ctx, [32]byte{}, nil)
	if errors.Is(err, client.ErrClosed) {
		return ErrClosed
	}
	if err != nil {
		return fmt.Errorf("malt: rank %d: waiting for all ranks to be done: %w", g.cfg.Rank, err)
	}
	return g.finish(ctx)
}

// allDone waits until all ranks are done. The server ends the job with the first rank that is complete: a loss after
// that could not be survived.
func (g *Group) allDone(ctx context.Context) error {
	for last := (*carrier.Carrier)(nil); ; {
		c, err := g.current(ctx, last)
		if errors.Is(err, ErrFinished) {
			return nil
		}
		if err != nil {
			return err
		}
		if err = c.AllLeft(ctx); err == nil {
			g.progress.reach(stepDone)
			return nil
		}
		if !errors.Is(err, carrier.ErrOver) {
			return fmt.Errorf("malt: rank %d: waiting for all ranks to be done: %w", g.cfg.Rank, err)
		}
		last = c
	}
}

// finish waits for the end of the job. All ranks of the last membership are done. If the server still waits for one
// that it has lost, this rank leaves without it: there is nothing that the lost rank owes.
func (g *Group) finish(ctx context.Context) error {
	within := ctx
	if g.cfg.OnLoss != Abort {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, 2*g.cfg.LostAfter)
		defer cancel()
	}
	err := g.member.Finish(within)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		g.cfg.Log.Warn("leaving: all ranks are done, and the server waits only for a lost one", "rank", g.cfg.Rank)
		return nil
	}
	if errors.Is(err, client.ErrClosed) {
		return ErrClosed
	}
	if err != nil {
		return fmt.Errorf("malt: rank %d: waiting for the end of the job: %w", g.cfg.Rank, err)
	}
	return nil
}

// Close leaves the job. Before Done has returned that is the loss of a rank to the others. Close may be called again.
func (g *Group) Close() error {
	g.fail(ErrClosed)
	g.cancel()
	g.mesh.Close()
	err := g.member.Close()
	g.work.Wait()
	return err
}

// blame records an error as this rank's own, for the cause of the job's failure, and as the reason for which it leaves.
func (g *Group) blame(class events.Class, peer int, err error) {
	// It is one line: it becomes part of the errors of all other ranks.
	why := strings.Join(strings.Fields(err.Error()), " ")
	g.events.Add(events.Event{Kind: events.Failure, Class: class, Peer: peer, Name: why}, time.Now())
	g.member.SetLeaveReason(why)
}

// failJob ends the job on all ranks, since this one's calls or data differ from those of another one. The server has the
// reason before the calls of this rank end, as a program that leaves at once would be a loss to the others.
func (g *Group) failJob(err error) {
	g.blame(events.CallDiffers, -1, err)
	if failed := g.member.Fail(g.ctx, err.Error(), ""); failed != nil {
		g.cfg.Log.Debug("cannot tell the server that the job fails", "rank", g.cfg.Rank, "err", failed)
	}
	g.fail(err)
}

// fail ends all calls with an error, unless there was one before.
func (g *Group) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
		g.wake()
	}
}

// wake wakes the calls that wait for a carrier. The lock is held.
func (g *Group) wake() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// failure returns why the job has ended; nil: it has not.
func (g *Group) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// current waits for a carrier other than last.
func (g *Group) current(ctx context.Context, last *carrier.Carrier) (*carrier.Carrier, error) {
	for {
		g.mu.Lock()
		c, err, changed, ending := g.carrier, g.err, g.changed, g.ending
		g.mu.Unlock()
		switch {
		case err != nil:
			return nil, err
		case ending:
			return nil, ErrFinished
		case c != nil && c != last:
			return c, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("malt: rank %d: waiting for the next membership of the job: %w", g.cfg.Rank, context.Cause(ctx))
		}
	}
}

// waiting is what heartbeats report.
func (g *Group) waiting() client.Waits {
	w := client.Waits{Rank: -1}
	g.mu.Lock()
	c, objects, pulls, source := g.carrier, g.objects, g.pulls, g.source
	g.mu.Unlock()
	if pulls {
		// No rank is named as awaited: the connection to it is open, and its learner may take its time.
		w.Text = fmt.Sprintf("rank %d: waiting for the values of rank %d", g.cfg.Rank, source)
	}
	if c == nil {
		return w
	}
	for _, o := range objects {
		if rank := c.Waits(o.spec.ID); rank >= 0 {
			return client.Waits{Rank: rank, Text: fmt.Sprintf("rank %d: %s: waiting for rank %d", g.cfg.Rank, o.spec.Name, rank)}
		}
	}
	return w
}

// owner is the group as the mesh sees it.
type owner struct{ g *Group }

func (o owner) Current() (*client.Wiring, *mesh.Epoch) {
	o.g.mu.Lock()
	defer o.g.mu.Unlock()
	return o.g.wiring, o.g.conns
}

func (o owner) Newest() *client.Wiring {
	if o.g.member == nil {
		return nil
	}
	return o.g.member.Newest()
}

// Serve sends the values of all vectors to a rank that has joined a running job.
func (o owner) Serve(c net.Conn, from int, w *client.Wiring) error { return o.g.give(c, from, w) }
