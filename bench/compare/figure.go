// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/bench/internal/figure"
)

// figureOf returns the picture of the rows that were measured. method names runs and machine.
func figureOf(rows []row, outcomes []outcome, method string) figure.Figure {
	f := figure.Figure{
		Name: "compare", Title: "gvw beside its anchors", X: "ratio to the anchor", LogX: true, Kind: "ranges",
		Alt:   "A row for each work: the median ratio of gvw to its anchor with a bar from the first to the third quartile, and marks of the goal and the limit.",
		Shows: "It shows ratios of wall time or memory of whole processes, below 1 where gvw needs less than its anchor. Goals and limits that are seconds or megabytes are divided by the median of the anchor. It does not show a quiet machine: the notes have the load, and CPU time depends less on it.",
		Seed:  "1 of the made data",
	}
	// All series exist in this order, so that they keep their marks.
	for _, name := range []string{"quartiles", "median", "median of CPU time", "goal", "limit"} {
		f.Add(name)
	}
	var values, missing []string
	for i, r := range rows {
		o := outcomes[i]
		if o.missing != "" {
			missing = append(missing, fmt.Sprintf("%s (%s)", r.name, oneLine(o.missing)))
			continue
		}
		y := float64(len(f.Rows))
		f.Rows = append(f.Rows, r.name)
		add := func(series string, x ...float64) {
			for _, x := range x {
				if x > 0 { // the axis is logarithmic
					f.Add(series, figure.Point{X: x, Y: y})
				}
			}
		}
		q := r.ratio(o)
		if q.low > 0 {
			add("quartiles", q.low, q.high)
		}
		add("median", q.median)
		add("median of CPU time", quartilesOf(ratios(o.oursCPU, o.anchorCPU)).median)
		add("goal", r.asRatio(r.goal, o))
		add("limit", r.asRatio(r.limit, o))
		text := r.name + " " + r.value(quartilesOf(o.ours).median)
		if len(o.anchor) > 0 {
			text += ", " + cmp.Or(o.peer, r.anchor) + " " + r.value(quartilesOf(o.anchor).median)
		}
		values = append(values, text)
	}
	f.Notes = method + "; medians: " + strings.Join(values, "; ")
	if missing != nil {
		f.Notes += "; not measured: " + strings.Join(missing, "; ")
	}
	return f
}
