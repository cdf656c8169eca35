// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"math"
	"strconv"
)

// axis maps values to pixels.
type axis struct {
	lo, hi   float64 // values; of a logarithmic axis their logarithms
	from, to float64 // pixels
	log      bool
	whole    bool // ticks are integers
}

// least is the least value that a logarithmic axis shows.
const least = 1e-200

// newAxis returns an axis with room for all values. log is ignored unless all are positive.
func newAxis(values []float64, log bool, from, to float64) axis {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	if lo > hi {
		lo, hi = 0, 1
	}
	if log = log && lo >= least; log {
		lo, hi = math.Log10(lo), math.Log10(hi)
	}
	if hi-lo <= 1e-12*math.Max(math.Abs(lo), math.Abs(hi)) { // one value
		d := math.Max(math.Abs(hi)/10, 1e-3)
		if log {
			d = 0.3 // a factor of 2
		}
		lo, hi = lo-d, hi+d
	}
	return axis{lo: lo, hi: hi, from: from, to: to, log: log}
}

// at returns the pixel of a value.
func (a axis) at(v float64) float64 {
	if a.log {
		v = math.Log10(v)
	}
	return a.from + (v-a.lo)/(a.hi-a.lo)*(a.to-a.from)
}

// ticks returns about n round values within the axis.
func (a axis) ticks(n int) (values []float64) {
	if a.log && a.hi-a.lo >= 1 {
		step := math.Max(1, math.Ceil((a.hi-a.lo)/float64(n)))
		for e := math.Ceil(a.lo - 1e-9); e <= a.hi+1e-9; e += step {
			values = append(values, math.Pow(10, e))
		}
		if len(values) >= 2 {
			return values
		}
		values = values[:0]
	}
	lo, hi := a.lo, a.hi
	if a.log {
		lo, hi = math.Pow(10, lo), math.Pow(10, hi)
	}
	raw := (hi - lo) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if step*m >= raw*0.999 {
			step *= m
			break
		}
	}
	if a.whole {
		step = max(step, 1)
	}
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+1e-9*step; i++ {
		values = append(values, i*step+0) // 0, and not -0
	}
	return values
}

// Number formats a value for a person: four digits, and a suffix for thousands.
func Number(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if math.Abs(v) >= u.size {
			d := u.size
			if u.name == "k" {
				d = 1e3
			}
			return strconv.FormatFloat(v/d, 'g', 4, 64) + u.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// finite reports whether v is neither NaN nor infinite.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
