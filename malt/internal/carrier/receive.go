// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"context"
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/malt/graph"
	"github.com/gvw-project/gvw/malt/internal/pace"
)

// Receive waits as the object's synchrony demands, and calls use with the updates that are to be merged, by
// sender and oldest first. They are valid during the call. Then the round is complete.
//
// Updates in mailboxes may be overwritten during the call (Arrival.Shared), unless whole is true: then they
// are copies.
//
// Receive returns without a call if the rank has not sent in this round: a membership has just begun.
func (c *Carrier) Receive(ctx context.Context, id uint32, whole bool, use func([]Arrival)) error {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	o := c.objects[id]
	if o.Mode != pace.ASP && !o.pace.Sent() {
		return nil
	}
	if o.Mode == pace.BSP {
		if err := c.enter(ctx, c.barrier(o.ID), o.Rounds.Load()); err != nil {
			return c.waitError(err, fmt.Sprintf("gathering %s in round %d", o.Name, o.pace.Round()), o.pace.BeforeMerge())
		}
	}
	if err := c.wait(ctx, func() bool { return len(o.pace.BeforeMerge()) == 0 }); err != nil {
		return c.waitError(err, "gathering "+o.Name, o.pace.BeforeMerge())
	}
	c.hold()
	defer c.drop()
	c.take(o, whole)
	c.unlocked(func() { use(o.taken) })
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

// take sets o.taken to the updates that are merged now. The lock is held, and given back while a mailbox is read.
func (c *Carrier) take(o *object, whole bool) {
	o.taken = o.taken[:0]
	for from, q := range o.in {
		if q == nil {
			continue
		}
		o.takeQueue(from, q)
		if b := q.box; b != nil && b.on {
			first := len(o.taken)
			c.unlocked(func() { b.read(o, from, c.Members.Rank(from), whole) })
			for i := range o.taken[first:] {
				c.peers[from].counted.merged += uint64(len(o.taken[first+i].Data))
			}
			q.boxed = b.stats()
		}
	}
	o.weigh(c.Members)
}

// takeQueue moves the updates that are merged now from a queue to taken. Newer ones stay; older ones go.
func (o *object) takeQueue(from int, q *receiveQueue) {
	kept := q.updates[:0]
	for _, a := range q.updates {
		switch {
		case o.pace.Accepts(from, int(a.Round)):
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

// weigh sets the weights of taken updates: those of the edges from their senders in the round of this rank's newest
// update. With ASP that round is complete, with other modes it is the current one. If there is no such edge from one of
// them, as with a graph that changes by round and ranks that do not wait for each other, all have the weight of a uniform
// average: those of edges of several rounds might sum to more than 1.
func (o *object) weigh(live members.Set) {
	round := o.pace.Round()
	if o.Mode == pace.ASP {
		round = max(round-1, 0)
	}
	in := o.Graph.In(round, o.pace.Rank())
	senders, last, uniform := 0, -1, false
	for i := range o.taken {
		a := &o.taken[i]
		if a.From != last {
			senders, last = senders+1, a.From
		}
		from := live.Position(a.From)
		k := slices.IndexFunc(in, func(e graph.Edge) bool { return e.From == from })
		if k < 0 {
			uniform = true
			continue
		}
		a.Weight = in[k].Weight
	}
	if uniform {
		for i := range o.taken {
			o.taken[i].Weight = 1 / float64(senders+1)
		}
	}
}

// giveBack returns the memory of taken updates.
func (o *object) giveBack(live members.Set) {
	for i, a := range o.taken {
		if q := o.in[live.Position(a.From)]; a.box == nil {
			q.recycle(a.Data)
		} else {
			a.box.used = 0
			q.boxed = a.box.stats() // Own may have found damage
		}
		o.taken[i] = Arrival{}
	}
	o.taken = o.taken[:0]
}
