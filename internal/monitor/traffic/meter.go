// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"
)

// Meter counts for one rank.
type Meter struct {
	mu    sync.Mutex
	phase Phase     // outside of collectives
	since time.Time // until then all time is counted
	times [Phases]time.Duration
	calls [CallKinds]Calls
	edges map[edgeKey]*Edge
}

type edgeKey struct {
	rank  int
	via   Via
	local bool
}

// New returns a meter of a rank that begins to load its data.
func New(now time.Time) *Meter {
	return &Meter{since: now, edges: map[edgeKey]*Edge{}}
}

// count adds the time since the last change to the phase. The caller holds the lock.
func (m *Meter) count(now time.Time) {
	if d := now.Sub(m.since); d > 0 {
		m.times[m.phase] += d
		m.since = now
	}
}

// Begin begins a phase: all time of the rank outside of collectives belongs to it.
func (m *Meter) Begin(now time.Time, p Phase) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count(now)
	m.phase = p
}

// Collective counts a collective that has ended, over a vector of this many bytes. waited is the part of its time in which the
// rank waited. The rank then computes.
func (m *Meter) Collective(began, ended time.Time, kind Call, bytes uint64, waited time.Duration) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	took := m.end(began, ended, waited, Computing)
	c := &m.calls[kind]
	c.Count++
	c.Took += took
	c.Bytes += bytes
	c.Buckets[bucket(took)]++
}

// Failed counts the time of a collective that has failed. The rank then waits.
func (m *Meter) Failed(began, ended time.Time, waited time.Duration) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.end(began, ended, waited, Waiting)
}

// end adds the time of a collective, and begins the next phase. The caller holds the lock.
func (m *Meter) end(began, ended time.Time, waited time.Duration, next Phase) (took time.Duration) {
	m.count(began)
	took = max(0, ended.Sub(m.since))
	waited = min(max(0, waited), took)
	m.times[Network] += took - waited
	m.times[Waiting] += waited
	m.phase, m.since = next, ended
	return took
}

// bounds are Bounds as durations.
var bounds = func() (d [Buckets - 1]time.Duration) {
	for i, b := range Bounds {
		d[i] = time.Duration(math.Round(b * float64(time.Second)))
	}
	return d
}()

// bucket returns the bucket of a time.
func bucket(took time.Duration) int {
	i := 0
	for i < len(bounds) && took > bounds[i] {
		i++
	}
	return i
}

// Moved adds bytes to an edge.
func (m *Meter) Moved(e Edge) {
	if m == nil || e.Sent == 0 && e.Received == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := edgeKey{e.Rank, e.Via, e.Local}
	if was := m.edges[k]; was != nil {
		was.Sent += e.Sent
		was.Received += e.Received
		return
	}
	m.edges[k] = &e
}

// Counts returns the counts until now. began is the start of a collective that is under way; zero: there is none. waited is the
// part of its time in which the rank has waited so far.
func (m *Meter) Counts(now, began time.Time, waited time.Duration) *Counts {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &Counts{Times: m.times}
	open := time.Duration(0)
	if !began.IsZero() {
		open = max(0, now.Sub(later(began, m.since)))
	}
	waited = min(max(0, waited), open)
	c.Times[m.phase] += max(0, now.Sub(m.since)-open)
	c.Times[Network] += open - waited
	c.Times[Waiting] += waited
	for kind := range m.calls {
		if n := m.calls[kind]; n.Count > 0 {
			n.Call = Call(kind)
			c.Calls = append(c.Calls, n)
		}
	}
	c.Edges = make([]Edge, 0, len(m.edges))
	for _, e := range m.edges {
		c.Edges = append(c.Edges, *e)
		k := class(&c.Classes, e.Via, e.Local)
		k.Sent += e.Sent
		k.Received += e.Received
	}
	slices.SortFunc(c.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(b.Sent+b.Received, a.Sent+a.Received), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Via, b.Via))
	})
	if len(c.Edges) > MaxEdges {
		c.Edges = slices.Clone(c.Edges[:MaxEdges])
	}
	slices.SortFunc(c.Classes, func(a, b Class) int { return cmp.Or(cmp.Compare(a.Via, b.Via), -cmpBool(a.Local, b.Local)) })
	return c
}

// later returns the later one of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// cmpBool compares two flags: false is less.
func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
