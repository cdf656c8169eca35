// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/gvw-project/gvw/internal/chart"
	"github.com/gvw-project/gvw/internal/record"
)

// exchanges returns what ranks have exchanged by shared vectors, over all attempts, in the order of the ranks, and the bytes between
// pairs of ranks with the time in which they were exchanged.
func exchanges(r *record.Record) (all []record.Vectors, pairs map[pair]both, seconds float64) {
	type attempt struct {
		rank  int
		began float64
	}
	newest := map[attempt]int{}
	for i, e := range r.Vectors {
		a := attempt{e.Rank, e.Began}
		if at, ok := newest[a]; !ok || e.Time >= r.Vectors[at].Time {
			newest[a] = i
		}
	}
	type side struct {
		pair
		there bool
	}
	sent, received := map[side]float64{}, map[side]float64{}
	var from, to float64
	for i, e := range r.Vectors { // in the order of the file
		if newest[attempt{e.Rank, e.Began}] != i {
			continue
		}
		if from == 0 || e.Began < from {
			from = e.Began
		}
		to = max(to, e.Time)
		for _, x := range e.Edges {
			p := pair{min(e.Rank, x.Peer), max(e.Rank, x.Peer), carrier(x.Via)}
			sent[side{p, e.Rank == p.a}] += float64(x.Sent)
			received[side{p, e.Rank != p.a}] += float64(x.Received)
		}
		at := slices.IndexFunc(all, func(o record.Vectors) bool { return o.Rank == e.Rank })
		if at < 0 {
			all = append(all, e)
			continue
		}
		o := &all[at]
		o.Rounds, o.Sent, o.Dropped = max(o.Rounds, e.Rounds), o.Sent+e.Sent, o.Dropped+e.Dropped
		o.Received, o.Overwritten, o.Damaged = o.Received+e.Received, o.Overwritten+e.Overwritten, o.Damaged+e.Damaged
		o.Merged, o.Behind, o.Oldest = o.Merged+e.Merged, o.Behind+e.Behind, max(o.Oldest, e.Oldest)
		o.Edges = slices.Concat(o.Edges, e.Edges)
	}
	slices.SortStableFunc(all, func(a, b record.Vectors) int { return cmp.Compare(a.Rank, b.Rank) })
	for s, n := range received { // the record of the sender may be missing
		sent[s] = max(sent[s], n)
	}
	pairs = map[pair]both{}
	for s, n := range sent {
		if n > 0 {
			pairs[s.pair] = pairs[s.pair].plus(s.there, n)
		}
	}
	return all, pairs, to - from
}

// vectorBytes returns the counts of the attempts of all ranks, each in the order of time.
func vectorBytes(r *record.Record) [][]record.Vectors {
	sorted := slices.Clone(r.Vectors)
	slices.SortStableFunc(sorted, func(a, b record.Vectors) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Began, b.Began), cmp.Compare(a.Time, b.Time))
	})
	var all [][]record.Vectors
	for i, e := range sorted {
		if i == 0 || sorted[i-1].Rank != e.Rank || sorted[i-1].Began != e.Began {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], e)
	}
	return all
}

// received returns the bytes that an attempt has received until a time. Between two counts they are interpolated: a rank counts
// at the ends of its passes, and not of all of them.
func received(counts []record.Vectors, at float64) float64 {
	began, before := counts[0].Began, 0.0
	for _, c := range counts {
		sum := 0.0
		for _, x := range c.Edges {
			sum += float64(x.Received)
		}
		if c.Time >= at {
			if at <= began {
				return before
			}
			return before + (sum-before)*(at-began)/(c.Time-began)
		}
		began, before = c.Time, sum
	}
	return before
}

// vectorSection adds what shared vectors have exchanged.
func (v *view) vectorSection() {
	begun := false
	for _, r := range v.runs {
		all, pairs, seconds := exchanges(r.Record)
		if len(all) == 0 {
			continue
		}
		if !begun {
			v.section("Shared vectors")
			v.para("Ranks send updates of their weights to some others, and merge what has arrived. An update that a newer one has replaced before it was merged is overwritten. The delay is by how many rounds a merged update is older than the receiver's own. Bytes include headers.")
			begun = true
		}
		rows := make([]row, 0, len(all))
		for i := range all[:min(len(all), maxRanks)] {
			rows = append(rows, exchangeRow(&all[i]))
		}
		v.heading(v.label(r, "updates by rank"))
		v.table("Updates", []string{"rank", "#rounds", "#sent", "#received", "#overwritten", "#dropped", "#damaged", "#merged", "#mean delay", "#most", "#bytes sent", "#bytes received"}, rows)
		if len(all) > maxRanks {
			v.para("The first %d of %d ranks.", maxRanks, len(all))
		}
		v.graph(v.label(r, "graph of the shared vectors"), pairs, seconds)
	}
}

// exchangeRow returns the row of a rank.
func exchangeRow(e *record.Vectors) row {
	var sent, received uint64
	for _, x := range e.Edges {
		sent, received = sent+x.Sent, received+x.Received
	}
	delay := "–"
	if e.Merged > 0 {
		delay = chart.Number(float64(e.Behind) / float64(e.Merged))
	}
	return row{cells: []string{
		"rank " + strconv.Itoa(e.Rank), fmt.Sprint(e.Rounds), fmt.Sprint(e.Sent), fmt.Sprint(e.Received), fmt.Sprint(e.Overwritten),
		fmt.Sprint(e.Dropped), fmt.Sprint(e.Damaged), fmt.Sprint(e.Merged), delay, fmt.Sprint(e.Oldest), bytesText(float64(sent)), bytesText(float64(received)),
	}}
}
