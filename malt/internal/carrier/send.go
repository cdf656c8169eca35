// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/malt/internal/pace"
)

// Fill writes an update behind dst. Bytes that follow and are in the caller's memory are returned as a
// view.
type Fill func(dst []byte) (head, view []byte, err error)

// Send passes an update of an object on to its receivers of the round: it writes to mailboxes, and
// queues for the links of the other receivers. If the object's synchrony demands it, Send waits for
// acknowledgements first. It sets Round and Iteration of the head.
//
// The update belongs to a round that Receive completes. With ASP each Send is a round of its own.
func (c *Carrier) Send(ctx context.Context, id uint32, h Head, fill Fill) error {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	o := c.objects[id]
	if o.Mode != pace.ASP && o.pace.Sent() {
		return fmt.Errorf("malt: %s: a second update in round %d: gather first", o.Name, o.pace.Round())
	}
	if err := c.wait(ctx, func() bool { return len(o.pace.BeforeSend()) == 0 && (o.Full != Block || !o.anyFull()) }); err != nil {
		return c.waitError(err, "sending "+o.Name, o.pace.BeforeSend())
	}
	if o.Full == Fail && o.anyFull() {
		return ErrFull
	}
	queued := c.choose(o)
	b := o.buffers.get()
	c.hold()
	defer c.drop()
	h.Round = uint64(o.pace.Round())
	h.Iteration = h.Round + 1
	var size int
	var sum uint32
	var err error
	// This takes long. No other goroutine has b or the windows.
	c.unlocked(func() { size, sum, err = o.write(b, queued, h, fill) })
	if c.over {
		err = errors.Join(err, ErrOver)
	}
	if err != nil {
		o.buffers.put(b)
		return err
	}
	c.pass(o, h, b, size, sum)
	if o.Mode == pace.ASP {
		o.pace.Merge() // a round of its own
	}
	return nil
}

// choose sets o.windows to the mailboxes of the round's receivers, and reports whether there are receivers without
// one. The lock is held.
func (c *Carrier) choose(o *object) (queued bool) {
	o.windows = o.windows[:0]
	for _, to := range o.Graph.Out(o.pace.Round(), o.pace.Rank()) {
		q, p := o.out[to], c.peers[to]
		// An update that is queued or being written to the link comes first.
		if q.window == nil && q.opened != nil && len(q.updates) == 0 && (p.current.buf == nil || p.current.head.object != o.ID) {
			q.window = q.opened
			p.tell(note{noteSwitch, o.ID, 0})
		}
		switch {
		case q.window == nil:
			queued = true
		case q.window.outbox.Room():
			o.windows = append(o.windows, q.window)
		default:
			q.dropped++
		}
	}
	return queued
}

// write writes an update to all windows, and with queued also to b. It is called without the lock.
func (o *object) write(b *buffer, queued bool, h Head, fill Fill) (size int, sum uint32, err error) {
	head, view, err := fill(b.data[:0])
	if err != nil {
		return 0, 0, err
	}
	b.data = head
	if size = len(head) + len(view); size > o.Size {
		return 0, 0, fmt.Errorf("malt: %s: an update of %d bytes, the limit is %d", o.Name, size, o.Size)
	}
	if err = begin(o.windows, size); err != nil {
		return 0, 0, fmt.Errorf("malt: %s: cannot write an update to a rank: %w", o.Name, err)
	}
	_, sum = spread(o.windows, nil, false, 0, head)
	b.data, sum = spread(o.windows, b.data, queued, sum, view)
	if err = end(o.windows, h, sum); err != nil {
		return 0, 0, fmt.Errorf("malt: %s: cannot write an update to a rank: %w", o.Name, err)
	}
	return size, sum, nil
}

// pass queues the update in b for the receivers that have no mailbox, and tells the others that it is there. The lock
// is held.
func (c *Carrier) pass(o *object, h Head, b *buffer, size int, sum uint32) {
	receivers := o.pace.Send()
	o.Rounds.Store(h.Iteration)
	b.users.Store(int32(len(receivers)) + 1)
	for _, to := range receivers {
		q, p := o.out[to], c.peers[to]
		if q.window == nil {
			q.push(outgoing{updateHead{Head: h, object: o.ID, size: uint64(size), sum: sum}, b})
			p.poke()
			continue
		}
		b.users.Add(-1)
		if slices.Contains(o.windows, q.window) {
			p.counted.wrote += uint64(size)
		}
		if o.Mode != pace.ASP {
			q.unconfirmed = append(q.unconfirmed, h.Round)
			p.confirm(o, q)
		}
	}
	o.sent += uint64(len(o.windows))
	o.written += uint64(len(o.windows))
	b.release()
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
