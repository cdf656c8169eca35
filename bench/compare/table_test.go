// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/bench/internal/figure"
)

var (
	shownRows = []row{
		{name: "text", anchor: "vw", unit: "s", goal: ratio(0.33), limit: ratio(0.18)},
		{name: "start", anchor: "hello", unit: "ms", goal: at(10)},
		{name: "optimum", anchor: "liblinear", unit: "s", goal: ratio(0.2)},
		{name: "join", anchor: "none", unit: "s", goal: at(1.5)},
	}
	shownOutcomes = []outcome{
		{ours: []float64{1, 2, 3}, anchor: []float64{4, 4, 4}, oursCPU: []float64{1}, anchorCPU: []float64{4}, peer: "vw 9"},
		{ours: []float64{12}, anchor: []float64{2}, note: "two cores"},
		{missing: "no\nPython"},
		{ours: []float64{3000}, worse: "slow"},
	}
)

// A row has values, ratio, quartiles, goal and limit; one without figures says why.
func TestTable(t *testing.T) {
	var b strings.Builder
	if err := writeTable(&b, shownRows, shownOutcomes); err != nil {
		t.Fatal(err)
	}
	want := `| work | anchor | gvw | anchor | ratio | quartiles | CPU ratio | goal | limit | met |
|---|---|--:|--:|--:|--:|--:|--:|--:|---|
| text | vw 9 | 2 s | 4 s | **0.5** | 0.375 to 0.625 | 0.25 | 0.33 | 0.18 | no |
| start | hello | 12 ms | 2 ms | **6** | 6 to 6 |  | 10 ms |  | no |
| optimum | liblinear | not measured: no Python | | | | | 0.2 |  | |
| join | none | 3000 s |  | **2000** | 2000 to 2000 |  | 1.5 s |  | no, slow |

- start: two cores
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

// The figure has the quartiles, the medians and the marks of the measured rows, and names the others.
func TestFigure(t *testing.T) {
	f := figureOf(shownRows, shownOutcomes, "2 CPUs")
	want := []figure.Line{
		{Name: "quartiles", Points: []figure.Point{{X: 0.375, Y: 0}, {X: 0.625, Y: 0}, {X: 6, Y: 1}, {X: 6, Y: 1}, {X: 2000, Y: 2}, {X: 2000, Y: 2}}},
		{Name: "median", Points: []figure.Point{{X: 0.5, Y: 0}, {X: 6, Y: 1}, {X: 2000, Y: 2}}},
		{Name: "median of CPU time", Points: []figure.Point{{X: 0.25, Y: 0}}},
		{Name: "goal", Points: []figure.Point{{X: 0.33, Y: 0}, {X: 5, Y: 1}, {X: 1, Y: 2}}},
		{Name: "limit", Points: []figure.Point{{X: 0.18, Y: 0}}},
	}
	if d := cmp.Diff(want, f.Lines); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"text", "start", "join"}, f.Rows); d != "" {
		t.Error(d)
	}
	if !strings.Contains(f.Notes, "not measured: optimum (no Python)") || strings.Contains(f.Notes, "\n") {
		t.Errorf("the notes are %q", f.Notes)
	}
	dir := t.TempDir()
	if err := errors.Join(f.Write(dir, "go run ./bench/compare"), figure.Index(dir)); err != nil {
		t.Fatal(err)
	}
	lines, err := figure.ReadLines(filepath.Join(dir, "compare.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("the file: %s", d)
	}
}
