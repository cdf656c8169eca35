// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const (
	// faultPatience is how long a rank that gives up tries to tell a neighbour.
	faultPatience = time.Second
	// noPeer: the collective has nothing to do with the edge.
	noPeer = -1
)

// Edge is what connects this rank to another one. It exists from the first
// collective that needs it; it is open when it has a link.
type Edge struct {
	en *Engine
	link.Peer
	in  atomic.Int64 // bytes read from the link
	out atomic.Int64 // bytes written to it

	// Under the engine's lock.
	sought   bool // somebody opens it
	linked   bool
	peer     int      // among the peers of the collective; noPeer
	broken   bool     // a write failed; who reads finds out why
	gone     error    // stream: it ended between collectives
	served   uint64   // stream: the last collective whose parts have all arrived
	taken    int64    // stream: bytes of the collectives up to that one
	entered  uint64   // the newest collective in which the peer is known to be
	begun    uint64   // the newest collective whose header has been composed
	note     note     // the newest one
	say      bool     // a header or a note is due
	fault    *Failure // the last words, due
	shut     bool     // they are composed: nothing follows
	Stage    PipeStage
	idle     idleFor // of the watchdog
	waiting  bool    // the reader has no room for what comes
	resting  bool    // the writer has nothing to write
	readable chan struct{}
	writable chan struct{}

	writing atomic.Bool // a frame is being written
	inbox   inbox       // of who reads
	outbox  outbox      // of who writes
	Lift    lift        // of a pollLoop
	polled              // of a pollLoop
}

// NewEdge returns the edge to a rank, without a connection yet.
func NewEdge(en *Engine, rank int) *Edge {
	e := &Edge{en: en, Peer: link.Peer{Rank: rank}, peer: noPeer}
	if rank < len(en.Peers) {
		e.Host = en.Peers[rank]
	}
	return e
}

// lost is the failure that the edge has ended.
func (e *Edge) lost(err error) *Failure {
	text := "its connection broke: " + rootOf(err)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		text = "its connection ended"
	}
	return &Failure{Code: FaultLost, By: e.en.Rank, Rank: e.Rank, Host: e.Host, Text: text, Err: err, Ask: protocol.EdgeBroke}
}

// garbled is the failure that the peer sent what makes no sense.
func (e *Edge) garbled(err error) *Failure {
	return &Failure{
		Code: FaultGaveUp, By: e.en.Rank, Rank: e.en.Rank,
		Text: fmt.Sprintf("from %s: %v", link.RankAt(e.Rank, e.Host), err),
		Err:  fmt.Errorf("from %s: %w", link.RankAt(e.Rank, e.Host), err),
		Ask:  protocol.EdgeCorrupts,
		Far:  e.Rank,
	}
}

// rootOf is the innermost words of a network error, without addresses.
func rootOf(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}
