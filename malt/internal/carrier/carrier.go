// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/link/netconn"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/monitor/traffic"
)

// ErrOver is returned by calls that wait, when the membership of the carrier has ended.
var ErrOver = errors.New("malt: the membership has ended")

// Config configures a carrier.
type Config struct {
	Rank    int         // this process's number in the job
	Members members.Set // the ranks of the epoch
	Tree    topo.Tree   // by position; barriers go along it
	Conns   *mesh.Epoch // the connections, those of the tree already open
	Tagged  bool        // frames have tags

	// Barriers counts the calls of Barrier in all memberships; nil: none before.
	Barriers *atomic.Uint64

	// Memory returns the way to write into a rank's memory; nil, or a result nil: updates go over the link.
	Memory func(rank int) Memory

	// Traffic counts what this rank transfers, and its waits; nil: nothing is counted.
	Traffic *traffic.Meter

	DialTimeout time.Duration                                 // for a connection that is not one of the tree
	Explain     func(name string, ours, theirs []byte) string // describes a difference of two descriptions, in words
	// Fail is called with a failure of the connection to a rank, or with rank < 0 for an error that ends the job. It is called under the carrier's lock: it
	// returns at once and does not call the carrier.
	Fail func(rank int, err error)
	Log  *slog.Logger
}

// Carrier has the links of one epoch. Its methods may be called by several goroutines.
type Carrier struct {
	Config
	self int // position among the members
	set  link.Set

	// Under the set's lock.
	peers     []*peer // by position; nil for this rank
	objects   map[uint32]*object
	described map[uint32][]described // by object: what others say of it
	left      map[uint32][]int       // by object that this rank has not registered: positions that have left it
	tree      tree
	barriers  map[uint32]*barrier // of calls, and of objects
	changed   chan struct{}       // closed when something happens for which a call may wait; nil: no call waits
	over      bool
	stopped   bool // Close has ended everything that uses memory, except for what using counts
	using     int  // calls that use mailboxes without the lock

	work sync.WaitGroup // steps of agreements
}

// described is a rank's description of an object.
type described struct {
	rank int
	text []byte
}

// New returns the carrier of an epoch. Start begins the traffic.
func New(cfg Config) *Carrier {
	c := &Carrier{Config: cfg, self: cfg.Members.Position(cfg.Rank), objects: map[uint32]*object{}, barriers: map[uint32]*barrier{}, described: map[uint32][]described{}, left: map[uint32][]int{}}
	// Updates have checksums of their own: frames need none.
	c.set = link.Set{Rank: cfg.Rank, NoSum: true, Log: cfg.Log, Owner: c, Failed: make(chan struct{})}
	c.set.Driver = netconn.New(&c.set)
	c.peers = make([]*peer, len(cfg.Members))
	for position, rank := range cfg.Members {
		if rank != cfg.Rank {
			c.peers[position] = &peer{c: c, position: position}
			c.peers[position].link = link.New(link.Peer{Rank: rank}, c.peers[position])
			if cfg.Memory != nil {
				c.peers[position].remote = cfg.Memory(rank)
			}
		}
	}
	c.tree = newTree(cfg.Tree, c.self)
	if c.Barriers == nil {
		c.Barriers = new(atomic.Uint64)
	}
	return c
}

// Start takes over the open connections, and each further one when it opens.
func (c *Carrier) Start() error {
	c.set.Mu.Lock()
	c.resume(c.barrier(calls), c.Barriers.Load())
	c.set.Mu.Unlock()
	return c.Conns.HandOver(func(rank int, conn mesh.Conn) error {
		p := link.Peer{Conn: conn.Conn, Rank: rank, Host: conn.Host}
		if c.Tagged {
			p.Tags = link.TagsOf(conn.Exchange, conn.Role)
		}
		at := c.Members.Position(rank)
		if at < 0 || at == c.self {
			return fmt.Errorf("rank %d is no other member", rank)
		}
		c.set.Mu.Lock()
		defer c.set.Mu.Unlock()
		if c.over {
			return ErrOver
		}
		if err := c.set.Attach(c.peers[at].link, p); err != nil {
			return err
		}
		if peer := c.peers[at]; peer.remote != nil {
			peer.do(peer.greet)
		}
		return nil
	})
}

// LinkFailed is called by the links.
func (c *Carrier) LinkFailed(l *link.Link, err error) {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	if !c.over {
		c.Fail(l.Rank, err)
	}
}

// Announce is called by drivers of long collectives, of which there are none here.
func (c *Carrier) Announce() {}

// wake wakes all calls that wait. The lock is held.
func (c *Carrier) wake() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// wait waits until ready returns true. The lock is held when wait is called, when ready is, and when wait
// returns.
func (c *Carrier) wait(ctx context.Context, ready func() bool) error {
	for first := true; ; first = false {
		switch {
		case c.over:
			return ErrOver
		case ready():
			return nil
		}
		if first {
			c.Traffic.Begin(time.Now(), traffic.Waiting)
			defer func() { c.Traffic.Begin(time.Now(), traffic.Computing) }()
		}
		if c.changed == nil {
			c.changed = make(chan struct{})
		}
		changed := c.changed
		c.set.Mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		c.set.Mu.Lock()
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
	}
}

// Register adds an object. It tells the neighbours in the tree about it, and opens the connections to its
// neighbours in the graph.
func (c *Carrier) Register(s Spec) error {
	o, err := c.newObject(s)
	if err != nil {
		return err
	}
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	c.objects[s.ID] = o
	for _, position := range c.left[s.ID] {
		o.pace.Left(position)
	}
	delete(c.left, s.ID)
	for _, d := range c.described[s.ID] {
		if err := o.mismatch(c.Rank, d.rank, d.text, c.Explain); err != nil {
			return err
		}
	}
	for position, p := range c.peers {
		if p == nil {
			continue
		}
		p.register(o)
		if c.tree.neighbour(position) {
			p.describe = append(p.describe, s.ID)
		}
		if (o.in[position] != nil || o.out[position] != nil) && !p.reached && !c.tree.neighbour(position) {
			p.reached = true
			rank := p.link.Rank
			c.Conns.Reach(rank, c.DialTimeout, func(err error) { c.Fail(rank, fmt.Errorf("cannot connect: %w", err)) })
		}
	}
	c.begin(o)
	c.wake()
	c.set.Wake()
	return nil
}

// waitError describes a wait that has ended, by the ranks for which it was.
func (c *Carrier) waitError(err error, doing string, positions []int) error {
	if errors.Is(err, ErrOver) || len(positions) == 0 {
		return err
	}
	ranks := make([]int, len(positions))
	for i, position := range positions {
		ranks[i] = c.Members.Rank(position)
	}
	return fmt.Errorf("malt: rank %d: %s: waiting for ranks %v: %w", c.Rank, doing, ranks, err)
}

// Waits returns the first rank for which a round of the object waits, or -1.
func (c *Carrier) Waits(id uint32) int {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	o := c.objects[id]
	if o == nil {
		return -1
	}
	for _, positions := range [][]int{o.pace.BeforeSend(), o.pace.BeforeMerge()} {
		if len(positions) > 0 && o.pace.Sent() {
			return c.Members.Rank(positions[0])
		}
	}
	return -1
}

// LeaveAll tells the other ranks that this one sends no more updates and merges none, and enters all barriers.
func (c *Carrier) LeaveAll() {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	for id, o := range c.objects {
		for position, p := range c.peers {
			if p != nil && (o.in[position] != nil || o.out[position] != nil) {
				p.later = append(p.later, note{noteLeft, id, 0})
				p.poke()
			}
		}
	}
	c.announce(c.barrier(calls), everything)
	for _, b := range c.barriers {
		c.passOn(b)
	}
}

// Stats returns the counts of an object in this epoch.
func (c *Carrier) Stats(id uint32) Stats {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	if o := c.objects[id]; o != nil {
		return o.stats()
	}
	return Stats{}
}

// Flush waits until all queued messages have been written to the network.
func (c *Carrier) Flush(ctx context.Context) error {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	return c.wait(ctx, func() bool {
		for _, p := range c.peers {
			if p != nil && p.link.IsOpen() && p.busy() {
				return false
			}
		}
		return true
	})
}

// Close ends all links and all waits, with ErrOver. It waits for the carrier's goroutines.
func (c *Carrier) Close() {
	c.set.Mu.Lock()
	c.over = true
	c.set.Ending = true
	c.wake()
	c.set.Wake()
	c.set.Mu.Unlock()
	c.set.Driver.Stop()
	c.Conns.Close()
	c.set.Driver.Wait()
	c.Conns.End()
	c.work.Wait()
	for _, p := range c.peers {
		if p != nil && p.remote != nil {
			p.remote.Stop()
		}
	}
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	c.stopped = true
	c.free()
}

// unlocked calls work, which may panic, without the lock, which is held before and after.
func (c *Carrier) unlocked(work func()) {
	c.set.Mu.Unlock()
	defer c.set.Mu.Lock()
	work()
}

// hold notes that a call begins to use mailboxes without the lock, which is held now.
func (c *Carrier) hold() { c.using++ }

// drop ends hold. The lock is held.
func (c *Carrier) drop() {
	c.using--
	c.free()
}

// free closes all mailboxes, once the carrier has stopped and no call uses them: a learner may be in the middle of a
// merge when the membership ends. The lock is held.
func (c *Carrier) free() {
	if !c.stopped || c.using > 0 {
		return
	}
	for _, o := range c.objects {
		for _, q := range o.in {
			if q != nil && q.box != nil {
				c.closed(q.box.inbox.Close())
				q.box = nil
			}
		}
		for _, q := range o.out {
			if q != nil && q.opened != nil {
				c.closed(q.opened.outbox.Close())
				q.opened, q.window = nil, nil
			}
		}
	}
}

// closed reports memory that could not be given back.
func (c *Carrier) closed(err error) {
	if err != nil {
		c.Log.Warn("cannot give back the memory of a mailbox", "rank", c.Rank, "err", err)
	}
}
