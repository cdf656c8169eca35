// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/bench/internal/figure"
)

const committed = "../../docs/figures/compare.csv"

// Names of rows are different, and can be told apart in the header of a figure.
func TestNamesOfRows(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range table() {
		for _, r := range g.rows {
			if seen[r.name] || strings.ContainsAny(r.name, "|;(") || r.unit == "" || r.anchor == "" {
				t.Errorf("row %+v: its name is taken or has a separator, or it lacks an anchor or a unit", r)
			}
			seen[r.name] = true
		}
	}
}

// The committed figure has each row of the table with its goal, or says why the row was not measured.
func TestCommittedFigure(t *testing.T) {
	text, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	h := figure.Header(string(text))
	lines, err := figure.ReadLines(filepath.Clean(committed))
	if err != nil {
		t.Fatal(err)
	}
	goals := map[float64]float64{}
	for _, l := range lines {
		for _, p := range l.Points {
			if l.Name == "goal" {
				goals[p.Y] = p.X
			}
		}
	}
	measured := strings.Split(h["rows"], "|")
	_, others, _ := strings.Cut(h["notes"], "; not measured: ")
	for _, g := range table() {
		for _, r := range g.rows {
			i := slices.Index(measured, r.name)
			switch {
			case i < 0 && !strings.Contains(others, r.name+" ("):
				t.Errorf("%s has no row %q: make bench-compare", committed, r.name)
			case i >= 0 && r.goal.value > 0 && !r.goal.absolute && goals[float64(i)] != r.goal.value:
				t.Errorf("%s: %q has the goal %g, want %g: make bench-compare", committed, r.name, goals[float64(i)], r.goal.value)
			}
		}
	}
}
