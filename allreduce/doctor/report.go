// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gvw-project/gvw/allreduce/address"
)

// Way is the result for the path from one rank to another.
type Way struct {
	From, To int
	Fault    string        // why the path does not exist or was not measured; "": it was measured
	Missing  bool          // the path does not exist
	Latency  time.Duration // median round trip
	Rate     float64       // rate of a long message in bytes per second
	MTU      int           // in bytes; 0: unknown
	Clock    time.Duration // clock of To minus clock of From
}

// Report has the findings of an examination.
type Report struct {
	Rank   int // the rank that returns it
	Ranks  []address.View
	Ways   []Way // by From, then To
	Silent []int // ranks that have sent no findings
}

// The limits from which a measurement is a fault.
const (
	slowTimes  = 10                   // round trip, in medians
	slowLeast  = 2 * time.Millisecond // shorter round trips are never a fault
	rateTimes  = 5                    // the median rate, in rates
	clockLimit = time.Second
)

// Faults describes all faults, each with a remedy.
func (r *Report) Faults() []string {
	var all []string
	for _, rank := range r.Silent {
		if rank == r.Rank {
			continue
		}
		all = append(all, fmt.Sprintf("rank %d and rank %d have no connection in either direction: see the output of rank %[1]d", rank, r.Rank))
	}
	all = append(all, r.missing()...)
	for _, w := range r.Ways {
		if w.Fault != "" && !w.Missing {
			all = append(all, fmt.Sprintf("rank %d to rank %d: %s", w.From, w.To, w.Fault))
		}
	}
	all = append(all, r.slow()...)
	return append(all, r.unequal()...)
}

// missing describes the paths that do not exist, in one line for a rank that no rank reaches.
func (r *Report) missing() (all []string) {
	for to := range r.Ranks {
		var not []Way
		tried := 0
		for _, w := range r.Ways {
			if w.To == to {
				tried++
				if w.Missing {
					not = append(not, w)
				}
			}
		}
		if len(not) > 1 && len(not) == tried {
			w := not[0]
			all = append(all, fmt.Sprintf("no rank reaches rank %d (from rank %d: %s); %s", to, w.From, w.Fault, r.Ranks[to].Advice(r.Ranks[w.From])))
			continue
		}
		for _, w := range not {
			text := fmt.Sprintf("rank %d does not reach rank %d (%s); %s", w.From, to, w.Fault, r.Ranks[to].Advice(r.Ranks[w.From]))
			if back := r.way(to, w.From); back != nil && !back.Missing {
				text += fmt.Sprintf(". The opposite path, from rank %d to rank %d, exists", to, w.From)
			}
			all = append(all, text)
		}
	}
	return all
}

func (r *Report) way(from, to int) *Way {
	for i := range r.Ways {
		if r.Ways[i].From == from && r.Ways[i].To == to {
			return &r.Ways[i]
		}
	}
	return nil
}

// between reports whether a path was measured and connects two hosts.
func (r *Report) between(w Way) bool {
	return w.Fault == "" && r.Ranks[w.From].Observed != r.Ranks[w.To].Observed
}

// slow describes the paths that are much slower than most.
func (r *Report) slow() (all []string) {
	var latencies []time.Duration
	var rates []float64
	for _, w := range r.Ways {
		if r.between(w) {
			latencies, rates = append(latencies, w.Latency), append(rates, w.Rate)
		}
	}
	if len(rates) == 0 {
		return nil
	}
	slices.Sort(latencies)
	slices.Sort(rates)
	latency, rate := latencies[(len(latencies)-1)/2], rates[len(rates)/2]
	for _, w := range r.Ways {
		if !r.between(w) {
			continue
		}
		if w.Latency > slowLeast && w.Latency > slowTimes*latency {
			all = append(all, fmt.Sprintf("rank %d to rank %d: a round trip takes %s, on most paths %s: check the route, and the load of that host",
				w.From, w.To, millis(w.Latency), millis(latency)))
		}
		if w.Rate < rate/rateTimes {
			all = append(all, fmt.Sprintf("rank %d to rank %d: %s, on most paths %s: check for a slow interface, a full link, or lost packets; all ranks wait for the slowest",
				w.From, w.To, rateText(w.Rate), rateText(rate)))
		}
	}
	return all
}

// unequal describes differences between the two ends of a path.
func (r *Report) unequal() (all []string) {
	for _, w := range r.Ways {
		back := r.way(w.To, w.From)
		if w.From > w.To && back != nil && back.Fault == "" || w.Fault != "" {
			continue // reported for the opposite path
		}
		if d := max(w.Clock, -w.Clock); d > clockLimit {
			all = append(all, fmt.Sprintf("the clocks of rank %d and rank %d differ by %s: their logs cannot be compared; run a time service on both hosts",
				w.From, w.To, d.Round(10*time.Millisecond)))
		}
		if back != nil && r.between(w) && r.between(*back) && w.MTU > 0 && back.MTU > 0 && w.MTU != back.MTU {
			all = append(all, fmt.Sprintf("MTU %d from rank %d to rank %d, but %d back: long messages may be lost; set the same MTU on both interfaces",
				w.MTU, w.From, w.To, back.MTU))
		}
	}
	return all
}

// Table returns the findings as a table with one line per path.
func (r *Report) Table() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "from\tto\tround trip\trate\tMTU\tclock\t\t")
	for _, w := range r.Ways {
		if w.Fault != "" {
			note := "not measured"
			if w.Missing {
				note = "not reached"
			}
			fmt.Fprintf(t, "%d\t%d\t-\t-\t-\t-\t%s\t\n", w.From, w.To, note)
			continue
		}
		mtu := "-"
		if w.MTU > 0 {
			mtu = fmt.Sprint(w.MTU)
		}
		fmt.Fprintf(t, "%d\t%d\t%s\t%s\t%s\t%+.1f ms\t\t\n", w.From, w.To, millis(w.Latency), rateText(w.Rate), mtu, w.Clock.Seconds()*1e3)
	}
	t.Flush()
	return b.String()
}

func millis(d time.Duration) string { return fmt.Sprintf("%.3f ms", d.Seconds()*1e3) }

// rateText formats a rate.
func rateText(r float64) string {
	switch {
	case r >= 1e9:
		return fmt.Sprintf("%.1f GB/s", r/1e9)
	case r >= 1e6:
		return fmt.Sprintf("%.1f MB/s", r/1e6)
	}
	return fmt.Sprintf("%.1f kB/s", r/1e3)
}
