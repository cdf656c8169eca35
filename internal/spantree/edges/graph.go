// SPDX-License-Identifier: Apache-2.0

package edges

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

// Node is the newest report of a rank of the epoch.
type Node struct {
	BeatAt      time.Time // time of its newest heartbeat in this epoch; zero: none
	Collective  uint64    // current collective; 0: none
	WaitsFor    int       // -1: none; with collective 0 the rank to which it opens a connection
	Entered     time.Time // first heartbeat with this collective; zero: the epoch's first one
	Since       time.Time // first of the heartbeats in a row with this collective, or this missing connection
	Broke       int       // far end of the edge that it reports as broken; -1: none
	AskedBefore time.Time // its last ASK but one about the connection that it misses; zero: none
}

// opens reports whether the rank opens connections, and one is missing.
func (n Node) opens() bool { return n.Collective == 0 && n.WaitsFor >= 0 }

// Graph has the newest reports of the ranks of an epoch. Charge decides one ASK at a time, in time
// linear in the number of ranks.
type Graph struct {
	Now   time.Time
	Nodes map[int]Node // by rank
	idle  map[arc]bool // ranks from which no chain leads to a fault; many ranks ask when one is slow
}

// arc is a rank in a collective.
type arc struct {
	rank       int
	collective uint64
}

// Ask is a report of a rank that an edge of it has a fault: the frame ASK.
type Ask struct {
	From, To   int // ends of the edge
	Fault      protocol.EdgeFault
	Collective uint64    // current one of From; 0: it opens connections
	At         time.Time // of its arrival
}

// Charge returns the ends of the edge to charge and the reason. The charge is against the second
// end. It returns -1, -1 if nothing is to be charged, or not yet.
func (g *Graph) Charge(q Ask) (near, far int, why string) {
	switch {
	case q.Fault == protocol.EdgeStalls:
		return g.stalled(q)
	case q.Fault == protocol.EdgeCorrupts:
		return q.From, q.To, ""
	case g.Now.Sub(q.At) < brokenGrace:
		return -1, -1, ""
	case q.Fault == protocol.EdgeBroke:
		return g.firstBroken(q.From, q.To)
	}
	return q.From, q.To, ""
}

// firstBroken follows broken edges to the one that broke first: a rank that reports a broken edge
// closes its other connections, which their far ends then report as broken, too. It stops at a
// rank without a report, or with a report on a rank that it has passed.
func (g *Graph) firstBroken(near, far int) (int, int, string) {
	for seen := map[int]bool{near: true}; ; {
		n, member := g.Nodes[far]
		if !member || n.Broke < 0 || seen[n.Broke] {
			return near, far, ""
		}
		seen[far] = true
		near, far = far, n.Broke
	}
}

// stalled follows the chain of ranks that wait for each other. The chain ends
//
//   - at a rank that is at work, or about which nothing is known: no edge is charged;
//   - at an edge whose far end is in the collective and waits for no rank, or for a rank of the
//     chain: this edge is charged;
//   - at an edge whose far end is in a later collective: this edge is charged;
//   - at a connection that has not opened for too long: this one is charged.
func (g *Graph) stalled(q Ask) (int, int, string) {
	seen := map[int]bool{q.From: true}
	for near, far := q.From, q.To; ; {
		a := g.Nodes[near]
		n, member := g.Nodes[far]
		if !member || !n.BeatAt.After(q.At) {
			return g.markIdle(seen, far, q.Collective) // no heartbeat since the ASK
		}
		_, known := g.Nodes[n.WaitsFor]
		switch {
		case a.opens() && n.Collective > 0, n.opens() && n.WaitsFor == near:
			// One end misses the connection. The other end misses it, too, or considers it open.
			if since := g.unopened(a, n, q.At); since > 0 {
				return near, far, fmt.Sprintf("the connection between them has not opened for %v", since.Round(time.Second))
			}
			return -1, -1, "" // the handshake may be under way
		case n.Broke >= 0:
			return -1, -1, "" // its own ASK is decided first
		case n.opens() && known && n.WaitsFor != far && !seen[n.WaitsFor] && !g.idle[arc{far, q.Collective}]:
			// It is not at work: the next rank may be.
		case n.Collective == q.Collective && n.Entered.After(q.At):
			return -1, -1, "" // bytes may move now; if they do not, another ASK follows
		case q.Collective > 0 && n.Collective > q.Collective:
			return near, far, fmt.Sprintf("rank %d is in collective %d already, and rank %d waits for its bytes in collective %d", far, n.Collective, near, q.Collective)
		case q.Collective > 0 && n.Collective == q.Collective && (n.WaitsFor < 0 || seen[n.WaitsFor] || n.WaitsFor == far):
			return near, far, fmt.Sprintf("both are in collective %d, and no byte passes between them", q.Collective)
		case q.Collective == 0, n.Collective < q.Collective, !known, g.idle[arc{far, q.Collective}]:
			return g.markIdle(seen, far, q.Collective) // it is at work, or waits for an unknown rank
		}
		seen[far] = true
		near, far = far, n.WaitsFor
	}
}

// unopened returns how long two ranks have tried to open the connection between them, if that is
// too long; else 0. It is too long after openWithin. It is also too long if both ends have tried
// since before their last ASK but one: a rank repeats ASK after its stall time-out.
func (g *Graph) unopened(a, b Node, asked time.Time) time.Duration {
	if !a.BeatAt.After(asked) || !b.BeatAt.After(asked) {
		return 0
	}
	since := a.Since
	if b.Since.After(since) {
		since = b.Since
	}
	if took := g.Now.Sub(since); took >= openWithin || !since.After(a.AskedBefore) || !since.After(b.AskedBefore) {
		return took
	}
	return 0
}

// markIdle records that the ranks of a chain lead to no fault.
func (g *Graph) markIdle(seen map[int]bool, last int, collective uint64) (int, int, string) {
	if g.idle == nil {
		g.idle = map[arc]bool{}
	}
	seen[last] = true
	for rank := range seen {
		g.idle[arc{rank, collective}] = true
	}
	return -1, -1, ""
}
