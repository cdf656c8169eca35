// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The edge to charge is a function of a graph. Its nodes are the ranks of an epoch, each with the
// content of its newest heartbeat and of its own ASK. An arc leads from each rank to the rank that
// it waits for.

const (
	// brokenGrace is the time for which the server waits after the report of a broken edge: if an
	// end of it has died, its control connection ends, too.
	brokenGrace = time.Second
	// openWithin is the time in which two live ranks must open the connection between them: twice
	// the limit of one handshake. A stall time-out of the ranks may end the wait before.
	openWithin = 20 * time.Second
)

// node is the newest report of a rank of the epoch.
type node struct {
	heard       time.Time // time of its newest heartbeat in this epoch; zero: none
	collective  uint64    // current collective; 0: none
	waitsFor    int       // -1: none; with collective 0 the rank to which it opens a connection
	entered     time.Time // first heartbeat with this collective; zero: the epoch's first one
	since       time.Time // first of the heartbeats in a row with this collective, or this missing connection
	broke       int       // far end of the edge that it reports as broken; -1: none
	askedBefore time.Time // its last ASK but one about the connection that it misses; zero: none
}

// opens reports whether the rank opens connections, and one is missing.
func (n node) opens() bool { return n.collective == 0 && n.waitsFor >= 0 }

// graph has the newest reports of the ranks of an epoch. culprit decides one ASK at a time, in time
// linear in the number of ranks.
type graph struct {
	now   time.Time
	nodes map[int]node // by rank
	idle  map[arc]bool // ranks from which no chain leads to a fault; many ranks ask when one is slow
}

// arc is a rank in a collective.
type arc struct {
	rank       int
	collective uint64
}

// complaint is an ASK.
type complaint struct {
	from, to   int // ends of the edge
	fault      protocol.EdgeFault
	collective uint64 // current one of from; 0: it opens connections
	at         time.Time
}

// culprit returns the ends of the edge to charge and the reason. The charge is against the second
// end. It returns -1, -1 if nothing is to be charged, or not yet.
func (g *graph) culprit(q complaint) (near, far int, why string) {
	switch {
	case q.fault == protocol.EdgeStalls:
		return g.stalled(q)
	case q.fault == protocol.EdgeCorrupts:
		return q.from, q.to, ""
	case g.now.Sub(q.at) < brokenGrace:
		return -1, -1, ""
	case q.fault == protocol.EdgeBroke:
		return g.firstBroken(q.from, q.to)
	}
	return q.from, q.to, ""
}

// firstBroken follows broken edges to the one that broke first: a rank that reports a broken edge
// closes its other connections, which their far ends then report as broken, too. It stops at a
// rank without a report, or with a report on a rank that it has passed.
func (g *graph) firstBroken(near, far int) (int, int, string) {
	for seen := map[int]bool{near: true}; ; {
		n, member := g.nodes[far]
		if !member || n.broke < 0 || seen[n.broke] {
			return near, far, ""
		}
		seen[far] = true
		near, far = far, n.broke
	}
}

// stalled follows the chain of ranks that wait for each other. The chain ends
//
//   - at a rank that is at work, or about which nothing is known: no edge is charged;
//   - at an edge whose far end is in the collective and waits for no rank, or for a rank of the
//     chain: this edge is charged;
//   - at an edge whose far end is in a later collective: this edge is charged;
//   - at a connection that has not opened for too long: this one is charged.
func (g *graph) stalled(q complaint) (int, int, string) {
	seen := map[int]bool{q.from: true}
	for near, far := q.from, q.to; ; {
		a := g.nodes[near]
		n, member := g.nodes[far]
		if !member || !n.heard.After(q.at) {
			return g.markIdle(seen, far, q.collective) // no heartbeat since the ASK
		}
		_, known := g.nodes[n.waitsFor]
		switch {
		case a.opens() && n.collective > 0, n.opens() && n.waitsFor == near:
			// One end misses the connection. The other end misses it, too, or considers it open.
			if since := g.unopened(a, n, q.at); since > 0 {
				return near, far, fmt.Sprintf("the connection between them has not opened for %v", since.Round(time.Second))
			}
			return -1, -1, "" // the handshake may be under way
		case n.broke >= 0:
			return -1, -1, "" // its own ASK is decided first
		case n.opens() && known && n.waitsFor != far && !seen[n.waitsFor] && !g.idle[arc{far, q.collective}]:
			// It is not at work: the next rank may be.
		case n.collective == q.collective && n.entered.After(q.at):
			return -1, -1, "" // bytes may move now; if they do not, another ASK follows
		case q.collective > 0 && n.collective > q.collective:
			return near, far, fmt.Sprintf("rank %d is in collective %d already, and rank %d waits for its bytes in collective %d", far, n.collective, near, q.collective)
		case q.collective > 0 && n.collective == q.collective && (n.waitsFor < 0 || seen[n.waitsFor] || n.waitsFor == far):
			return near, far, fmt.Sprintf("both are in collective %d, and no byte passes between them", q.collective)
		case q.collective == 0, n.collective < q.collective, !known, g.idle[arc{far, q.collective}]:
			return g.markIdle(seen, far, q.collective) // it is at work, or waits for an unknown rank
		}
		seen[far] = true
		near, far = far, n.waitsFor
	}
}

// unopened returns how long two ranks have tried to open the connection between them, if that is
// too long; else 0. It is too long after openWithin. It is also too long if both ends have tried
// since before their last ASK but one: a rank repeats ASK after its stall time-out.
func (g *graph) unopened(a, b node, asked time.Time) time.Duration {
	if !a.heard.After(asked) || !b.heard.After(asked) {
		return 0
	}
	since := a.since
	if b.since.After(since) {
		since = b.since
	}
	if took := g.now.Sub(since); took >= openWithin || !since.After(a.askedBefore) || !since.After(b.askedBefore) {
		return took
	}
	return 0
}

// markIdle records that the ranks of a chain lead to no fault.
func (g *graph) markIdle(seen map[int]bool, last int, collective uint64) (int, int, string) {
	if g.idle == nil {
		g.idle = map[arc]bool{}
	}
	seen[last] = true
	for rank := range seen {
		g.idle[arc{rank, collective}] = true
	}
	return -1, -1, ""
}
