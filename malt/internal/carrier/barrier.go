// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/malt/internal/pace"
)

// calls identifies the barriers of Barrier. Those of an object with BSP have its number.
const calls = math.MaxUint32

// everything is the number of a rank that enters no more: it holds back no other rank.
const everything = math.MaxUint64

// tree has the positions next to this one in the tree of the barriers.
type tree struct {
	parent   int
	children []int
}

func newTree(t topo.Tree, self int) tree {
	n := tree{parent: t.Parent(self)}
	left, right := t.Children(self)
	for _, child := range []int{left, right} {
		if child != topo.None {
			n.children = append(n.children, child)
		}
	}
	return n
}

// neighbour reports whether a position is next to this rank in the tree.
func (t *tree) neighbour(position int) bool {
	for _, child := range t.children {
		if child == position {
			return true
		}
	}
	return position == t.parent
}

// barrier is a sequence of barriers along the tree: those of Barrier, or the rounds of an object. A rank that enters
// tells the receivers of its updates that it has sent all. When it has that message from all its senders, and the one
// of all its children, it sends one to its parent. The root then releases its children, and they theirs.
//
// Barriers are counted over all memberships. At the beginning of one the ranks tell each other how many they have
// entered, so that none waits for a rank that has passed a barrier which the end of the last membership interrupted here.
type barrier struct {
	id      uint32
	entered uint64   // barriers that this rank has entered
	up      []uint64 // by child: barriers that its subtree has entered
	told    uint64   // barriers reported to the parent
	passed  uint64   // barriers that all ranks have entered
	down    []uint64 // by child: barriers of which it has been told that they are passed
	fenced  []uint64 // by position: barriers before which all its updates have arrived
}

// barrier returns the barriers of an object, or those of calls. The lock is held.
func (c *Carrier) barrier(id uint32) *barrier {
	b := c.barriers[id]
	if b == nil {
		children := len(c.tree.children)
		b = &barrier{id: id, up: make([]uint64, children), down: make([]uint64, children), fenced: make([]uint64, len(c.peers))}
		c.barriers[id] = b
	}
	return b
}

// heard takes a message of a barrier. The lock is held.
func (c *Carrier) heard(from int, n note) error {
	if c.barriers[n.object] == nil && len(c.barriers) > len(c.objects)+maxEarly {
		return fmt.Errorf("messages of barriers of more than %d objects that this rank has not created", maxEarly)
	}
	b := c.barrier(n.object)
	switch n.kind {
	case noteSent:
		b.fenced[from] = max(b.fenced[from], n.number)
		if o := c.objects[n.object]; o != nil {
			o.pace.Began(from, int(b.fenced[from]))
		}
	case noteUp:
		for i, child := range c.tree.children {
			if child == from {
				b.up[i] = max(b.up[i], n.number)
			}
		}
	case noteDown:
		if from == c.tree.parent {
			b.passed = max(b.passed, n.number)
		}
	}
	c.passOn(b)
	if b.id == calls && n.number == everything {
		for _, other := range c.barriers {
			c.passOn(other)
		}
	}
	c.wake()
	return nil
}

// complete returns the number of barriers that this rank and all below it have entered, and before which all
// updates have arrived there. A rank that has left has entered all. All have entered a round that this rank has passed in
// an earlier membership.
func (c *Carrier) complete(b *barrier) uint64 {
	all := c.barrier(calls)
	least := func(n, number, left uint64) uint64 {
		if left == everything {
			return n
		}
		return min(n, number)
	}
	n := least(everything, b.entered, all.entered)
	for i := range b.up {
		n = least(n, b.up[i], all.up[i])
	}
	for position, p := range c.peers {
		if p != nil && p.sends(b.id) {
			n = least(n, b.fenced[position], all.fenced[position])
		}
	}
	if o := c.objects[b.id]; o != nil {
		n = max(n, o.Passed.Load())
	}
	return n
}

// sends reports whether updates that the barriers of an object fence arrive from this peer.
func (p *peer) sends(id uint32) bool {
	if id == calls {
		_, from := p.edges()
		return from
	}
	o := p.c.objects[id]
	return o != nil && o.in[p.position] != nil
}

// receives reports whether updates that the barriers of an object fence go to this peer.
func (p *peer) receives(id uint32) bool {
	if id == calls {
		to, _ := p.edges()
		return to
	}
	return p.c.objects[id].out[p.position] != nil
}

// passOn sends what the state of a barrier makes due. The lock is held.
func (c *Carrier) passOn(b *barrier) {
	if n := c.complete(b); n > b.told {
		b.told = n
		if c.tree.parent == topo.None {
			b.passed = n
		} else {
			c.peers[c.tree.parent].tell(note{noteUp, b.id, n})
		}
	}
	if o := c.objects[b.id]; o != nil && b.passed != everything {
		o.Passed.Store(max(b.passed, o.Passed.Load()))
	}
	for i, child := range c.tree.children {
		if b.down[i] < b.passed {
			b.down[i] = b.passed
			// It precedes updates, which the child may be unable to take before it has passed the barrier.
			c.peers[child].tell(note{noteDown, b.id, b.passed})
		}
	}
}

// Barrier waits until all ranks of the epoch have called it as often as this one. All updates that they have sent
// before have arrived then. If the epoch was over before, the call does not count, and entered is false.
func (c *Carrier) Barrier(ctx context.Context) (entered bool, err error) {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	if c.over {
		return false, ErrOver
	}
	n := c.Barriers.Add(1)
	err = c.enter(ctx, c.barrier(calls), n)
	if err != nil && !errors.Is(err, ErrOver) {
		err = fmt.Errorf("malt: rank %d: waiting in barrier %d: %w", c.Rank, n, err)
	}
	return true, err
}

// Settle waits until all ranks of the epoch have sent as many rounds of an object with BSP as this one.
func (c *Carrier) Settle(ctx context.Context, id uint32) error {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	o, b := c.objects[id], c.barrier(id)
	err := c.wait(ctx, func() bool { return b.passed >= o.Rounds.Load() || c.barrier(calls).passed == everything })
	if err != nil && !errors.Is(err, ErrOver) {
		err = fmt.Errorf("malt: rank %d: waiting for all ranks to send round %d of %s: %w", c.Rank, o.Rounds.Load(), o.Name, err)
	}
	return err
}

// AllLeft waits until all ranks of the epoch have called LeaveAll.
func (c *Carrier) AllLeft(ctx context.Context) error {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	return c.wait(ctx, func() bool { return c.barrier(calls).passed == everything })
}

// begin tells the others how many rounds of an object this rank has sent in earlier memberships, and takes over
// what they have told before. The lock is held.
func (c *Carrier) begin(o *object) {
	b := c.barrier(o.ID)
	for position, n := range b.fenced {
		if n > 0 {
			o.pace.Began(position, int(n))
		}
	}
	if n := c.barrier(calls).entered; n > 0 {
		c.fence(calls, n, (*peer).tellLater) // the object may have made an edge
	}
	switch n := o.Rounds.Load(); {
	case o.Mode == pace.BSP:
		b.passed = max(b.passed, o.Passed.Load())
		c.resume(b, n)
	case n > 0:
		c.fence(o.ID, n, (*peer).tell)
	}
}

// Inherited tells the other ranks the number of barriers that this one has entered. Barriers has changed since Start:
// this rank has joined a running job.
func (c *Carrier) Inherited() {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	if b := c.barrier(calls); b.entered != everything {
		c.resume(b, c.Barriers.Load())
	}
}

// announce notes that this rank has entered n barriers, and tells the others. The lock is held.
func (c *Carrier) announce(b *barrier, n uint64) {
	b.entered = n
	c.fence(b.id, n, (*peer).tellLater)
	c.passOn(b)
}

// resume is announce for barriers that this rank has entered in earlier memberships, whose updates are dropped. Updates
// of this membership do not hold it back: their receiver may wait for it before it creates the object that it takes
// them for.
func (c *Carrier) resume(b *barrier, n uint64) {
	b.entered = n
	c.fence(b.id, n, (*peer).tell)
	c.passOn(b)
}

// fence tells the receivers of an object's updates that those before a barrier are sent. The lock is held.
func (c *Carrier) fence(id uint32, n uint64, tell func(*peer, note)) {
	for _, p := range c.peers {
		if p != nil && p.receives(id) {
			tell(p, note{noteSent, id, n})
		}
	}
}

// enter enters barrier n, and waits until all ranks have. The lock is held.
func (c *Carrier) enter(ctx context.Context, b *barrier, n uint64) error {
	c.announce(b, n)
	return c.wait(ctx, func() bool { return b.passed >= n || c.barrier(calls).passed == everything })
}
