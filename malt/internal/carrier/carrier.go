// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math"
	"time"

	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/link/netconn"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/malt/internal/pace"
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
	barrier   barrier
	changed   chan struct{} // closed when something happens for which a call may wait; nil: no call waits
	over      bool
}

// described is a rank's description of an object.
type described struct {
	rank int
	text []byte
}

// New returns the carrier of an epoch. Start begins the traffic.
func New(cfg Config) *Carrier {
	c := &Carrier{Config: cfg, self: cfg.Members.Position(cfg.Rank), objects: map[uint32]*object{}, described: map[uint32][]described{}, left: map[uint32][]int{}}
	// Updates have checksums of their own: frames need none.
	c.set = link.Set{Rank: cfg.Rank, NoSum: true, Log: cfg.Log, Owner: c, Failed: make(chan struct{})}
	c.set.Driver = netconn.New(&c.set)
	c.peers = make([]*peer, len(cfg.Members))
	for position, rank := range cfg.Members {
		if rank != cfg.Rank {
			c.peers[position] = &peer{c: c, position: position}
			c.peers[position].link = link.New(link.Peer{Rank: rank}, c.peers[position])
		}
	}
	c.barrier.init(cfg.Tree, c.self)
	return c
}

// Start takes over the open connections, and each further one when it opens.
func (c *Carrier) Start() error {
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
		return c.set.Attach(c.peers[at].link, p)
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
	for {
		switch {
		case c.over:
			return ErrOver
		case ready():
			return nil
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
		if c.barrier.neighbour(position) {
			p.describe = append(p.describe, s.ID)
		}
		if (o.in[position] != nil || o.out[position] != nil) && !p.reached && !c.barrier.neighbour(position) {
			p.reached = true
			rank := p.link.Rank
			c.Conns.Reach(rank, c.DialTimeout, func(err error) { c.Fail(rank, fmt.Errorf("cannot connect: %w", err)) })
		}
	}
	c.wake()
	c.set.Wake()
	return nil
}

// Send queues an update of an object for its receivers of the round. fill writes the update behind dst. If the
// object's synchrony demands it, Send waits for acknowledgements first.
//
// The update belongs to a round that Receive completes. With ASP each Send is a round of its own.
func (c *Carrier) Send(ctx context.Context, id uint32, h Head, fill func(dst []byte) ([]byte, error)) error {
	c.set.Mu.Lock()
	o := c.objects[id]
	if o.Mode != pace.ASP && o.pace.Sent() {
		c.set.Mu.Unlock()
		return fmt.Errorf("malt: %s: a second update in round %d: gather first", o.Name, o.pace.Round())
	}
	if err := c.wait(ctx, func() bool { return len(o.pace.BeforeSend()) == 0 && (o.Full != Block || !o.anyFull()) }); err != nil {
		defer c.set.Mu.Unlock()
		return c.waitError(err, "sending "+o.Name, o.pace.BeforeSend())
	}
	if o.Full == Fail && o.anyFull() {
		c.set.Mu.Unlock()
		return ErrFull
	}
	b := o.buffers.get()
	c.set.Mu.Unlock()

	// Encoding and checksum take long, and no other goroutine has b.
	data, err := fill(b.data[:0])
	if err == nil && len(data) > o.Size {
		err = fmt.Errorf("malt: %s: an update of %d bytes, the limit is %d", o.Name, len(data), o.Size)
	}
	sum := uint32(0)
	if err == nil {
		b.data, sum = data, crc32.Checksum(data, castagnoli)
	}
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	if err != nil {
		o.buffers.put(b)
		return err
	}
	h.Round = uint64(o.pace.Round())
	receivers := o.pace.Send()
	b.users.Store(int32(len(receivers)) + 1)
	for _, to := range receivers {
		o.out[to].push(outgoing{updateHead{Head: h, object: id, size: uint64(len(data)), sum: sum}, b})
		if l := c.peers[to].link; l.IsOpen() {
			l.Wake()
		}
	}
	b.release()
	if o.Mode == pace.ASP {
		o.pace.Merge() // a round of its own
	}
	return nil
}

// anyFull reports whether the queue of a receiver of this round is full.
func (o *object) anyFull() bool {
	for _, to := range o.Graph.Out(o.pace.Round(), o.pace.Rank()) {
		if o.out[to].full() {
			return true
		}
	}
	return false
}

// Receive waits as the object's synchrony demands, and calls use with the updates that are to be merged, by
// sender and oldest first. They are valid during the call. Then the round is complete.
//
// Receive returns without a call if the rank has not sent in this round: a membership has just begun.
func (c *Carrier) Receive(ctx context.Context, id uint32, use func([]Arrival)) error {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	o := c.objects[id]
	if o.Mode != pace.ASP && !o.pace.Sent() {
		return nil
	}
	if o.Mode == pace.BSP {
		if err := c.pass(ctx); err != nil {
			return err
		}
	}
	if err := c.wait(ctx, func() bool { return len(o.pace.BeforeMerge()) == 0 }); err != nil {
		return c.waitError(err, "gathering "+o.Name, o.pace.BeforeMerge())
	}
	o.take()
	c.lend(o, use)
	o.giveBack(c.Members)
	if o.Mode == pace.ASP {
		return nil
	}
	round := uint64(o.pace.Round())
	for _, from := range o.pace.Merge() {
		c.peers[from].tell(note{noteAck, id, round})
	}
	return nil
}

// lend calls use with the taken updates, without the lock. The lock is held again even if use panics.
func (c *Carrier) lend(o *object, use func([]Arrival)) {
	c.set.Mu.Unlock()
	defer c.set.Mu.Lock()
	use(o.taken)
}

// take moves the updates that are merged now from the queues to taken. Newer ones stay; older ones go.
func (o *object) take() {
	o.taken = o.taken[:0]
	for from, q := range o.in {
		if q == nil {
			continue
		}
		kept := q.updates[:0]
		for _, a := range q.updates {
			switch {
			case o.pace.Accepts(from, int(a.Round)):
				a.Weight = o.weight(from)
				o.taken = append(o.taken, a)
			case int(a.Round) > o.pace.Round():
				kept = append(kept, a)
			default:
				q.overwritten++ // too late to be merged
				q.recycle(a.Data)
			}
		}
		q.updates = kept
	}
}

// weight returns the weight of the edge from a position in this round. Without one it is that of a
// uniform average.
func (o *object) weight(from int) float64 {
	in := o.Graph.In(o.pace.Round(), o.pace.Rank())
	for _, e := range in {
		if e.From == from {
			return e.Weight
		}
	}
	return 1 / float64(len(in)+1)
}

// giveBack returns the memory of taken updates.
func (o *object) giveBack(live members.Set) {
	for i, a := range o.taken {
		o.in[live.Position(a.From)].recycle(a.Data)
		o.taken[i] = Arrival{}
	}
	o.taken = o.taken[:0]
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
	c.enter(math.MaxUint64)
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
}
