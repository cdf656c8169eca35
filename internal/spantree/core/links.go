// SPDX-License-Identifier: Apache-2.0

package core

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/edges"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Edges between two live ranks may stall, break or corrupt bytes. A rank that detects this sends
// ASK, and package edges decides which edge is charged. A charge ends the epoch, and may evict an
// end of the edge.

const (
	chargeLasts = 10 * time.Minute // after which a charge no longer counts
	maxCharges  = 64               // limit of a job's charges
	maxEvicted  = 1000             // limit of the evicted attempts that a job remembers
)

// links is the state of a job's edges.
type links struct {
	asks      map[int]pendingAsk // undecided ones of the epoch, by the rank that asks
	newCharge *charge            // it has ended the epoch, and counts if both ends answer
	charges   []charge           // the ones that count, oldest first; at most maxCharges within chargeLasts
}

// pendingAsk is an ASK without a decision.
type pendingAsk struct {
	from, peer *attempt
	collective uint64
	fault      protocol.EdgeFault
	detail     string
	at         time.Time
	before     time.Time // time of the previous ASK about the same unopened connection; zero: none
}

// unopened reports whether the ASK is about a connection that does not open.
func (q pendingAsk) unopened() bool { return q.fault == protocol.EdgeStalls && q.collective == 0 }

// charge is a fault of an edge between two attempts.
type charge struct {
	ends       [2]*attempt
	words      string
	at         time.Time
	noTransfer bool // a transfer made no progress; ends[1] is the source
	// unopened are the connections that had not opened when the edge was charged.
	unopened [][2]*attempt
	open     map[*attempt]int // number of open connections by member, if the charged edge had not opened; else nil
}

// onAsk acknowledges ASK. The decision follows at once, or when more heartbeats are known.
func (m *Machine) onAsk(a *attempt, f *protocol.AskFrame) {
	j := a.job
	level := slog.LevelWarn
	if f.Fault == protocol.EdgeStalls {
		level = slog.LevelInfo // many ranks wait for a slow one
	}
	m.log(level, "edge reported", append(a.attrs(), slog.Int("peer", f.Peer), slog.String("detail", f.Detail))...)
	m.inquireStall(a, f)
	if !j.recovers() && (f.Fault != protocol.EdgeStalls && f.Fault != protocol.EdgeBroke || j.vwStream || j.mixed()) {
		return // the ranks decide by their own deadlines, and send FAIL
	}
	m.send(a, &protocol.AskAckFrame{Epoch: f.Epoch, Peer: f.Peer})
	if f.Epoch != j.epoch || !a.isHolder || a.wired != j.epoch || a.endSent && a.pullsFrom == nil || a.complete {
		return // it is about an epoch that has ended
	}
	peer := j.holders[f.Peer]
	switch {
	case j.phase == ending && a.pullsFrom != nil:
		m.pullFromAnother(a, f)
	case peer == nil || peer == a:
	case j.phase == ending:
		m.endEpoch(j, linkCause(a, peer, f.Fault, f.Detail))
	case j.phase == wired:
		q := pendingAsk{from: a, peer: peer, collective: f.Collective, fault: f.Fault, detail: f.Detail, at: m.Now}
		if old, ok := j.links.asks[a.rank]; ok && old.unopened() && q.unopened() && old.from == a && old.peer == peer {
			q.before = old.at
		}
		assign(&j.links.asks, a.rank, q)
		if f.Fault == protocol.EdgeCorrupts {
			m.decideAsks(j) // nothing to wait for; other faults are decided at the next tick
		}
	}
}

// linkCause returns the cause of an epoch that a faulty edge has ended. It names both ends.
func linkCause(near, far *attempt, f protocol.EdgeFault, detail string) protocol.Cause {
	c := protocol.Cause{
		Kind: protocol.CauseLink, Rank: far.rank, Host: far.host,
		Why: fmt.Sprintf("the edge between rank %d (%s) and rank %d (%s): %s", near.rank, near.host, far.rank, far.host, detail),
	}
	if f == protocol.EdgeCorrupts {
		c.Fault = events.FaultCorrupt
	}
	return c
}

// decideAsks charges the first edge, by rank, for which there is a decision.
func (m *Machine) decideAsks(j *job) {
	if j.phase != wired || len(j.links.asks) == 0 || m.inGracePeriod(j) {
		return
	}
	g := j.graph(m.Now)
	for _, r := range sortedRanks(j.links.asks) {
		q := j.links.asks[r]
		if j.holders[r] != q.from || j.holders[q.peer.rank] != q.peer {
			delete(j.links.asks, r)
			continue
		}
		if w := q.from.waits; q.fault == protocol.EdgeStalls && w.At.After(q.at) && (w.Collective != q.collective || w.Collective == 0 && w.For != q.peer.rank) {
			delete(j.links.asks, r) // the awaited bytes or connection have arrived
			continue
		}
		near, far, why := g.Charge(edges.Ask{From: r, To: q.peer.rank, Fault: q.fault, Collective: q.collective, At: q.at})
		if near < 0 {
			continue
		}
		a, b := j.holders[near], j.holders[far]
		c := linkCause(a, b, q.fault, j.chargeWords(a, b, why))
		if !j.recovers() {
			m.fail(j, c)
			return
		}
		j.links.newCharge = &charge{ends: [2]*attempt{a, b}, words: c.Why, at: m.Now, noTransfer: q.fault == protocol.EdgeNoTransfer, unopened: j.unopenedEdges()}
		if slices.ContainsFunc(j.links.newCharge.unopened, func(e [2]*attempt) bool { return j.links.newCharge.on(e[0], e[1]) }) {
			j.links.newCharge.open = j.opened()
		}
		m.endEpoch(j, c)
		m.advance(j)
		return
	}
}

// chargeWords returns the reason of a charge, with the report of an end that has asked.
func (j *job) chargeWords(near, far *attempt, why string) string {
	for _, ends := range [][2]*attempt{{near, far}, {far, near}} {
		if q, ok := j.links.asks[ends[0].rank]; ok && q.peer == ends[1] {
			if why == "" {
				return q.detail
			}
			return fmt.Sprintf("%s; rank %d reports: %s", why, ends[0].rank, q.detail)
		}
	}
	return cmp.Or(why, "it broke")
}

// graph returns the graph of the job's newest epoch, made of heartbeats and pending ASKs.
func (j *job) graph(now time.Time) *edges.Graph {
	g := &edges.Graph{Now: now, Nodes: make(map[int]edges.Node, len(j.holders))}
	for rank, a := range j.holders {
		if a.wired != j.epoch {
			continue
		}
		n := a.waits.Node(j.epoch)
		switch q, ok := j.links.asks[rank]; {
		case !ok:
		case q.fault == protocol.EdgeBroke:
			n.Broke = q.peer.rank
		case q.unopened() && q.peer.rank == n.WaitsFor:
			n.AskedBefore = q.before
		}
		g.Nodes[rank] = n
	}
	return g
}

// settleCharge counts the charge that has ended the epoch, when all have answered EPOCH_END. It
// returns true if it has evicted an attempt.
func (m *Machine) settleCharge(j *job) (evicted bool) {
	c := j.links.newCharge
	j.links.newCharge, j.links.asks = nil, nil
	if c == nil {
		return false
	}
	for _, a := range c.ends {
		if !a.isHolder || !a.answered {
			return false // the end of a rank, not a fault of the edge
		}
	}
	j.losses.retries.Ends = []int{c.ends[0].rank, c.ends[1].rank}
	j.links.charges = slices.DeleteFunc(append(j.links.charges, *c), func(c charge) bool { return m.Now.Sub(c.at) > chargeLasts })
	j.links.charges = j.links.charges[max(0, len(j.links.charges)-maxCharges):]
	same := 0
	var charges [][2]*attempt
	for _, d := range j.links.charges {
		if d.on(c.ends[0], c.ends[1]) {
			same++
		}
		if !d.noTransfer {
			charges = append(charges, d.ends)
		}
	}
	m.log(slog.LevelWarn, "edge charged", slog.String("job", j.id.String()), slog.String("why", c.words), slog.Int("charges", same))
	if c.noTransfer { // no attempt is evicted yet: the next epoch uses another source
		c.ends[0].cutOff = append(c.ends[0].cutOff, c.ends[1])
		j.losses.retries.Elsewhere = true
		return false
	}
	ends := c.ends
	if ends[0].rank > ends[1].rank { // Evictee returns ends[1] if nothing distinguishes them: the higher rank
		ends[0], ends[1] = ends[1], ends[0]
	}
	a := edges.Evictee(ends, c.unopened, charges, c.open)
	if a == nil {
		return false
	}
	why := c.words
	if same > 1 {
		why = fmt.Sprintf("%s, %d times within %v", why, same, chargeLasts)
	}
	m.evict(*a, why)
	return true
}

// unopenedEdges returns the connections about which ranks have asked, and whose far ends are not at
// work.
func (j *job) unopenedEdges() (unopened [][2]*attempt) {
	for _, r := range sortedRanks(j.links.asks) {
		q := j.links.asks[r]
		if w := q.peer.waits; q.unopened() && w.Epoch == j.epoch && (w.Collective > 0 || w.For >= 0) {
			unopened = append(unopened, [2]*attempt{q.from, q.peer})
		}
	}
	return unopened
}

// opened returns, for each member, how many connections of the ranks' tree have opened in the
// epoch. A connection counts if one of its ends is in a collective.
func (j *job) opened() map[*attempt]int {
	members := j.members()
	tree := topo.Binary(len(members))
	through := func(a *attempt) bool { return a.waits.Epoch == j.epoch && a.waits.Collective > 0 }
	open := map[*attempt]int{}
	for i, a := range members {
		if p := tree.Parent(i); p != topo.None && (through(a) || through(members[p])) {
			open[a]++
			open[members[p]]++
		}
	}
	return open
}

// on reports whether the charge is on the edge between a and b, in either direction.
func (c charge) on(a, b *attempt) bool {
	return c.ends == [2]*attempt{a, b} || c.ends == [2]*attempt{b, a}
}

// evict takes the rank from an attempt for good. A restarted server does not know of the eviction.
// fenceOld then refuses the attempt if another one has replaced it; else it may be evicted once
// more.
func (m *Machine) evict(a *attempt, why string) {
	j := a.job
	if len(j.evictions.attempts) < maxEvicted {
		assign(&j.evictions.attempts, a.number, why)
		assign(&j.evictions.hosts, rankOnHost{a.rank, a.from.Host}, true)
	}
	m.log(slog.LevelWarn, "attempt evicted", append(a.attrs(), slog.String("why", why))...)
	m.send(a, &protocol.FencedFrame{Epoch: j.epoch, Reason: protocol.Clip(why, protocol.MaxText)})
	m.lose(a, events.FaultDropped, why)
}

// chargeTable lists the charges, for the person who looks for the broken part of the network.
func (j *job) chargeTable() string {
	if len(j.links.charges) == 0 {
		return "no edge was charged"
	}
	var list []string
	count := map[string]int{}
	for _, c := range j.links.charges {
		a, b := c.ends[0], c.ends[1]
		if a.rank > b.rank {
			a, b = b, a
		}
		edge := fmt.Sprintf("%d (%s) – %d (%s)", a.rank, a.host, b.rank, b.host)
		if count[edge]++; count[edge] == 1 {
			list = append(list, edge)
		}
	}
	for i, e := range list {
		list[i] = fmt.Sprintf("%s: %d", e, count[e])
	}
	return "charges of edges: " + strings.Join(list, ", ")
}
