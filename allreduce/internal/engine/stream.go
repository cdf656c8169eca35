// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bufio"
	"errors"
	"io"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/link/vwstream"
)

// A job with vw workers speaks vw's stream: on each connection of the tree, the
// vectors of one call after the other as little-endian float32, up to the
// parent, then the results down; nothing else. Nobody tells which call the bytes
// belong to, so whoever makes other calls makes garbage of them.
//
// vw reads nothing from its parent before it has sent all of its vector up. So
// nothing is sent down before all has come up: a rank that did would wait for a vw
// worker which waits for it.

// mayNotSend says that e leads down and not all has come up; under the lock.
func (en *Engine) mayNotSend(e *Edge) bool {
	if e == en.Edges[vwstream.Parent] {
		return false
	}
	for _, child := range [...]int{vwstream.Left, vwstream.Right} {
		if e := en.Edges[child]; e != nil && e.peer != noPeer {
			if _, more := en.Call.run.Awaits(e.peer); more {
				return true
			}
		}
	}
	return false
}

// readStream is the reader of an edge of a job with vw workers.
func (e *Edge) readStream(br *bufio.Reader) *Failure {
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
func (e *Edge) nextStreamed() (m schedule.Move, buf []byte, ok bool) {
	en := e.en
	en.Mu.Lock()
	defer en.Mu.Unlock()
	for !en.stopped() {
		c := &en.Call
		if en.Active && e.served < c.Id.Seq {
			if m, ok := c.run.NextReceive(e.peer); ok {
				return m, e.inbox.place(&m, c, en.Part), true
			}
		}
		e.waiting = true
		en.Mu.Unlock()
		e.await(e.readable)
		en.Mu.Lock()
	}
	return m, nil, false
}

// served notes that the last part of the call is in, and how many bytes all calls have taken.
func (en *Engine) served(e *Edge, taken int64) {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	e.served, e.taken = en.Call.Id.Seq, taken
}

// A vw worker sends no signs of life. One that is stopped between two calls looks like one at
// work, until it has taken far longer than this rank ever did.
const (
	streamStalls = 10 // times Stall
	streamPaces  = 20 // times this rank's longest work before a call
)

// streamWait is how long a neighbour in vw's stream may send nothing in a call where MaxWait sets
// no limit; under the lock.
func (en *Engine) streamWait() time.Duration {
	return max(streamStalls*en.Limits.Stall, streamPaces*en.Longest)
}

// ended follows the end of a stream before the first byte of a call. It is a loss,
// if the peer is still needed: during a call that wants its bytes, and in
// a step's Work, since every step ends with calls. In between nobody knows
// yet whether there will be another call; the next one will tell.
func (en *Engine) ended(e *Edge, err error) *Failure {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if !en.working && (!en.Active || e.served == en.Call.Id.Seq) {
		e.gone = err
		return nil
	}
	return en.end(e, err)
}

// end is the failure that e has ended: a normal leave, if the call that wants
// its bytes is the first after the job's last pass.
func (en *Engine) end(e *Edge, err error) *Failure {
	if en.Leaving {
		return &Failure{Code: FaultLeft, By: en.Rank, Rank: e.Rank, Host: e.Host, Text: "left after the last pass", Err: ErrLeft}
	}
	return e.lost(err)
}

// lostBetween is the failure that an edge ended after the last call; under the lock.
func (en *Engine) lostBetween() *Failure {
	for _, e := range en.Open {
		if e.gone != nil {
			return en.end(e, e.gone)
		}
	}
	return nil
}

// StartWork notes that this rank works on a step, outside of collectives.
func (en *Engine) StartWork() {
	en.Mu.Lock()
	en.working = true
	f := en.lostBetween()
	en.Mu.Unlock()
	if f != nil {
		en.Fail(f, nil)
	}
}

// EndWork notes the end of what StartWork began.
func (en *Engine) EndWork() {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	en.working = false
}

// ErrStreamOnly says what a job with vw workers cannot do.
var ErrStreamOnly = errors.New("options that add collectives are refused in a job with vw workers: " +
	"only sums of float32 exist in vw's stream")
