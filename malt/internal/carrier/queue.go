// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"sync/atomic"

	"github.com/gvw-project/gvw/malt/internal/mailbox"
)

// Full is what a sender does when the queue of a receiver is full.
type Full uint8

const (
	DropOldest Full = iota // drop the oldest update that is not being written
	Block                  // wait until there is room
	Fail                   // return ErrFull
)

// buffer is the memory of an update that goes to several receivers. The last one releases it.
type buffer struct {
	data  []byte
	users atomic.Int32
	pool  *pool
}

func (b *buffer) release() {
	if b.users.Add(-1) == 0 {
		b.pool.put(b)
	}
}

// pool keeps free buffers of one object. It is used under the carrier's lock.
type pool struct{ free []*buffer }

func (p *pool) get() *buffer {
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	return &buffer{pool: p}
}

func (p *pool) put(b *buffer) { p.free = append(p.free, b) }

// outgoing is an update in a sender's queue.
type outgoing struct {
	head updateHead
	buf  *buffer
}

// sendQueue holds the updates of one object for one receiver, oldest first. The update that is being written
// is not in it.
//
// Once window is set, updates are written there, and the queue remains empty.
type sendQueue struct {
	updates []outgoing
	depth   int
	dropped uint64

	opened      *window  // the receiver's mailbox; nil: none yet
	window      *window  // opened, since the first Send that uses it
	unconfirmed []uint64 // rounds that were written to the window, and of which the receiver has not been told
}

func (q *sendQueue) full() bool {
	if q.window != nil {
		return !q.window.outbox.Room()
	}
	return len(q.updates) >= q.depth
}

// push appends an update and drops the oldest one if the queue is full.
func (q *sendQueue) push(u outgoing) {
	if len(q.updates) >= q.depth {
		q.pop().buf.release()
		q.dropped++
	}
	q.updates = append(q.updates, u)
}

func (q *sendQueue) pop() outgoing {
	u := q.updates[0]
	n := copy(q.updates, q.updates[1:])
	q.updates[n] = outgoing{}
	q.updates = q.updates[:n]
	return u
}

// Arrival is an update that has arrived.
type Arrival struct {
	Head
	From   int     // rank of the sender
	Weight float64 // of the edge from it in the round of the receiver; of a uniform average if a sender has no such edge
	Data   []byte

	box    *box           // the mailbox that has Data; nil: none
	update mailbox.Update // in the mailbox
	owned  bool           // Data is a copy
}

// receiveQueue holds the updates of one object from one sender, oldest first, and free memory for the next ones.
type receiveQueue struct {
	updates     []Arrival
	depth       int
	free        [][]byte
	received    uint64
	overwritten uint64
	damaged     uint64
	box         *box  // the sender's mailbox; nil: none
	boxed       Stats // of the box
}

// memory returns memory for an update of n bytes. A full queue gives that of its oldest update.
func (q *receiveQueue) memory(n, limit int) []byte {
	if k := len(q.free); k > 0 {
		b := q.free[k-1]
		q.free = q.free[:k-1]
		return b[:n]
	}
	return make([]byte, n, limit)
}

// push appends an update, and overwrites the oldest one if the queue is full.
func (q *receiveQueue) push(a Arrival) {
	q.received++
	if len(q.updates) == q.depth {
		q.overwritten++
		q.recycle(q.updates[0].Data)
		n := copy(q.updates, q.updates[1:])
		q.updates = q.updates[:n]
	}
	q.updates = append(q.updates, a)
}

// recycle takes back memory that memory has returned.
func (q *receiveQueue) recycle(b []byte) { q.free = append(q.free, b[:0]) }
