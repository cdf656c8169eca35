// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const (
	// maxChunk bounds what a data frame may hold.
	maxChunk = 16 << 20
	// faultPatience is how long a rank that gives up tries to tell a neighbour.
	faultPatience = time.Second
	// noPeer: the collective has nothing to do with the edge.
	noPeer = -1
	// unknownRank is the rank of a neighbour that did not tell.
	unknownRank = -1
)

// link is a connection to another rank, and what is known about its other end.
type link struct {
	conn net.Conn
	rank int    // unknownRank in a job with vw workers
	host string // its address, for messages
	tags tags
}

// edge is what connects this rank to another one. It exists from the first
// collective that needs it; it is open when it has a link.
type edge struct {
	en *engine
	link
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
	fault    *failure // the last words, due
	shut     bool     // they are composed: nothing follows
	stage    pipeStage
	idle     idleFor // of the watchdog
	waiting  bool    // the reader has no room for what comes
	resting  bool    // the writer has nothing to write
	readable chan struct{}
	writable chan struct{}

	writing atomic.Bool // a frame is being written
	inbox   inbox       // of who reads
	outbox  outbox      // of who writes
	lift    lift        // of a pollLoop
	polled              // of a pollLoop
}

func newEdge(en *engine, rank int) *edge {
	e := &edge{en: en, link: link{rank: rank}, peer: noPeer}
	if rank < len(en.peers) {
		e.host = en.peers[rank]
	}
	return e
}

// lost is the failure that the edge has ended.
func (e *edge) lost(err error) *failure {
	text := "its connection broke: " + rootOf(err)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		text = "its connection ended"
	}
	return &failure{code: faultLost, by: e.en.rank, rank: e.rank, host: e.host, text: text, err: err, ask: protocol.EdgeBroke}
}

// garbled is the failure that the peer sent what makes no sense.
func (e *edge) garbled(err error) *failure {
	return &failure{
		code: faultGaveUp, by: e.en.rank, rank: e.en.rank,
		text: fmt.Sprintf("from %s: %v", rankAt(e.rank, e.host), err),
		err:  fmt.Errorf("from %s: %w", rankAt(e.rank, e.host), err),
		ask:  protocol.EdgeGarbles,
		far:  e.rank,
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
