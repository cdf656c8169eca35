// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// Edges between two live ranks that stall, break or garble. A rank that sees one
// ASKs. Who is to blame is at the end of the chain of who waits for whom, which
// every heartbeat tells a link of: a rank that has not entered the collective is
// at work, and nobody is to blame; else it is the last edge of the chain. So it is with a rank
// that lacks a connection, whether the other end takes it for open or does not get it open either.
// A charge ends the epoch. The second one on an edge evicts an end of it.

const (
	chargeLasts = 10 * time.Minute
	maxCharges  = 64
	maxBarred   = 1000
	// brokeWaits is how long the end of a rank may take to be seen here, too,
	// after its edges have ended.
	brokeWaits = time.Second
	// openWithin is how long two live ranks may take to open the connection between them: twice what
	// one try has to say hello.
	openWithin = 20 * time.Second
)

// The faults of an edge, as ASK names them.
const (
	faultStalls  = uint8(EdgeStalls)
	faultBroke   = uint8(EdgeBroke)
	faultGarbles = uint8(EdgeGarbles)
	faultGives   = uint8(EdgeGives)
)

// links is what a job keeps of its edges.
type links struct {
	asks    map[int]question // of the epoch, by who asks
	accused *charge          // ended the epoch; counts if both ends answer
	charges []charge         // that count, oldest first
}

// question is an ASK that is not decided.
type question struct {
	from, peer *attempt
	collective uint64
	fault      uint8
	detail     string
	at         time.Time
}

// charge is a fault of an edge, between two attempts.
type charge struct {
	ends  [2]*attempt
	words string
	at    time.Time
	gives bool // a transfer made no progress: ends[1] is the source
}

// waiting is what a heartbeat told last.
type waiting struct {
	waitsFor   int
	collective uint64
	epoch      Epoch
	at         time.Time
	since      time.Time // the first heartbeat that told of this collective; zero: the epoch's first did
	same       time.Time // the first of those in a row that told of this collective, or of opening this connection
}

// opens says that the rank opens the connections of an epoch, and lacks that of waitsFor.
func (w waiting) opens(e Epoch) bool { return w.epoch == e && w.collective == 0 && w.waitsFor >= 0 }

// stays says that the rank has been where it is for too long for two that open a connection.
func (w waiting) stays(asked, now time.Time) bool {
	return w.at.After(asked) && now.Sub(w.same) >= openWithin
}

// next is what another heartbeat tells after w.
func (w waiting) next(waitsFor int, collective uint64, e Epoch, now time.Time) waiting {
	next := waiting{waitsFor: waitsFor, collective: collective, epoch: e, at: now, since: w.since, same: w.same}
	switch {
	case w.epoch != e:
		next.since, next.same = time.Time{}, now
	case w.collective != collective:
		next.since, next.same = now, now
	case collective == 0 && w.waitsFor != waitsFor:
		next.same = now
	}
	return next
}

// onAsk acknowledges a complaint and decides about it, at once or when more
// is known.
func (m *machine) onAsk(a *attempt, f *askFrame) {
	j := a.job
	level := slog.LevelWarn
	if f.Fault == faultStalls {
		level = slog.LevelInfo // who is slow has many that wait
	}
	m.log(level, "rank complains of an edge", append(a.attrs(), slog.Int("peer", f.Peer), slog.String("detail", f.Detail))...)
	if !j.recovers() && (f.Fault != faultStalls || j.streams || j.mixed()) {
		return // edges are judged by the ranks' own deadlines: one that gives up says so by FAIL
	}
	m.send(a, &decidingFrame{Epoch: f.Epoch, Peer: f.Peer})
	if f.Epoch != j.epoch || !a.seated || a.wired != j.epoch || a.over && a.pulls == nil || a.complete {
		return // about an epoch that is over: the answer is under way
	}
	peer := j.seats[f.Peer]
	switch {
	case j.state == ending && a.pulls != nil:
		m.pullElsewhere(a, f)
	case peer == nil || peer == a:
	case j.state == ending:
		m.endEpoch(j, linkCause(a, peer, f.Detail))
	case j.state == wired:
		assign(&j.asks, a.rank, question{from: a, peer: peer, collective: f.Collective, fault: f.Fault, detail: f.Detail, at: m.now})
		if f.Fault == faultGarbles {
			m.decide(j) // nothing to wait for; the rest is for the next tick
		}
	}
}

func linkCause(near, far *attempt, detail string) cause {
	return cause{
		Kind: causeLink, Rank: far.rank, Host: far.host,
		Why: fmt.Sprintf("the edge between rank %d (%s) and rank %d (%s): %s", near.rank, near.host, far.rank, far.host, detail),
	}
}

// decide looks for a question that can be answered.
func (m *machine) decide(j *job) {
	if j.state != wired || m.gracious(j) {
		return
	}
	idle := map[link]bool{}
	for _, r := range sortedRanks(j.asks) {
		q := j.asks[r]
		if j.seats[r] != q.from || j.seats[q.peer.rank] != q.peer {
			delete(j.asks, r)
			continue
		}
		if w := q.from.waiting; q.fault == faultStalls && w.at.After(q.at) && (w.collective != q.collective || w.collective == 0 && w.waitsFor != q.peer.rank) {
			delete(j.asks, r) // it has got what it waited for
			continue
		}
		near, far := j.culprit(q, m.now, idle)
		if near == nil {
			continue
		}
		c := linkCause(near, far, q.detail)
		if !j.recovers() {
			m.fail(j, c)
			return
		}
		j.accused = &charge{ends: [2]*attempt{near, far}, words: c.Why, at: m.now, gives: q.fault == faultGives}
		m.endEpoch(j, c)
		m.advance(j)
		return
	}
}

// link is a rank in a collective, as a link of a chain.
type link struct {
	of         *attempt
	collective uint64
}

// culprit is the edge to charge, nil while there is none. idle are links that lead
// to nobody's fault, or into the unknown: many ask when one is slow, and no chain
// need be followed twice.
func (j *job) culprit(q question, now time.Time, idle map[link]bool) (near, far *attempt) {
	switch {
	case q.fault == faultGarbles, q.fault != faultStalls && now.Sub(q.at) >= brokeWaits:
		return q.from, q.peer
	case q.fault != faultStalls:
		return nil, nil
	}
	seen := map[*attempt]bool{q.from: true}
	for near, far = q.from, q.peer; ; {
		w := far.waiting
		next := j.seats[w.waitsFor]
		known := w.at.After(q.at) && w.epoch == j.epoch
		// near has no connection to far, which takes it for open; or far has none to near.
		unmet := known && (near.waiting.opens(j.epoch) && w.collective > 0 || w.opens(j.epoch) && next == near)
		switch {
		case unmet && near.waiting.stays(q.at, now) && w.stays(q.at, now):
			return near, far
		case unmet:
			return nil, nil // they may be about to meet
		case known && w.opens(j.epoch) && next != nil && next.wired == j.epoch && !seen[next] && !idle[link{far, q.collective}]:
			// It is not at work: who knows what that one does.
		case known && w.collective == q.collective && w.since.After(q.at):
			// It has entered after the question: bytes may well move now. If they do not, it
			// is asked again.
			return nil, nil
		case known && q.collective > 0 && w.collective >= q.collective && (w.collective > q.collective || w.waitsFor < 0 || seen[next] || next == far):
			return near, far
		case !known, q.collective == 0, w.collective < q.collective, next == nil, next.wired != j.epoch, idle[link{far, q.collective}]:
			// What it waits for is not known yet; or it is at work, which is nobody's fault.
			seen[far] = true
			for a := range seen {
				idle[link{a, q.collective}] = true
			}
			return nil, nil
		}
		seen[far] = true
		near, far = far, next
	}
}

// settle counts the charge that has ended the epoch, now that all have
// answered. It returns true if it has evicted an attempt.
func (m *machine) settle(j *job) (evicted bool) {
	c := j.accused
	j.accused, j.asks = nil, nil
	if c == nil {
		return false
	}
	for _, a := range c.ends {
		if !a.seated || !a.answered {
			return false // it was no link, but a rank that was going
		}
	}
	j.charges = slices.DeleteFunc(append(j.charges, *c), func(c charge) bool { return m.now.Sub(c.at) > chargeLasts })
	j.charges = j.charges[max(0, len(j.charges)-maxCharges):]
	same := 0
	total := map[*attempt]int{}
	for _, d := range j.charges {
		total[d.ends[0]]++
		total[d.ends[1]]++
		if d.on(c.ends[0], c.ends[1]) {
			same++
		}
	}
	m.log(slog.LevelWarn, "edge charged", slog.String("job", j.id.String()), slog.String("why", c.words), slog.Int("charges", same))
	if c.gives { // it takes from another source in the next epoch
		c.ends[0].cutOff = append(c.ends[0].cutOff, c.ends[1])
		j.elsewhere = true
		return false
	}
	if same < 2 {
		return false
	}
	m.evict(slices.MaxFunc(c.ends[:], func(a, b *attempt) int {
		return cmp.Or(cmp.Compare(total[a], total[b]), cmp.Compare(a.rank, b.rank))
	}), fmt.Sprintf("%s, %d times within %v", c.words, same, chargeLasts))
	return true
}

func (c charge) on(a, b *attempt) bool {
	return c.ends == [2]*attempt{a, b} || c.ends == [2]*attempt{b, a}
}

// evict takes its rank from an attempt for good.
func (m *machine) evict(a *attempt, why string) {
	j := a.job
	if len(j.barred) < maxBarred {
		assign(&j.barred, a.number, why)
	}
	m.log(slog.LevelWarn, "attempt evicted", append(a.attrs(), slog.String("why", why))...)
	m.send(a, &fencedFrame{Epoch: j.epoch, Reason: clip(why, maxWords)})
	m.lose(a, why)
}

// chargeTable lists the charges for who has to find the broken switch.
func (j *job) chargeTable() string {
	if len(j.charges) == 0 {
		return "no edge was charged"
	}
	var edges []string
	count := map[string]int{}
	for _, c := range j.charges {
		a, b := c.ends[0], c.ends[1]
		if a.rank > b.rank {
			a, b = b, a
		}
		edge := fmt.Sprintf("%d (%s) – %d (%s)", a.rank, a.host, b.rank, b.host)
		if count[edge]++; count[edge] == 1 {
			edges = append(edges, edge)
		}
	}
	for i, e := range edges {
		edges[i] = fmt.Sprintf("%s: %d", e, count[e])
	}
	return "charges of edges: " + strings.Join(edges, ", ")
}
