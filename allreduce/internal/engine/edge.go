// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"strconv"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/timeline"
)

// noPeer is the position of an edge that the collective does not use.
const noPeer = -1

// Edge is a link to another rank, and its part in the collective. It exists from the first collective
// that needs it, before its link opens.
type Edge struct {
	*link.Link
	en *Engine

	// Under the engine's lock.
	sought  bool                    // its link has been asked for
	at      int                     // its place among the peers of the collective's program; noPeer
	gone    error                   // stream: it ended between collectives
	served  uint64                  // stream: the last collective whose parts have all arrived
	taken   int64                   // stream: bytes of the collectives up to that one
	entered uint64                  // the newest collective in which the peer is known to be
	begun   uint64                  // the newest collective whose header has been composed
	far     progressFrame           // the newest one of the peer
	due     bool                    // a header or a progress frame is to be sent
	idle    idleFor                 // of the watchdog
	awaited bool                    // the collective waits for the first part from there
	local   bool                    // the peer is on this machine
	counted struct{ in, out int64 } // bytes of the link that the meter has

	// Of the goroutine that reads.
	move  schedule.Move // what the part that arrives is for
	heard uint64        // the collective of the last header, to which data frames belong
	slot  []byte        // memory for a part that will be joined
	stale []byte        // the last header that arrived after its call was over here
	came  time.Time     // when that part began to arrive, if there is a timeline

	// Of the goroutine that writes.
	sending    schedule.Move // the part that is being written
	sendingSeq uint64        // and its collective
	went       time.Time     // when it began to be written, if there is a timeline
}

var _ link.Handler = (*Edge)(nil)

// newEdge returns the edge to a rank, whose link is not open yet.
func newEdge(en *Engine, rank int) *Edge {
	e := &Edge{en: en, at: noPeer}
	e.Link = link.New(link.Peer{Rank: rank}, e)
	e.Host = en.hostOf(rank)
	return e
}

// hostOf returns the address of a rank, or "".
func (en *Engine) hostOf(rank int) string {
	if en.Address == nil {
		return ""
	}
	return en.Address(rank)
}

// idleFor is the time since which no byte has moved on an edge.
type idleFor struct {
	in, out int64
	since   time.Time
}

// SharesMemory reports whether this rank and the peer share memory, under the lock.
func (e *Edge) SharesMemory() bool {
	return e.en.Shared != nil && slices.Contains(e.en.Shared.Ranks, e.Rank)
}

// record records a part that has been sent or received, under the lock. The name is the peer's rank.
func (e *Edge) record(row timeline.Row, began time.Time, bytes int) {
	if t := e.en.Timeline; t != nil {
		t.Span(row, strconv.Itoa(e.Rank), began, bytes)
		t.Via(e.Rank, e.via().String())
	}
}

// InUse reports whether the collective under way uses the edge, under the lock.
func (e *Edge) InUse() bool { return e.en.Active && e.at != noPeer }
