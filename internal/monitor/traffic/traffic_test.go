// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const ms = time.Millisecond

// A meter divides all the time of a rank, also while a collective is under way.
func TestPhases(t *testing.T) {
	t0 := time.Unix(1000, 0)
	at := func(d time.Duration) time.Time { return t0.Add(d) }
	m := New(t0)
	none := time.Time{}
	check := func(now time.Duration, began time.Time, waited, load, compute, network, wait time.Duration) {
		t.Helper()
		c := m.Counts(at(now), began, waited)
		if d := cmp.Diff([Phases]time.Duration{Loading: load, Computing: compute, Network: network, Waiting: wait}, c.Times); d != "" {
			t.Errorf("at %v, -want +got:\n%s", now, d)
		}
		if c.Elapsed() != now {
			t.Errorf("got %v in all, want %v", c.Elapsed(), now)
		}
	}
	check(5*ms, none, 0, 5*ms, 0, 0, 0)
	m.Begin(at(10*ms), Waiting)
	m.Begin(at(12*ms), Computing)
	check(20*ms, none, 3*ms, 10*ms, 8*ms, 0, 2*ms)
	check(26*ms, at(20*ms), 4*ms, 10*ms, 8*ms, 2*ms, 6*ms)
	m.Collective(at(20*ms), at(30*ms), AllReduce, 64, 5*ms)
	check(30*ms, none, 0, 10*ms, 8*ms, 5*ms, 7*ms)
	m.Failed(at(31*ms), at(33*ms), time.Hour) // it has not waited for longer than it took
	check(40*ms, none, 0, 10*ms, 9*ms, 5*ms, 16*ms)
	want := []Calls{{Call: AllReduce, Count: 1, Took: 10 * ms, Bytes: 64, Buckets: [Buckets]uint64{6: 1}}}
	if d := cmp.Diff(want, m.Counts(at(40*ms), none, 0).Calls); d != "" {
		t.Errorf("a collective that has failed counts, or one is missing, -want +got:\n%s", d)
	}
}

func TestBuckets(t *testing.T) {
	for took, want := range map[time.Duration]int{0: 0, 10 * time.Microsecond: 0, 11 * time.Microsecond: 1, time.Second: 10, 10 * time.Second: 12, time.Hour: 13} {
		if got := bucket(took); got != want {
			t.Errorf("%v: got bucket %d, want %d", took, got, want)
		}
	}
}

// Counts have the edges with the most bytes, and the sums of all.
func TestEdges(t *testing.T) {
	m := New(time.Unix(0, 0))
	for rank := range 200 {
		m.Moved(Edge{Rank: rank, Via: Via(rank % 2), Local: rank%2 == 1, Sent: uint64(rank), Received: 1})
		m.Moved(Edge{Rank: rank, Via: Via(rank % 2), Local: rank%2 == 1, Sent: uint64(rank)})
	}
	c := m.Counts(time.Unix(1, 0), time.Time{}, 0)
	if len(c.Edges) != MaxEdges || c.Edges[0] != (Edge{Rank: 199, Via: Memory, Local: true, Sent: 398, Received: 1}) {
		t.Errorf("got %d edges, first %+v", len(c.Edges), c.Edges[0])
	}
	if d := cmp.Diff([]Class{{Via: TCP, Sent: 19800, Received: 100}, {Via: Memory, Local: true, Sent: 20000, Received: 100}}, c.Classes); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if sent, received := c.Bytes(); sent != 39800 || received != 200 {
		t.Errorf("got %d and %d bytes", sent, received)
	}
	if sent, _ := c.Edge(199); sent != 398 {
		t.Errorf("got %d bytes to rank 199", sent)
	}
}

func TestNilMeter(t *testing.T) {
	var m *Meter
	now := time.Now()
	m.Begin(now, Computing)
	m.Collective(now, now, AllReduce, 1, 0)
	m.Failed(now, now, 0)
	m.Moved(Edge{Sent: 1})
	if m.Counts(now, now, 0) != nil {
		t.Error("a nil meter has counts")
	}
}

// The sum over attempts is that of their last counts, and it never decreases, whatever an attempt sends.
func TestAddNeverDecreases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sum Counts
		var want uint64
		for range rapid.IntRange(1, 3).Draw(t, "attempts") {
			var before *Counts
			var last uint64
			for _, n := range rapid.SliceOfN(rapid.Uint64Range(0, 100), 1, 6).Draw(t, "counts") {
				now := &Counts{
					Times:   [Phases]time.Duration{Computing: time.Duration(n)},
					Calls:   []Calls{{Call: AllReduce, Count: n, Took: time.Duration(n), Bytes: n, Buckets: [Buckets]uint64{3: n}}},
					Classes: []Class{{Via: Verbs, Sent: n}},
				}
				was := sum.Clone()
				sum.Add(now, before)
				sent, _ := sum.Bytes()
				before0, _ := was.Bytes()
				want += n - min(n, last)
				if sent < before0 || sent != want || sum.Calls[0].Count != want || sum.Calls[0].Buckets[3] != want || sum.Calls[0].Took != time.Duration(want) || sum.Times[Computing] != time.Duration(want) {
					t.Fatalf("got %+v, want %d everywhere", sum, want)
				}
				before, last = now, n
			}
		}
	})
}

// A rank cannot add kinds or carriers without limit.
func TestAddIgnoresUnknownKinds(t *testing.T) {
	var sum Counts
	sum.Add(&Counts{Calls: []Calls{{Call: CallKinds, Count: 1}, {Call: 255, Count: 1}}, Classes: []Class{{Via: vias, Sent: 1}}}, nil)
	if len(sum.Calls)+len(sum.Classes) != 0 || CallKinds.String() != "other" || vias.String() != "other" {
		t.Errorf("got %+v", sum)
	}
}

// BenchmarkCollective measures what a collective costs in addition.
func BenchmarkCollective(b *testing.B) {
	m := New(time.Now())
	for b.Loop() {
		now := time.Now() // that of the end
		m.Collective(now, now, AllReduce, 4, 0)
	}
}

// BenchmarkCounts measures what a heartbeat costs in addition.
func BenchmarkCounts(b *testing.B) {
	m := New(time.Now())
	for rank := range 64 {
		m.Moved(Edge{Rank: rank, Sent: uint64(rank), Received: 1})
	}
	for b.Loop() {
		m.Counts(time.Now(), time.Time{}, 0)
	}
}
