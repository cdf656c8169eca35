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

// maxRanks is the number of ranks above which pictures show only those that have worked longest.
const maxRanks = 48

// rankTime is the time of one rank in all steps.
type rankTime struct {
	rank    int
	times   record.Times
	slowest int // steps in which it has worked longest of all ranks
}

// work returns the time in which a rank was busy with its own data.
func work(t *record.Times) float64 { return t.Read + t.Compute }

// rankTimes returns the times of all ranks in the order of the ranks, and the number of steps in which the ranks can be
// compared.
func rankTimes(r *record.Record) (all []rankTime, steps int) {
	at := map[int]int{}
	type most struct {
		rank, ranks int
		work        float64
	}
	byStep := map[[2]int]most{} // by first and last step
	for i := range r.Steps {
		s := &r.Steps[i]
		if _, ok := at[s.Rank]; !ok {
			at[s.Rank] = len(all)
			all = append(all, rankTime{rank: s.Rank})
		}
		all[at[s.Rank]].times.Add(&s.Seconds)
		key := [2]int{s.First, s.Last}
		m := byStep[key]
		if m.ranks == 0 || work(&s.Seconds) > m.work {
			m.rank, m.work = s.Rank, work(&s.Seconds)
		}
		m.ranks++
		byStep[key] = m
	}
	for _, m := range byStep {
		if m.ranks > 1 {
			steps++
			all[at[m.rank]].slowest++
		}
	}
	slices.SortFunc(all, func(a, b rankTime) int { return cmp.Compare(a.rank, b.rank) })
	return all, steps
}

// quantile returns the value below which a share q of sorted values lie.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// shown returns the ranks to draw: all, or those that have worked longest.
func shown(all []rankTime) (some []rankTime, caption string) {
	if len(all) <= maxRanks {
		return all, ""
	}
	some = slices.Clone(all)
	slices.SortStableFunc(some, func(a, b rankTime) int { return cmp.Compare(work(&b.times), work(&a.times)) })
	return some[:maxRanks], fmt.Sprintf("The %d of %d ranks that have worked longest.", maxRanks, len(all))
}

// timeSection adds how the ranks have spent their time.
func (v *view) timeSection() {
	v.section("Time of the ranks")
	v.para("A rank reads while it waits for examples, and computes while it learns from them. It updates while it makes results and the next model outside collectives. In a collective, network is the time in which it sends or receives, and wait the rest.")
	for _, r := range v.runs {
		all, steps := rankTimes(r.Record)
		if len(all) == 0 {
			v.para("%s", v.label(r, "no step is recorded."))
			continue
		}
		some, caption := shown(all)
		v.grid(true)
		bars := &chart.Bars{Unit: "s", Parts: record.PartNames}
		for _, t := range some {
			bars.Rows = append(bars.Rows, chart.Row{Name: "rank " + strconv.Itoa(t.rank), Values: t.times.Parts()})
		}
		v.figure(v.label(r, "time by rank"), caption, func(dst []byte) []byte { return bars.AppendSVG(dst, chart.Inline) })
		v.figure(v.label(r, "time of the ranks, step by step"), "Within a step the parts are in a fixed order, whatever theirs was. A dotted vertical line is the loss of a rank.", func(dst []byte) []byte {
			return lanes(r.Record, some).AppendSVG(dst, chart.Inline)
		})
		v.grid(false)
		v.stepQuantiles(r)
		v.quantiles(r, all, steps)
	}
}

// lanes returns the steps of ranks over time.
func lanes(r *record.Record, ranks []rankTime) *chart.Lanes {
	zero := start(r)
	if zero == 0 && len(r.Steps) > 0 {
		zero = slices.MinFunc(r.Steps, func(a, b record.Step) int { return cmp.Compare(a.Began, b.Began) }).Began
	}
	l := &chart.Lanes{X: "s", Parts: record.PartNames, Marks: marks(r, zero)}
	at := map[int]int{}
	for i, t := range ranks {
		at[t.rank] = i
		l.Lanes = append(l.Lanes, chart.Lane{Name: "rank " + strconv.Itoa(t.rank)})
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		lane, ok := at[s.Rank]
		if !ok {
			continue
		}
		from := s.Began - zero
		for part, d := range s.Seconds.Parts() {
			if d > 0 {
				l.Lanes[lane].Spans = append(l.Lanes[lane].Spans, chart.Span{From: from, To: from + d, Part: part})
				from += d
			}
		}
	}
	return l
}

// stepQuantiles adds the distribution over the steps of all ranks. A line of the record that has several steps counts as so many
// of their mean.
func (v *view) stepQuantiles(r *Run) {
	if len(r.Record.Steps) < 2 {
		return
	}
	var rows []row
	add := func(name string, of func(t *record.Times) float64) {
		var values []float64
		weight := map[float64]int{} // steps by value
		total := 0
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			n := s.Last - s.First + 1
			v := of(&s.Seconds) / float64(n)
			values, total = append(values, v), total+n
			weight[v] += n
		}
		slices.Sort(values)
		values = slices.Compact(values)
		cells := []string{name}
		for _, q := range []float64{0, 0.25, 0.5, 0.75, 0.95, 0.99, 1} {
			below, at := 0, 0
			for ; at < len(values)-1; at++ {
				if below += weight[values[at]]; float64(below) >= q*float64(total) {
					break
				}
			}
			cells = append(cells, chart.Number(1e3*values[at]))
		}
		rows = append(rows, row{cells: cells})
	}
	for part, name := range record.PartNames {
		add(name, func(t *record.Times) float64 { return t.Parts()[part] })
	}
	add("collectives (network and wait)", func(t *record.Times) float64 { return t.Network + t.Wait })
	v.heading(v.label(r, "quantiles over the steps of all ranks, in milliseconds"))
	v.table("Quantiles over the steps", []string{"part of a step", "#least", "#25 %", "#median", "#75 %", "#95 %", "#99 %", "#most"}, rows)
}

// quantiles adds the distribution of times over ranks, and the ranks that others have waited for.
func (v *view) quantiles(r *Run, all []rankTime, steps int) {
	if len(all) < 2 {
		return
	}
	var rows []row
	for part, name := range record.PartNames {
		rows = append(rows, spread(name, all, func(t *record.Times) float64 { return t.Parts()[part] }))
	}
	rows = append(rows, spread("read and compute", all, work))
	v.heading(v.label(r, "quantiles over the ranks, in seconds"))
	v.table("Quantiles", []string{"part", "#least", "#25 %", "#median", "#75 %", "#95 %", "#most", "rank with most"}, rows)
	slow := slices.Clone(all)
	slices.SortStableFunc(slow, func(a, b rankTime) int { return cmp.Compare(work(&b.times), work(&a.times)) })
	median := work(&slow[len(slow)/2].times)
	rows = nil
	for _, t := range slow[:min(5, len(slow))] {
		factor := "–"
		if median > 0 {
			factor = chart.Number(work(&t.times)/median) + " ×"
		}
		rows = append(rows, row{cells: []string{"rank " + strconv.Itoa(t.rank), seconds(work(&t.times)), factor, fmt.Sprintf("%d of %d", t.slowest, steps), seconds(t.times.Wait)}})
	}
	v.heading(v.label(r, "stragglers"))
	v.table("Stragglers", []string{"rank", "#read and compute", "#of the median", "#slowest in steps", "#its own wait"}, rows)
}

// spread returns a row with the distribution of a time.
func spread(name string, all []rankTime, of func(t *record.Times) float64) row {
	var values []float64
	most := 0
	for i := range all {
		values = append(values, of(&all[i].times))
		if values[i] > values[most] {
			most = i
		}
	}
	r := row{cells: []string{name}}
	rank := strconv.Itoa(all[most].rank)
	slices.Sort(values)
	for _, q := range []float64{0, 0.25, 0.5, 0.75, 0.95, 1} {
		r.cells = append(r.cells, chart.Number(quantile(values, q)))
	}
	return row{cells: append(r.cells, rank)}
}

// edge is a pair of ranks.
type edge struct{ from, to int }

// edges returns the bytes that ranks have sent to each other, most first.
func edges(r *record.Record) (all []edge, bytes map[edge]float64) {
	sent, received := map[edge]float64{}, map[edge]float64{}
	for _, s := range r.Steps {
		for to, n := range s.Sent {
			sent[edge{s.Rank, to}] += float64(n)
		}
		for from, n := range s.Received {
			received[edge{from, s.Rank}] += float64(n)
		}
	}
	for e, n := range received { // the record of the sender may be missing
		sent[e] = max(sent[e], n)
	}
	for e := range sent {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b edge) int {
		return cmp.Or(cmp.Compare(sent[b], sent[a]), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return all, sent
}

// trafficSection adds the bytes by edge.
func (v *view) trafficSection() {
	v.section("Traffic")
	for _, r := range v.runs {
		all, bytes := edges(r.Record)
		if len(all) == 0 {
			v.para("%s", v.label(r, "no traffic is recorded: there is one rank, or the record is of an older version."))
			continue
		}
		var sum float64
		for _, n := range bytes {
			sum += n
		}
		v.para("%s", v.label(r, fmt.Sprintf("%s on %d edges, without headers and heartbeats.", bytesText(sum), len(all))))
		v.graph(v.label(r, "graph of the ranks"), pairsOf(r.Record), stepSeconds(r.Record))
		const most = 24
		bars := &chart.Bars{Unit: "bytes"}
		for _, e := range all[:min(len(all), most)] {
			bars.Rows = append(bars.Rows, chart.Row{Name: fmt.Sprintf("%d → %d", e.from, e.to), Values: []float64{bytes[e]}})
		}
		caption := ""
		if len(all) > most {
			caption = fmt.Sprintf("The %d edges with the most bytes, of %d.", most, len(all))
		}
		v.figure(v.label(r, "bytes by edge"), caption, func(dst []byte) []byte { return bars.AppendSVG(dst, chart.Inline) })
	}
}
