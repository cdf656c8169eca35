// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// Between two ranks of a machine that share memory, but not this collective in it, the
// bytes of an edge go through memory as well: a pipe in place of the socket. The lower
// of the two ranks makes it and tells where it is; the other one opens it and turns to
// it, or says that it does not; then the first one turns. A frame of type turn is the
// last that an end writes to the socket. The sequence of frames is the same on both
// ways, and neither is waited for.

// pipeStage is how far an edge has come with that.
type pipeStage uint8

const (
	pipeNone     pipeStage = iota
	pipeOffered            // this rank has told where the pipe is
	pipeDue                // both have it: this rank's turn is due
	pipeRefusing           // this rank has to say that it does not
	pipeTurned             // what this rank writes goes through the pipe
	pipeDone               // and what it reads
	pipeNever              // it stays with the socket
)

// pipes is what a driver does that can put a pipe in place of a socket.
type pipes interface {
	offer(e *edge) (transport.Where, error)
	accept(e *edge, w transport.Where) error
	turnOut(e *edge)
	turnIn(e *edge)
}

const (
	offerSize = 32
	turnSize  = 4
)

// composePipe appends what the edge has to say of its pipe; under the lock.
func (e *edge) composePipe() bool {
	en, o := e.en, &e.outbox
	switch e.stage {
	case pipeNone:
		if !en.near(e) {
			return false
		}
		w, err := en.pipes.offer(e)
		if err != nil {
			en.log.Warn("no shared memory for the edge, TCP instead", "rank", en.rank, "to", e.rank, "error", err)
			e.stage = pipeNever
			return false
		}
		e.stage = pipeOffered
		o.head = e.appendFrame(o.head, frameOffer, appendWhere(nil, w))
	case pipeDue:
		e.stage = pipeTurned
		if e.rank > en.rank {
			e.stage = pipeDone // the other one has turned before
		}
		o.turn = true
		o.head = e.appendFrame(o.head, frameTurn, []byte{1, 0, 0, 0})
	case pipeRefusing:
		e.stage = pipeNever
		o.head = e.appendFrame(o.head, frameTurn, []byte{0, 0, 0, 0})
	default:
		return false
	}
	return true
}

// near says that this rank should offer a pipe: the edge is in use, to a rank with
// which memory is shared; under the lock.
func (en *engine) near(e *edge) bool {
	return en.pipes != nil && en.shared != nil && en.active && e.peer != noPeer &&
		e.rank > en.rank && slices.Contains(en.shared.ranks, e.rank)
}

// offered takes the peer's offer.
func (e *edge) offered(body []byte) *failure {
	en := e.en
	en.mu.Lock()
	defer en.mu.Unlock()
	if e.stage != pipeNone || e.rank > en.rank || len(body) != offerSize {
		return e.garbled(fmt.Errorf("an offer of shared memory that makes no sense"))
	}
	e.stage = pipeRefusing
	if en.pipes != nil && !en.stopped() {
		if err := en.pipes.accept(e, decodeWhere(body)); err == nil {
			e.stage = pipeDue
		} else {
			en.log.Warn("no shared memory for the edge, TCP instead", "rank", en.rank, "to", e.rank, "error", err)
		}
	}
	en.driver.nudge(e)
	return nil
}

// turn takes what the peer says to its offer, or that it has turned, too.
func (e *edge) turn(body []byte) *failure {
	en := e.en
	en.mu.Lock()
	defer en.mu.Unlock()
	yes := len(body) == turnSize && body[0] == 1
	switch {
	case e.stage == pipeOffered && !yes:
		e.stage = pipeNever // the memory stays until the edge ends: it is little
		return nil
	case e.stage == pipeOffered:
		e.stage = pipeDue
		en.driver.nudge(e)
	case e.stage == pipeTurned && yes:
		e.stage = pipeDone
	default:
		return e.garbled(fmt.Errorf("a turn to shared memory that makes no sense"))
	}
	e.inbox.ahead = nil // behind it the socket carries calls alone
	en.pipes.turnIn(e)
	e.tags.in = nil
	return nil
}

// appendWhere is the body of an offer: process, descriptor, bytes, nonce.
func appendWhere(dst []byte, w transport.Where) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, uint32(w.PID))
	dst = le.AppendUint32(dst, uint32(w.FD))
	dst = le.AppendUint64(dst, uint64(w.Bytes))
	return append(dst, w.Nonce[:]...)
}

func decodeWhere(b []byte) (w transport.Where) {
	le := binary.LittleEndian
	w.PID, w.FD, w.Bytes = int32(le.Uint32(b)), int32(le.Uint32(b[4:])), int64(le.Uint64(b[8:]))
	copy(w.Nonce[:], b[16:])
	return w
}
