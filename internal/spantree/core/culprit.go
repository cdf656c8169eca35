// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"time"
)

// The edge to charge is a question about a graph: its nodes are the ranks of an epoch,
// each with what its newest heartbeat and its own question tell, and an arc leads from a
// rank to the one it waits for.

const (
	// brokeWaits is how long the end of a rank may take to be seen here, too,
	// after its edges have ended.
	brokeWaits = time.Second
	// openWithin is the time in which two live ranks must open the connection between them, if their
	// stall time-outs do not end it before: twice the time of one handshake.
	openWithin = 20 * time.Second
)

// node is a rank of the epoch.
type node struct {
	heard       time.Time // its newest heartbeat of this epoch; zero: none
	collective  uint64    // it is in; 0: none
	waitsFor    int       // -1: none; with collective 0 the rank to which it opens a connection
	entered     time.Time // the first heartbeat of this collective; zero: the epoch's first
	since       time.Time // the first heartbeat in a row with this collective, or this connection
	broke       int       // the rank at the other end of an edge that it reports as broken; -1: none
	askedBefore time.Time // the question before its newest one about the connection that it lacks; zero: none
}

// opens reports whether the rank opens connections, and lacks one.
func (n node) opens() bool { return n.collective == 0 && n.waitsFor >= 0 }

// graph is what is known of the ranks of an epoch.
type graph struct {
	now  time.Time
	node func(rank int) (n node, member bool)
	idle map[arc]bool // arcs that lead to no fault: many ranks ask when one is slow
}

// arc is a rank in a collective.
type arc struct {
	rank       int
	collective uint64
}

// complaint is a question about an edge.
type complaint struct {
	from, to   int
	fault      uint8
	collective uint64 // of from; 0: it opens connections
	at         time.Time
}

// culprit returns the ends of the edge to charge, the second one being accused, and why, as
// far as the graph tells; -1, -1 while there is none.
func (g *graph) culprit(q complaint) (near, far int, why string) {
	switch {
	case q.fault == faultStalls:
		return g.stalled(q)
	case q.fault == faultCorrupts:
		return q.from, q.to, ""
	case g.now.Sub(q.at) < brokeWaits:
		return -1, -1, ""
	case q.fault == faultBroke:
		return g.firstBroken(q.from, q.to)
	}
	return q.from, q.to, ""
}

// root follows broken edges to the first of them: a rank that reports a broken edge ends
// its other edges, which their far ends report as broken, too.
func (g *graph) firstBroken(near, far int) (int, int, string) {
	for seen := map[int]bool{near: true}; ; {
		n, member := g.node(far)
		if !member || n.broke < 0 || seen[n.broke] {
			return near, far, ""
		}
		seen[far] = true
		near, far = far, n.broke
	}
}

// stalled follows the ranks that wait for each other. The chain ends at a rank that is
// at work, which is no fault; or at an edge whose far end is in the collective, and waits
// for no rank, or for one that waits for it; or at a connection that does not open.
func (g *graph) stalled(q complaint) (int, int, string) {
	seen := map[int]bool{q.from: true}
	for near, far := q.from, q.to; ; {
		a, _ := g.node(near)
		n, member := g.node(far)
		if !member || !n.heard.After(q.at) {
			return g.markIdle(seen, far, q.collective) // it has not been heard since
		}
		_, known := g.node(n.waitsFor)
		known = known && n.waitsFor >= 0
		switch {
		case a.opens() && n.collective > 0, n.opens() && n.waitsFor == near:
			// near has no connection to far, which takes it for open; or far has none to near.
			if since := g.unopened(a, n, q.at); since > 0 {
				return near, far, fmt.Sprintf("the connection between them has not opened for %v", since.Round(time.Second))
			}
			return -1, -1, "" // they may be about to meet
		case n.broke >= 0:
			return -1, -1, "" // its own question is decided first
		case n.opens() && known && !seen[n.waitsFor] && !g.idle[arc{far, q.collective}]:
			// It is not at work: the next rank may be.
		case n.collective == q.collective && n.entered.After(q.at):
			return -1, -1, "" // bytes may well move now; if they do not, it is asked again
		case q.collective > 0 && n.collective > q.collective:
			return near, far, fmt.Sprintf("rank %d is in collective %d already, and rank %d waits for its bytes in collective %d", far, n.collective, near, q.collective)
		case q.collective > 0 && n.collective == q.collective && (n.waitsFor < 0 || seen[n.waitsFor] || n.waitsFor == far):
			return near, far, fmt.Sprintf("both are in collective %d, and no byte passes between them", q.collective)
		case q.collective == 0, n.collective < q.collective, !known, g.idle[arc{far, q.collective}]:
			return g.markIdle(seen, far, q.collective) // it is at work, or waits for a rank of which nothing is known
		}
		seen[far] = true
		near, far = far, n.waitsFor
	}
}

// unopened returns for how long two ranks have been about to open the connection between them,
// if that is too long; else 0. A rank asks again after its stall time-out: both ends have had at
// least that time when they were there at the question before the newest one.
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

// spare notes that a chain of ranks leads to no fault.
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
