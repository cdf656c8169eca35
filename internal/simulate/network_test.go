// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"slices"
	"testing"
	"time"
)

// carry sends parts over connections from time 0, and returns when the last part of each has arrived. The parts of a
// connection are [from, to, bytes].
func carry(net Network, ranks int, parts ...[3]int) []time.Duration {
	f := newFabric(net.withDefaults(), ranks)
	for _, p := range parts {
		c := flow{from: int32(p[0]), to: int32(p[1])}
		f.route(&c)
		f.flows = append(f.flows, c)
	}
	for id, p := range parts {
		f.push(int32(id), p[2]-frameSize)
	}
	ends := make([]time.Duration, len(parts))
	for {
		ev, ok := f.next()
		switch {
		case !ok:
			return ends
		case ev.kind == segmentAtLink:
			f.reach(ev.a, ev.b)
		case f.served(ev.a, ev.b):
			ends[ev.a] = f.now
		}
	}
}

// Connections share links by max-min fairness: at host 4 each of three has a third, so that the rest of the link of host 0
// goes to the one that ends elsewhere.
func TestSharesAreMaxMinFair(t *testing.T) {
	// At 8e9 bits per second a byte takes 1 ns.
	got := carry(Network{Rate: 8e9, Segment: 100}, 5, [3]int{0, 4, 1_000_000}, [3]int{1, 4, 1_000_000}, [3]int{2, 4, 1_000_000}, [3]int{0, 3, 2_000_000})
	for i, end := range got {
		if d := (end - 3*time.Millisecond).Abs(); d > 10*time.Microsecond {
			t.Errorf("connection %d ends after %v, want 3 ms", i, end)
		}
	}
}

// A path through two racks has four links. The slow uplink of the first rack is shared by its hosts; the traffic within a
// rack does not use it.
func TestRacks(t *testing.T) {
	net := Network{Rate: 8e9, HostsPerRack: 2, Oversubscription: 4, Latency: 7 * time.Microsecond, Segment: 1000}
	got := carry(net, 4, [3]int{0, 2, 1_000_000}, [3]int{1, 3, 1_000_000}, [3]int{0, 1, 1_000_000})
	for i, want := range []time.Duration{4 * time.Millisecond, 4 * time.Millisecond, 2 * time.Millisecond} {
		if d := (got[i] - want).Abs(); d > 400*time.Microsecond {
			t.Errorf("connection %d ends after %v, want about %v", i, got[i], want)
		}
	}
}

// A segment is not stored between links of one rate. A faster link serves it so late that its tail has just arrived.
func TestSegmentsCutThrough(t *testing.T) {
	net := Network{Rate: 8e9, HostsPerRack: 10, Latency: time.Microsecond, Segment: 1000}
	got := carry(net, 20, [3]int{0, 1, 1000})
	got = append(got, carry(net, 20, [3]int{0, 10, 1000})...) // 900 ns more, as the uplinks take 100 ns
	if want := []time.Duration{2 * time.Microsecond, 2900 * time.Nanosecond}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
