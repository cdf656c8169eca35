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

// carriers are the carriers of a record, in the order of the parts of a picture, and the name of a carrier that is not known.
var (
	carriers     = []string{"tcp", "shared_memory", "verbs", ""}
	carrierNames = []string{"TCP", "shared memory", "RDMA", "carrier not recorded"}
)

// carrier returns the index of a carrier.
func carrier(via string) int {
	if i := slices.Index(carriers, via); i >= 0 {
		return i
	}
	return len(carriers) - 1
}

// pair has the bytes between two ranks by one carrier. a is the lower rank.
type pair struct {
	a, b    int
	carrier int
}

// both has the bytes in both directions.
type both struct{ there, back float64 }

func (b both) sum() float64 { return b.there + b.back }

// pairsOf returns the bytes of collectives between pairs of ranks.
func pairsOf(r *record.Record) map[pair]both {
	via := map[edge]string{}
	for _, s := range r.Steps {
		for rank, name := range s.Via {
			e := edge{min(s.Rank, rank), max(s.Rank, rank)}
			if was := via[e]; was == "" || was == carriers[0] { // connections begin with TCP, and one end may note the change later
				via[e] = name
			}
		}
	}
	_, bytes := edges(r)
	out := map[pair]both{}
	for e, n := range bytes {
		p := pair{min(e.from, e.to), max(e.from, e.to), 0}
		p.carrier = carrier(via[edge{p.a, p.b}])
		out[p] = out[p].plus(e.from == p.a, n)
	}
	return out
}

// plus returns b with more bytes in one direction.
func (b both) plus(there bool, n float64) both {
	if there {
		b.there += n
		return b
	}
	b.back += n
	return b
}

// graph adds the picture of the bytes between ranks in a time.
func (v *view) graph(title string, pairs map[pair]both, seconds float64) {
	if len(pairs) == 0 {
		return
	}
	const most = 512
	all := make([]pair, 0, len(pairs))
	var ranks []int
	for p := range pairs {
		all = append(all, p)
		ranks = append(ranks, p.a, p.b)
	}
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	slices.SortFunc(all, func(p, q pair) int {
		return cmp.Or(cmp.Compare(pairs[q].sum(), pairs[p].sum()), cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b), cmp.Compare(p.carrier, q.carrier))
	})
	g := &chart.Graph{Parts: carrierNames, About: "Links are as thick as their bytes per second."}
	at := map[int]int{}
	for i, rank := range ranks {
		at[rank] = i
		g.Nodes = append(g.Nodes, strconv.Itoa(rank))
	}
	var rows []row
	for i, p := range all[:min(len(all), most)] {
		n, rate := pairs[p], "–"
		if seconds > 0 {
			rate = bytesText(n.sum()/seconds) + "/s"
		}
		g.Links = append(g.Links, chart.Link{
			A: at[p.a], B: at[p.b], Value: n.sum(), Part: p.carrier, Label: rate,
			Tip: fmt.Sprintf("%d – %d: %s, %s", p.a, p.b, rate, carrierNames[p.carrier]),
		})
		if i < 48 {
			rows = append(rows, row{cells: []string{fmt.Sprintf("%d – %d", p.a, p.b), carrierNames[p.carrier], bytesText(n.there), bytesText(n.back), rate}})
		}
	}
	caption := "Lines are as thick as their bytes per second, over the whole run. Hue and dashes are the carrier."
	if len(all) > most {
		caption += fmt.Sprintf(" The %d edges with the most bytes, of %d.", most, len(all))
	}
	v.figure(title, caption, func(dst []byte) []byte { return g.AppendSVG(dst, chart.Inline) })
	v.details("table of edges", func() {
		v.table("Edges", []string{"ranks", "carrier", "#bytes from the first", "#from the second", "#together"}, rows)
	})
}

// stepSeconds returns the time from the begin of the first step to the end of the last one.
func stepSeconds(r *record.Record) float64 {
	if len(r.Steps) == 0 {
		return 0
	}
	from, to := r.Steps[0].Began, r.Steps[0].Time
	for i := range r.Steps {
		from, to = min(from, r.Steps[i].Began), max(to, r.Steps[i].Time)
	}
	return to - from
}
