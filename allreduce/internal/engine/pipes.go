// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/link"
)

// Between two ranks of a machine that share memory, but not this collective in it, the
// bytes of an edge go through memory as well: a pipe in place of the socket. The lower
// of the two ranks makes it and tells where it is; the other one opens it and turns to
// it, or says that it does not; then the first one turns. A frame of type turn is the
// last that an end writes to the socket. The sequence of frames is the same on both
// ways, and neither is waited for.

// PipeStage is how far an edge has come with that.
type PipeStage uint8

const (
	PipeNone     PipeStage = iota
	PipeOffered            // this rank has told where the pipe is
	PipeDue                // both have it: this rank's turn is due
	PipeRefusing           // this rank has to say that it does not
	PipeTurned             // what this rank writes goes through the pipe
	PipeDone               // and what it reads
	PipeNever              // it stays with the socket
)

// Pipes is what a driver does that can put a pipe in place of a socket.
type Pipes interface {
	offer(e *Edge) (transport.Where, error)
	accept(e *Edge, w transport.Where) error
	turnOut(e *Edge)
	turnIn(e *Edge)
}

// composePipe appends what the edge has to say of its pipe; under the lock.
func (e *Edge) composePipe() bool {
	en, o := e.en, &e.outbox
	switch e.Stage {
	case PipeNone:
		if !en.near(e) {
			return false
		}
		w, err := en.Pipes.offer(e)
		if err != nil {
			en.Log.Warn("no shared memory for the edge, TCP instead", "rank", en.Rank, "to", e.Rank, "error", err)
			e.Stage = PipeNever
			return false
		}
		e.Stage = PipeOffered
		o.head = e.Tags.AppendFrame(o.head, link.FrameOffer, appendWhere(nil, w))
	case PipeDue:
		e.Stage = PipeTurned
		if e.Rank > en.Rank {
			e.Stage = PipeDone // the other one has turned before
		}
		o.turn = true
		o.head = e.Tags.AppendFrame(o.head, link.FrameTurn, []byte{1, 0, 0, 0})
	case PipeRefusing:
		e.Stage = PipeNever
		o.head = e.Tags.AppendFrame(o.head, link.FrameTurn, []byte{0, 0, 0, 0})
	default:
		return false
	}
	return true
}

// near says that this rank should offer a pipe: the edge is in use, to a rank with
// which memory is shared; under the lock.
func (en *Engine) near(e *Edge) bool {
	return en.Pipes != nil && en.Shared != nil && en.Active && e.peer != noPeer &&
		e.Rank > en.Rank && slices.Contains(en.Shared.Ranks, e.Rank)
}

// Offered takes the peer's offer.
func (e *Edge) Offered(body []byte) *Failure {
	en := e.en
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if e.Stage != PipeNone || e.Rank > en.Rank || len(body) != link.MaxOffer {
		return e.garbled(fmt.Errorf("an offer of shared memory that makes no sense"))
	}
	e.Stage = PipeRefusing
	if en.Pipes != nil && !en.stopped() {
		if err := en.Pipes.accept(e, decodeWhere(body)); err == nil {
			e.Stage = PipeDue
		} else {
			en.Log.Warn("no shared memory for the edge, TCP instead", "rank", en.Rank, "to", e.Rank, "error", err)
		}
	}
	en.Driver.nudge(e)
	return nil
}

// Turn takes what the peer says to its offer, or that it has turned, too.
func (e *Edge) Turn(body []byte) *Failure {
	en := e.en
	en.Mu.Lock()
	defer en.Mu.Unlock()
	yes := len(body) == link.MaxTurn && body[0] == 1
	switch {
	case e.Stage == PipeOffered && !yes:
		e.Stage = PipeNever // the memory stays until the edge ends: it is little
		return nil
	case e.Stage == PipeOffered:
		e.Stage = PipeDue
		en.Driver.nudge(e)
	case e.Stage == PipeTurned && yes:
		e.Stage = PipeDone
	default:
		return e.garbled(fmt.Errorf("a turn to shared memory that makes no sense"))
	}
	e.inbox.ahead = nil // behind it the socket carries calls alone
	en.Pipes.turnIn(e)
	e.Tags.In = nil
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
