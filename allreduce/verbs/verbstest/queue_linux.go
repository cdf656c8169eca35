// SPDX-License-Identifier: Apache-2.0

package verbstest

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/gvw-project/gvw/allreduce/verbs"
)

// queue is a queue pair.
type queue struct {
	f      *Fabric
	number uint32
	conf   verbs.QueueConfig
	peer   uint32 // 0: not connected
	fd     int
	armed  bool
	broken bool
	held   int // used places of the send queue
	out    []sending
	in     []receive
	done   []verbs.Completion
}

// sending is a message in transit.
type sending struct {
	verbs.Work
	kept [inline]byte // a copy of Mem, for an inline send
}

func (s *sending) mem() []byte {
	if s.Inline {
		return s.kept[:len(s.Mem)]
	}
	return s.Mem
}

// receive is memory for one message.
type receive struct {
	id  uint64
	mem []byte
}

const inline = 64

func (q *queue) Number() uint32 { return q.number }
func (q *queue) Inline() int    { return min(inline, q.conf.Inline) }
func (q *queue) FD() int        { return q.fd }

func (q *queue) Silence() {
	var b [8]byte
	_, _ = unix.Read(q.fd, b[:]) // empty: it is silent
}

func (q *queue) Connect(p verbs.Peer, _ uint32) error {
	q.f.mu.Lock()
	defer q.f.mu.Unlock()
	q.peer = p.Queue
	return nil
}

func (q *queue) Receive(id uint64, mem []byte, key uint32) error {
	q.f.mu.Lock()
	defer q.f.mu.Unlock()
	switch {
	case len(q.in) == q.conf.Receives:
		return unix.ENOMEM
	case q.f.regions[key] == nil:
		return fmt.Errorf("verbstest: no region has key %d", key)
	}
	q.in = append(q.in, receive{id, mem})
	return nil
}

func (q *queue) Send(w verbs.Work) error {
	q.f.mu.Lock()
	defer q.f.mu.Unlock()
	switch {
	case q.peer == 0:
		return errors.New("verbstest: the queue pair is not connected")
	case q.held == q.conf.Sends:
		return unix.ENOMEM // hardware frees a place when its completion is polled
	case w.Inline && len(w.Mem) > q.Inline():
		return unix.EINVAL
	case q.f.regions[w.Key] == nil && w.Op != verbs.OpBind && w.Op != verbs.OpInvalidate:
		return fmt.Errorf("verbstest: no region has key %d", w.Key)
	}
	q.held++
	q.out = append(q.out, sending{Work: w})
	if w.Inline {
		copy(q.out[len(q.out)-1].kept[:], w.Mem)
	}
	if q.broken {
		q.flush()
	} else if p := q.f.queues[q.peer]; p == nil || p.armed || q.armed {
		q.deliver(len(q.out))
	}
	return nil
}

// Poll delivers some of the messages in transit in both directions, and returns completions.
func (q *queue) Poll(dst []verbs.Completion) (int, error) {
	q.f.mu.Lock()
	defer q.f.mu.Unlock()
	q.deliver(q.f.rng.IntN(len(q.out) + 1))
	if p := q.f.queues[q.peer]; p != nil && p.peer == q.number {
		p.deliver(p.f.rng.IntN(len(p.out) + 1))
	}
	n := copy(dst, q.done)
	q.done = q.done[:copy(q.done, q.done[n:])]
	for _, c := range dst[:n] {
		if c.Op != verbs.OpReceive {
			q.held--
		}
	}
	return n, nil
}

// Arm delivers all messages, because there may be no further poll.
func (q *queue) Arm() error {
	q.f.mu.Lock()
	defer q.f.mu.Unlock()
	q.armed = true
	q.deliver(len(q.out))
	if p := q.f.queues[q.peer]; p != nil && p.peer == q.number {
		p.deliver(len(p.out))
	}
	return nil
}

// complete adds a completion, and wakes its waiter.
func (q *queue) complete(c verbs.Completion) {
	q.done = append(q.done, c)
	if q.armed {
		q.armed = false
		one := [8]byte{1}
		_, _ = unix.Write(q.fd, one[:])
	}
}

// deliver brings the first n messages to the other end.
func (q *queue) deliver(n int) {
	for ; n > 0 && len(q.out) > 0; n-- {
		w := &q.out[0]
		status := verbs.RetryExceeded // there is no peer
		if w.Op == verbs.OpBind {
			status = q.bind(&w.Work)
		} else if w.Op == verbs.OpInvalidate {
			status = q.invalidate(w.RemoteKey)
		} else if p := q.f.queues[q.peer]; p != nil && !p.broken && p.peer == q.number {
			status = p.take(w)
		}
		if status != verbs.Success {
			q.breaks(status)
			return
		}
		done := verbs.Completion{ID: w.ID, Op: w.Op}
		q.out = q.out[:copy(q.out, q.out[1:])]
		q.complete(done)
	}
}

// take receives a message.
func (q *queue) take(w *sending) verbs.Status {
	if w.Op == verbs.OpWriteNote || w.Op == verbs.OpWrite {
		mem, ok := q.at(w.RemoteKey, w.Remote, len(w.Mem))
		if !ok {
			return verbs.RemoteAccess
		}
		copy(mem, w.mem())
		q.f.writes++
	}
	if w.Op == verbs.OpWrite {
		return verbs.Success
	}
	if len(q.in) == 0 {
		return verbs.ReceiverNotRdy
	}
	r := q.in[0]
	c := verbs.Completion{ID: r.id, Op: verbs.OpReceive, Len: len(w.Mem)}
	if w.Op != verbs.OpWriteNote {
		if len(w.Mem) > len(r.mem) {
			return verbs.Status(1)
		}
		copy(r.mem, w.mem())
	}
	if c.Noted = w.Op != verbs.OpSend; c.Noted {
		c.Imm = w.Imm
	}
	q.in = q.in[:copy(q.in, q.in[1:])]
	q.complete(c)
	return verbs.Success
}

// breaks puts the queue pair into the error state. The first request fails with status.
func (q *queue) breaks(status verbs.Status) {
	if q.broken {
		return
	}
	q.broken = true
	if len(q.out) > 0 {
		w := q.out[0]
		q.out = q.out[1:]
		q.complete(verbs.Completion{ID: w.ID, Op: w.Op, Status: status})
	}
	q.flush()
}

// flush fails all pending requests.
func (q *queue) flush() {
	for _, w := range q.out {
		q.complete(verbs.Completion{ID: w.ID, Op: w.Op, Status: verbs.Flushed})
	}
	for _, r := range q.in {
		q.complete(verbs.Completion{ID: r.id, Op: verbs.OpReceive, Status: verbs.Flushed})
	}
	q.out, q.in = nil, nil
}

func (q *queue) Break() error {
	q.f.mu.Lock()
	defer q.f.mu.Unlock()
	q.breaks(verbs.Flushed)
	return nil
}

func (q *queue) Close() error {
	q.f.mu.Lock()
	defer q.f.mu.Unlock()
	if q.f.queues[q.number] != q {
		return fmt.Errorf("verbstest: queue %d was closed before", q.number)
	}
	for _, w := range q.f.windows {
		if w.bound && w.queue == q.number {
			return fmt.Errorf("verbstest: queue %d is closed, and window %d is bound to it", q.number, w.key)
		}
	}
	delete(q.f.queues, q.number)
	return unix.Close(q.fd)
}
