// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"time"

	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/link/vwstream"
)

// A job with vw workers uses vw's stream (all_reduce in vw's allreduce_sockets.cc). Each
// connection of the tree carries the vectors of one call after the other as little-endian
// float32, up to the parent, then the results down, and nothing else. No byte names its call, so
// ranks that make different calls corrupt each other's results.
//
// vw reads nothing from its parent before it has sent its whole vector up. A parent therefore
// sends nothing down before everything from its children has arrived: otherwise it and a vw
// worker could wait for each other.

// mayNotSend reports whether e leads to a child while parts from the children are missing, under
// the lock.
func (en *Engine) mayNotSend(e *Edge) bool {
	if e == en.edges[vwstream.Parent] {
		return false
	}
	for _, child := range [...]int{vwstream.Left, vwstream.Right} {
		if e := en.edges[child]; e != nil && e.at != noPeer {
			if _, more := en.Call.run.Awaits(e.at); more {
				return true
			}
		}
	}
	return false
}

// NextChunk returns the memory for the next bytes of the stream, under the lock.
func (e *Edge) NextChunk() (dst []byte, last, ok bool) {
	c := &e.en.Call
	if !e.en.Active || e.served >= c.ID.Seq {
		return nil, false, false
	}
	m, ok := c.run.NextReceive(e.at)
	if !ok {
		return nil, false, false
	}
	e.move = m
	return e.place(&m), m.Last, true
}

// StreamReceived stores or adds a part. taken is the number of bytes of all calls up to its end.
func (e *Edge) StreamReceived(part []byte, last bool, taken int64) {
	if last {
		e.en.Mu.Lock()
		e.served, e.taken = e.en.Call.ID.Seq, taken
		e.en.Mu.Unlock()
	}
	e.join(part, link.Frame{})
}

// A vw worker sends no heartbeats. A worker that is stopped between two calls looks like one at
// work. It is given up when it has needed far longer than this rank ever did.
const (
	streamStalls = 10 // times Stall
	streamPaces  = 20 // times this rank's longest work before a call
)

// streamWait is how long a neighbour in vw's stream may send nothing in a call where MaxWait sets
// no limit; under the lock.
func (en *Engine) streamWait() time.Duration {
	return max(streamStalls*en.Limits.Stall, streamPaces*en.Longest)
}

// StreamEnded takes the end of a stream before the first byte of a call. It is a loss if the peer is
// still needed: during a call that wants its bytes, and in a step's Work, since every step
// ends with calls. In between no rank knows yet whether there will be another call; the
// next call returns the failure.
func (e *Edge) StreamEnded(err error) error {
	en := e.en
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if !en.working && (!en.Active || e.served == en.Call.ID.Seq) {
		e.gone = err
		return nil
	}
	return en.streamEnd(e, err)
}

// streamEnd returns the failure that e has ended. It is a normal leave if the call that needs its
// bytes is the first one after the job's last pass.
func (en *Engine) streamEnd(e *Edge, err error) *Failure {
	if en.Leaving {
		return &Failure{Code: FaultLeft, By: en.Rank, Rank: e.Rank, Host: e.Host, Text: "left after the last pass", Err: ErrLeft}
	}
	return en.lost(e.Link, err)
}

// lostBetween returns the failure that an edge ended after the last call; under the lock.
func (en *Engine) lostBetween() *Failure {
	for _, e := range en.open {
		if e.gone != nil {
			return en.streamEnd(e, e.gone)
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

// ErrStreamOnly is returned by collectives that vw's stream does not have.
var ErrStreamOnly = errors.New("in a job with vw workers only sums of float32 exist: " +
	"leave out the options and calls that need other collectives, or run the job without vw workers")
