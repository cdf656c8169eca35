// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"io"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

// A job with vw workers speaks vw's stream: on each connection of the tree, the
// vectors of one call after the other as little-endian float32, up to the
// parent, then the results down; nothing else. Nobody tells which call the bytes
// belong to, so whoever makes other calls makes garbage of them.
//
// vw reads nothing from its parent before it has sent all of its vector up. So
// nothing is sent down before all has come up (schedule.Options.Phased): a rank
// that did would wait for a vw worker which waits for it.

// readStream is the reader of an edge of a job with vw workers.
func (e *edge) readStream() *failure {
	for {
		// Wait for the first byte of a call, so that an end between two calls is
		// seen as one.
		if _, err := e.br.Peek(1); err != nil {
			return e.en.ended(e, err)
		}
		parts := e.en.next(e)
		for range parts {
			r, buf, ok := e.en.expect(e)
			if !ok {
				break // over, or broken: the next read says more
			}
			if _, err := io.ReadFull(e.br, buf); err != nil {
				return e.lost(err)
			}
			e.en.served(e, r, parts)
			e.en.arrived(e, r, partSum{})
		}
		if parts == 0 {
			return nil // it is all over
		}
	}
}

// next waits for the next call in which bytes come from e, and says in how many
// parts. 0: it is all over.
func (en *engine) next(e *edge) int {
	en.mu.Lock()
	defer en.mu.Unlock()
	for !en.stopped() {
		if en.active && en.call.id.seq > e.served {
			if n := en.call.flow.Incoming(e.index); n > 0 {
				return n
			}
		}
		en.park(e)
	}
	return 0
}

// served notes that the last part of the call is in.
func (en *engine) served(e *edge, r schedule.Receive, parts int) {
	if r.Part.Index < parts-1 {
		return
	}
	en.mu.Lock()
	defer en.mu.Unlock()
	e.served = en.call.id.seq
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

// gone is the failure that an edge ended after the last call; under the lock.
func (en *engine) gone() *failure {
	for _, e := range en.edges {
		if e != nil && e.gone != nil {
			return en.end(e, e.gone)
		}
	}
	return nil
}

// startWork and endWork bracket a step's Work.
func (en *engine) startWork() {
	en.mu.Lock()
	en.working = true
	f := en.gone()
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
