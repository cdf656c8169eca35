// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/allreduce/topo"
)

// barrier counts barriers along a tree. A rank that enters tells the receivers of its updates that it has sent all.
// When it has that message from all its senders, and the one of all its children, it sends one to its parent. The
// root then releases its children, and they theirs.
type barrier struct {
	parent   int
	children []int
	entered  uint64   // barriers that this rank has entered
	up       []uint64 // by child: barriers that its subtree has entered
	told     uint64   // barriers reported to the parent
	passed   uint64   // barriers that all ranks have entered
}

func (b *barrier) init(t topo.Tree, self int) {
	b.parent = t.Parent(self)
	left, right := t.Children(self)
	for _, child := range []int{left, right} {
		if child != topo.None {
			b.children = append(b.children, child)
		}
	}
	b.up = make([]uint64, len(b.children))
}

// neighbour reports whether a position is next to this rank in the tree.
func (b *barrier) neighbour(position int) bool {
	for _, child := range b.children {
		if child == position {
			return true
		}
	}
	return position == b.parent
}

// heard notes a message of a neighbour.
func (b *barrier) heard(from int, n note) {
	if n.kind == noteDown && from == b.parent {
		b.passed = max(b.passed, n.number)
	}
	for i, child := range b.children {
		if child == from && n.kind == noteUp {
			b.up[i] = max(b.up[i], n.number)
		}
	}
}

// complete returns the number of barriers that this rank and all below it have entered, and before which all
// updates have arrived there.
func (c *Carrier) complete() uint64 {
	n := c.barrier.entered
	for _, up := range c.barrier.up {
		n = min(n, up)
	}
	for _, p := range c.peers {
		if p == nil {
			continue
		}
		if _, from := p.edges(); from {
			n = min(n, p.fenced)
		}
	}
	return n
}

// passOn sends what the state of the barrier makes due. The lock is held.
func (c *Carrier) passOn() {
	b := &c.barrier
	if n := c.complete(); n > b.told {
		b.told = n
		if b.parent == topo.None {
			b.passed = n
		} else {
			c.peers[b.parent].tell(note{noteUp, 0, n})
		}
	}
	for _, child := range b.children {
		p := c.peers[child]
		if p.passed < b.passed {
			p.passed = b.passed
			// It precedes updates, which the child may be unable to take before it has passed the barrier.
			p.tell(note{noteDown, 0, b.passed})
		}
	}
}

// Barrier waits until all ranks of the epoch have called it as often as this one. All updates that they have sent
// before have arrived then.
func (c *Carrier) Barrier(ctx context.Context) error {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	return c.barrierPass(ctx)
}

// AllLeft waits until all ranks of the epoch have called LeaveAll.
func (c *Carrier) AllLeft(ctx context.Context) error {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	return c.wait(ctx, func() bool { return c.barrier.passed == math.MaxUint64 })
}

// enter notes that this rank has entered n barriers. The lock is held.
func (c *Carrier) enter(n uint64) {
	c.barrier.entered = n
	for _, p := range c.peers {
		if p == nil {
			continue
		}
		if to, _ := p.edges(); to {
			p.later = append(p.later, note{noteSent, 0, n})
			p.poke()
		}
	}
	c.passOn()
}

// barrierPass enters a barrier, and waits until all ranks have. The lock is held.
func (c *Carrier) barrierPass(ctx context.Context) error {
	n := c.barrier.entered + 1
	c.enter(n)
	err := c.wait(ctx, func() bool { return c.barrier.passed >= n })
	if err != nil && !errors.Is(err, ErrOver) {
		return fmt.Errorf("malt: rank %d: waiting in barrier %d: %w", c.Rank, n, err)
	}
	return err
}
