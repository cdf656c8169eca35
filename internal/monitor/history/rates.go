// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/traffic"
)

// staleAfter is the time after which the rate of a rank that sends no counts is not known. Ranks of large jobs send them less
// than once a second.
const staleAfter = 20 * time.Second

// count takes over the newest counts of an attempt, before they are part of its status.
func (r *Rank) count(now time.Duration, newest *traffic.Counts, same bool) {
	if newest == nil || newest == r.Status.Traffic {
		return
	}
	r.before, r.counted = nil, now
	if same {
		r.before = r.Status.Traffic
	}
}

// interval returns the time between the newest counts of a rank and those before; 0: there are none, or they are old.
func (j *Job) interval(r *Rank) time.Duration {
	if j.Ended != nil || !r.Present || r.before == nil || r.Status.Traffic == nil || j.Now-r.counted > staleAfter {
		return 0
	}
	return max(0, r.Status.Traffic.Elapsed()-r.before.Elapsed())
}

// Rate returns the bytes per second that a rank sends and receives; -1: unknown.
func (j *Job) Rate(rank int) (sent, received float64) {
	r := &j.Ranks[rank]
	d := j.interval(r)
	if d == 0 {
		return -1, -1
	}
	s1, r1 := r.Status.Traffic.Bytes()
	s0, r0 := r.before.Bytes()
	return rate(s1, s0, d), rate(r1, r0, d)
}

// rate returns the bytes per second between two counts.
func rate(now, before uint64, d time.Duration) float64 {
	return float64(now-min(now, before)) / d.Seconds()
}

// Edge is the traffic from one rank to another one.
type Edge struct {
	From, To int
	Via      traffic.Via // of most of its bytes
	Local    bool        // both are on one machine
	Bytes    uint64      // so far
	Rate     float64     // bytes per second; 0: none, or unknown
}

// Edges returns the edges with the most bytes, at most limit, most first. The count is that of
// the sender, or that of the receiver if the sender has sent none.
func (j *Job) Edges(limit int) []Edge {
	by := map[[2]int]*Edge{}
	add := func(from, to int, via traffic.Via, local bool, bytes uint64, rate float64) {
		if bytes == 0 || from < 0 || to < 0 || from >= len(j.Ranks) || to >= len(j.Ranks) {
			return
		}
		e := by[[2]int{from, to}]
		if e == nil {
			e = &Edge{From: from, To: to}
			by[[2]int{from, to}] = e
		}
		if bytes > e.Bytes {
			e.Via, e.Local, e.Bytes = via, local, bytes
		}
		e.Rate = max(e.Rate, rate)
	}
	for i := range j.Ranks {
		r := &j.Ranks[i]
		if r.Status.Traffic == nil {
			continue
		}
		d := j.interval(r)
		for _, e := range r.Status.Traffic.Edges {
			var out, in float64
			if d > 0 {
				was := edgeOf(r.before, e)
				out, in = rate(e.Sent, was.Sent, d), rate(e.Received, was.Received, d)
			}
			add(i, e.Rank, e.Via, e.Local, e.Sent, out)
			if at := e.Rank; at >= 0 && at < len(j.Ranks) && j.Ranks[at].Status.Traffic == nil {
				add(at, i, e.Via, e.Local, e.Received, in)
			}
		}
	}
	all := make([]Edge, 0, len(by))
	for _, e := range by {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return all[:min(limit, len(all))]
}

// edgeOf returns the counts of the same edge.
func edgeOf(c *traffic.Counts, e traffic.Edge) traffic.Edge {
	i := slices.IndexFunc(c.Edges, func(o traffic.Edge) bool { return o.Rank == e.Rank && o.Via == e.Via && o.Local == e.Local })
	if i < 0 {
		return traffic.Edge{Sent: e.Sent, Received: e.Received} // it was not among the busiest ones
	}
	return c.Edges[i]
}
