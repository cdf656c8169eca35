// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bufio"
	"errors"
	"io"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

// A job with vw workers speaks vw's stream: on each connection of the tree, the
// vectors of one call after the other as little-endian float32, up to the
// parent, then the results down; nothing else. Nobody tells which call the bytes
// belong to, so whoever makes other calls makes garbage of them.
//
// vw reads nothing from its parent before it has sent all of its vector up. So
// nothing is sent down before all has come up: a rank that did would wait for a vw
// worker which waits for it.
//
// A rank knows its neighbours' places, not their numbers, so the programs of the
// stream number the ranks as it sees them.
const (
	streamLeft   = 0
	streamSelf   = 1
	streamRight  = 2
	streamParent = 3
)

// streamTree is the tree as a rank of a job with vw workers sees it.
type streamTree struct {
	parent bool
	kids   int
}

func (t streamTree) Size() int { return streamParent + 1 }

func (t streamTree) Parent(int) int {
	if t.parent {
		return streamParent
	}
	return schedule.None
}

func (t streamTree) Children(int) (left, right int) {
	left, right = schedule.None, schedule.None
	if t.kids > 0 {
		left = streamLeft
	}
	if t.kids > 1 {
		right = streamRight
	}
	return left, right
}

// mayNotSend says that e leads down and not all has come up; under the lock.
func (en *engine) mayNotSend(e *edge) bool {
	if e == en.edges[streamParent] {
		return false
	}
	for _, child := range [...]int{streamLeft, streamRight} {
		if e := en.edges[child]; e != nil && e.peer != noPeer {
			if _, more := en.call.run.Awaits(e.peer); more {
				return true
			}
		}
	}
	return false
}

// readStream is the reader of an edge of a job with vw workers.
func (e *edge) readStream(br *bufio.Reader) *failure {
	for taken := int64(0); ; {
		// Wait for the first byte of a call, so that an end between two calls is
		// seen as one.
		if _, err := br.Peek(1); err != nil {
			return e.en.ended(e, err)
		}
		for last := false; !last; {
			m, buf, ok := e.nextStreamed()
			if !ok {
				return nil // it is all over
			}
			if _, err := io.ReadFull(br, buf); err != nil {
				return e.lost(err)
			}
			last = m.Last
			taken += int64(len(buf))
			e.inbox.move = m
			if last {
				e.en.served(e, taken)
			}
			e.received(buf)
		}
	}
}

// nextStreamed waits until bytes from e have a place, and says where. False: it is
// all over.
func (e *edge) nextStreamed() (m schedule.Move, buf []byte, ok bool) {
	en := e.en
	en.mu.Lock()
	defer en.mu.Unlock()
	for !en.stopped() {
		c := &en.call
		if en.active && e.served < c.id.seq {
			if m, ok := c.run.NextReceive(e.peer); ok {
				return m, e.inbox.place(&m, c, en.part), true
			}
		}
		e.waiting = true
		en.mu.Unlock()
		e.await(e.readable)
		en.mu.Lock()
	}
	return m, nil, false
}

// served notes that the last part of the call is in, and how many bytes all calls have taken.
func (en *engine) served(e *edge, taken int64) {
	en.mu.Lock()
	defer en.mu.Unlock()
	e.served, e.taken = en.call.id.seq, taken
}

// A vw worker sends no signs of life. One that is stopped between two calls looks like one at
// work, until it has taken far longer than this rank ever did.
const (
	streamStalls = 10 // times Stall
	streamPaces  = 20 // times this rank's longest work before a call
)

// streamWait is how long a neighbour in vw's stream may send nothing in a call where MaxWait sets
// no limit; under the lock.
func (en *engine) streamWait() time.Duration {
	return max(streamStalls*en.limits.stall, streamPaces*en.longest)
}

// ended follows the end of a stream before the first byte of a call. It is a loss,
// if the peer is still needed: during a call that wants its bytes, and in
// a step's Work, since every step ends with calls. In between nobody knows
// yet whether there will be another call; the next one will tell.
func (en *engine) ended(e *edge, err error) *failure {
	en.mu.Lock()
	defer en.mu.Unlock()
	if !en.working && (!en.active || e.served == en.call.id.seq) {
		e.gone = err
		return nil
	}
	return en.end(e, err)
}

// end is the failure that e has ended: a normal leave, if the call that wants
// its bytes is the first after the job's last pass.
func (en *engine) end(e *edge, err error) *failure {
	if en.leaving {
		return &failure{code: faultLeft, by: en.rank, rank: e.rank, host: e.host, text: "left after the last pass", err: ErrLeft}
	}
	return e.lost(err)
}

// lostBetween is the failure that an edge ended after the last call; under the lock.
func (en *engine) lostBetween() *failure {
	for _, e := range en.open {
		if e.gone != nil {
			return en.end(e, e.gone)
		}
	}
	return nil
}

// startWork and endWork bracket a step's Work.
func (en *engine) startWork() {
	en.mu.Lock()
	en.working = true
	f := en.lostBetween()
	en.mu.Unlock()
	if f != nil {
		en.fail(f, nil)
	}
}

func (en *engine) endWork() {
	en.mu.Lock()
	defer en.mu.Unlock()
	en.working = false
}

// errStreamOnly says what a job with vw workers cannot do.
var errStreamOnly = errors.New("options that add collectives are refused in a job with vw workers: " +
	"only sums of float32 exist in vw's stream")
