// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"slices"
)

// bound is the goal or the limit of a row. The zero value is none.
type bound struct {
	value    float64
	absolute bool // in the unit of the row; otherwise a ratio to the anchor
}

func ratio(x float64) bound { return bound{value: x} }
func at(x float64) bound    { return bound{x, true} }

// outcome is what a row has measured, a value for each turn, in the unit of the row.
type outcome struct {
	ours, anchor       []float64 // no anchor: the goal takes its place
	oursCPU, anchorCPU []float64 // in any unit; empty: not measured
	peer               string    // name and version of the anchor
	note               string    // what else was measured
	worse              string    // why the goal counts as missed whatever the ratio; empty: it does not
	missing            string    // why nothing was measured
}

// quartiles are the three of a set of values.
type quartiles struct{ low, median, high float64 }

// quartilesOf interpolates between the values; those of no value are NaN.
func quartilesOf(values []float64) quartiles {
	v := slices.Sorted(slices.Values(values))
	cut := func(share float64) float64 {
		if len(v) == 0 {
			return math.NaN()
		}
		x := share * float64(len(v)-1)
		i := int(x)
		if i+1 == len(v) {
			return v[i]
		}
		return v[i] + (x-float64(i))*(v[i+1]-v[i])
	}
	return quartiles{cut(0.25), cut(0.5), cut(0.75)}
}

// ratios divides turn by turn, as far as both have turns.
func ratios(ours, anchor []float64) []float64 {
	var out []float64
	for i := range min(len(ours), len(anchor)) {
		out = append(out, ours[i]/anchor[i])
	}
	return out
}

// ratio returns the quartiles of the ratios to the anchor, or to the goal where there is no anchor.
func (r row) ratio(o outcome) quartiles {
	if len(o.anchor) > 0 {
		return quartilesOf(ratios(o.ours, o.anchor))
	}
	goal := make([]float64, len(o.ours))
	for i := range goal {
		goal[i] = r.goal.value
	}
	return quartilesOf(ratios(o.ours, goal))
}

// asRatio returns a bound as a ratio to the anchor's median, or to the goal where there is no anchor. It is NaN if there is no
// bound.
func (r row) asRatio(b bound, o outcome) float64 {
	switch {
	case b.value == 0:
		return math.NaN()
	case !b.absolute:
		return b.value
	case len(o.anchor) > 0:
		return b.value / quartilesOf(o.anchor).median
	}
	return b.value / r.goal.value
}

// verdict compares the median with the goal.
func (r row) verdict(o outcome) string {
	if r.goal.value == 0 {
		return ""
	}
	got := r.ratio(o).median
	if r.goal.absolute {
		got = quartilesOf(o.ours).median
	}
	if got <= r.goal.value && o.worse == "" {
		return "yes"
	}
	return "no"
}
