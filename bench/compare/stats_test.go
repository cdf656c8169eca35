// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Quartiles lie between the values; one value is all three, and none has none.
func TestQuartiles(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   quartiles
	}{
		{[]float64{5, 1, 3, 2, 4}, quartiles{2, 3, 4}},
		{[]float64{4, 1, 3, 2}, quartiles{1.75, 2.5, 3.25}},
		{[]float64{7}, quartiles{7, 7, 7}},
	} {
		if got := quartilesOf(c.values); got != c.want {
			t.Errorf("%v: got %v, want %v", c.values, got, c.want)
		}
	}
	if q := quartilesOf(nil); !math.IsNaN(q.median) {
		t.Errorf("of nothing: got %v", q)
	}
}

// Ratios are of the same turn, so a machine that slows both programs down does not change them.
func TestRatiosArePaired(t *testing.T) {
	r := row{goal: ratio(0.4)}
	o := outcome{ours: []float64{1, 10, 2}, anchor: []float64{2, 20, 4}}
	if got := r.ratio(o); got != (quartiles{0.5, 0.5, 0.5}) {
		t.Errorf("got %v, want 0.5", got)
	}
	if d := cmp.Diff([]float64{3}, ratios([]float64{6, 1}, []float64{2})); d != "" {
		t.Errorf("a turn of one program only counts: %s", d)
	}
}

// A goal is a ratio or a value; a row without an anchor is compared with its goal.
func TestVerdicts(t *testing.T) {
	pair := outcome{ours: []float64{4, 4, 9}, anchor: []float64{10, 10, 10}}
	for _, c := range []struct {
		name  string
		goal  bound
		o     outcome
		want  string
		share float64 // the goal as a ratio
	}{
		{"ratio met", ratio(0.4), pair, "yes", 0.4},
		{"ratio missed", ratio(0.39), pair, "no", 0.39},
		{"value met", at(5), pair, "yes", 0.5},
		{"value missed", at(3), pair, "no", 0.3},
		{"no anchor", at(2), outcome{ours: []float64{3}}, "no", 1},
		{"another loss", ratio(0.5), outcome{ours: pair.ours, anchor: pair.anchor, worse: "loss"}, "no", 0.5},
		{"no goal", bound{}, pair, "", math.NaN()},
	} {
		r := row{goal: c.goal}
		if got := r.verdict(c.o); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if got := r.asRatio(c.goal, c.o); got != c.share && !(math.IsNaN(got) && math.IsNaN(c.share)) {
			t.Errorf("%s: got the goal %g, want %g", c.name, got, c.share)
		}
	}
}
