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

// Way is what is known of the way from a rank to another.
type Way struct {
	From, To int
	Fault    string        // why it does not exist, or was not measured; "": it was
	Missing  bool          // it does not exist
	Latency  time.Duration // the median round trip
	Rate     float64       // bytes per second of a long message
	MTU      int           // bytes; 0: not known
	Clock    time.Duration // of To, ahead of From
}

// Report is the findings.
type Report struct {
	Rank   int // who has it
	Ranks  []address.View
	Ways   []Way // by From, then To
	Silent []int // ranks of which nothing is known but by others
}

// What counts as wrong.
const (
	slowTimes  = 10
	slowLeast  = 2 * time.Millisecond
	rateTimes  = 5
	clockLimit = time.Second
)

// Faults are what is wrong, in words, each with what to do.
func (r *Report) Faults() []string {
	var all []string
	for _, rank := range r.Silent {
		if rank == r.Rank {
			continue
		}
		all = append(all, fmt.Sprintf("rank %d cannot be talked to by rank %d, in neither direction: its own output says what it sees", rank, r.Rank))
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

// missing tells of ways that do not exist, in one line of a rank that nobody reaches.
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
			all = append(all, fmt.Sprintf("nobody reaches rank %d (of rank %d: %s); %s", to, w.From, w.Fault, r.Ranks[to].Advice(r.Ranks[w.From])))
			continue
		}
		for _, w := range not {
			text := fmt.Sprintf("rank %d does not reach rank %d (%s); %s", w.From, to, w.Fault, r.Ranks[to].Advice(r.Ranks[w.From]))
			if back := r.way(to, w.From); back != nil && !back.Missing {
				text += fmt.Sprintf(". The other way, from rank %d to rank %d, is there", to, w.From)
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

// between says whether a way was measured, and leads from a host to another.
func (r *Report) between(w Way) bool {
	return w.Fault == "" && r.Ranks[w.From].Seen != r.Ranks[w.To].Seen
}

// slow tells of ways that are much slower than most.
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
			all = append(all, fmt.Sprintf("rank %d to rank %d: a round trip takes %s, on most ways %s: does it lead over another network, or is that host busy?",
				w.From, w.To, millis(w.Latency), millis(latency)))
		}
		if w.Rate < rate/rateTimes {
			all = append(all, fmt.Sprintf("rank %d to rank %d: %s, on most ways %s: a slow interface, a full link, or lost packets? All ranks wait for the slowest",
				w.From, w.To, rateText(w.Rate), rateText(rate)))
		}
	}
	return all
}

// unequal tells of what differs between the two ends of a way.
func (r *Report) unequal() (all []string) {
	for _, w := range r.Ways {
		back := r.way(w.To, w.From)
		if w.From > w.To && back != nil && back.Fault == "" || w.Fault != "" {
			continue // told from the other end
		}
		if d := max(w.Clock, -w.Clock); d > clockLimit {
			all = append(all, fmt.Sprintf("the clocks of rank %d and rank %d differ by %s: their logs cannot be laid side by side; does a time service run on both hosts?",
				w.From, w.To, d.Round(10*time.Millisecond)))
		}
		if back != nil && r.between(w) && r.between(*back) && w.MTU > 0 && back.MTU > 0 && w.MTU != back.MTU {
			all = append(all, fmt.Sprintf("MTU %d from rank %d to rank %d, but %d back: long messages may be lost; give both interfaces the same",
				w.MTU, w.From, w.To, back.MTU))
		}
	}
	return all
}

// Table is the findings way by way.
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

// rateText is a rate as people read it.
func rateText(r float64) string {
	switch {
	case r >= 1e9:
		return fmt.Sprintf("%.1f GB/s", r/1e9)
	case r >= 1e6:
		return fmt.Sprintf("%.1f MB/s", r/1e6)
	}
	return fmt.Sprintf("%.1f kB/s", r/1e3)
}
