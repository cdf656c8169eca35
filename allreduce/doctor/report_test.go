// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce/address"
)

// faultless is the report of n ranks, each on a host of its own, where all is well.
func faultless(n int) *Report {
	r := &Report{}
	for rank := range n {
		ip := fmt.Sprintf("10.0.0.%d", rank)
		r.Ranks = append(r.Ranks, address.View{Rank: rank, Advertised: ip + ":26544", Observed: ip})
		for to := range n {
			if to != rank {
				r.Ways = append(r.Ways, Way{From: rank, To: to, Latency: 50 * time.Microsecond, Rate: 1.2e9, MTU: 1500})
			}
		}
	}
	return r
}

func TestFaults(t *testing.T) {
	missing := func(w *Way) { *w = Way{From: w.From, To: w.To, Missing: true, Fault: "no answer within 5s"} }
	for _, c := range []struct {
		name  string
		spoil func(r *Report)
		want  [][]string // one entry per fault, with texts that it must contain
	}{
		{"no fault", func(*Report) {}, nil},
		{"one direction", func(r *Report) { missing(r.way(1, 2)) }, [][]string{
			{"rank 1 does not reach rank 2 (no answer within 5s)", "advertises 10.0.0.2:26544", "firewall", "from rank 2 to rank 1, exists"},
		}},
		{"both directions", func(r *Report) { missing(r.way(1, 2)); missing(r.way(2, 1)) }, [][]string{
			{"rank 2 does not reach rank 1"}, {"rank 1 does not reach rank 2"},
		}},
		{"nobody", func(r *Report) {
			r.Ranks[3].Advertised = "127.0.0.1:26544"
			for from := range 3 {
				missing(r.way(from, 3))
			}
		}, [][]string{{"no rank reaches rank 3 (from rank 0: no answer", "which each machine resolves to itself", "advertise 10.0.0.3"}}},
		{"silent", func(r *Report) { r.Silent = []int{2} }, [][]string{{"rank 2 and rank 0 have no connection"}}},
		{"broken", func(r *Report) { r.way(0, 1).Fault = "a ping failed: EOF" }, [][]string{{"rank 0 to rank 1: a ping failed: EOF"}}},
		{"far", func(r *Report) { r.way(0, 3).Latency = 20 * time.Millisecond }, [][]string{{"rank 0 to rank 3", "20.000 ms", "on most paths 0.050 ms"}}},
		{"far, but below the limit", func(r *Report) { r.way(0, 3).Latency = time.Millisecond }, nil},
		{"slow", func(r *Report) { r.way(2, 1).Rate = 1.1e8 }, [][]string{{"rank 2 to rank 1: 110.0 MB/s, on most paths 1.2 GB/s"}}},
		{"slow, on one host", func(r *Report) { r.Ranks[2].Observed = r.Ranks[1].Observed; r.way(2, 1).Rate = 1.1e8 }, nil},
		{"clock", func(r *Report) { r.way(0, 1).Clock = -5 * time.Second; r.way(1, 0).Clock = 5 * time.Second }, [][]string{{"the clocks of rank 0 and rank 1 differ by 5s"}}},
		{"clock, seen from one end", func(r *Report) { missing(r.way(0, 1)); r.way(1, 0).Clock = 5 * time.Second }, [][]string{
			{"rank 0 does not reach rank 1"}, {"the clocks of rank 1 and rank 0 differ by 5s"},
		}},
		{"MTU", func(r *Report) { r.way(1, 3).MTU = 9000 }, [][]string{{"MTU 9000 from rank 1 to rank 3, but 1500 back"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := faultless(4)
			c.spoil(r)
			got := r.Faults()
			if len(got) != len(c.want) {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			for i, words := range c.want {
				for _, w := range words {
					if !strings.Contains(got[i], w) {
						t.Errorf("got %q, want %q", got[i], w)
					}
				}
			}
		})
	}
}

func TestTable(t *testing.T) {
	r := faultless(2)
	r.Ways[0].Clock = -1500 * time.Microsecond
	r.Ways[1] = Way{From: 1, To: 0, Missing: true, Fault: "refused"}
	got := strings.Split(strings.TrimRight(r.Table(), "\n"), "\n")
	for i := range got {
		got[i] = strings.Join(strings.Fields(got[i]), " ")
	}
	want := []string{"from to round trip rate MTU clock", "0 1 0.050 ms 1.2 GB/s 1500 -1.5 ms", "1 0 - - - - not reached"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := rateText(1234); got != "1.2 kB/s" {
		t.Errorf("got %s", got)
	}
}

func TestRoundsPairEachPairOnce(t *testing.T) {
	for n := 2; n <= 33; n++ {
		met := map[[2]int]int{}
		for _, pairs := range rounds(n) {
			var busy []int
			for _, p := range pairs {
				met[p]++
				busy = append(busy, p[0], p[1])
			}
			slices.Sort(busy)
			if len(slices.Compact(slices.Clone(busy))) != len(busy) || busy[len(busy)-1] >= n {
				t.Errorf("%d ranks: busy are %v", n, busy)
			}
		}
		for a := range n {
			for b := a + 1; b < n; b++ {
				if met[[2]int{a, b}] != 1 {
					t.Errorf("%d ranks: %d and %d meet %d times", n, a, b, met[[2]int{a, b}])
				}
			}
		}
	}
}
