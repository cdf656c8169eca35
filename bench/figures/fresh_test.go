// SPDX-License-Identifier: Apache-2.0

package main

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	fig "github.com/gvw-project/gvw/bench/internal/figure"
	"github.com/gvw-project/gvw/internal/simulate"
	"github.com/gvw-project/gvw/internal/simulate/straggler"
)

// committed is the directory of the committed figures.
const committed = "../../docs/figures"

// Each committed table has a picture and a header that names the command, the commit, the machine and the date. The figures of
// a cluster's speed also have a description.
func TestCommittedHeaders(t *testing.T) {
	tables, err := filepath.Glob(filepath.Join(committed, "*.csv"))
	if err != nil || len(tables) < 20 {
		t.Fatalf("got %d tables: %v", len(tables), err)
	}
	described := []string{"compare", "speedup", "effective-passes", "quantiles", "prc-splice", "prc-generated"}
	for _, table := range tables {
		name := strings.TrimSuffix(filepath.Base(table), ".csv")
		text, err := os.ReadFile(table)
		if err != nil {
			t.Error(err)
			continue
		}
		h := fig.Header(string(text))
		want := map[string]string{
			"command": "^go run ./bench/figures -only ", "title": ".", "notes": ".", "commit": "^[0-9a-f]{7,40}$",
			"machine": "^[a-z]+/[a-z0-9]+, [0-9]+ processors", "date": `^\d{4}-\d\d-\d\d$`,
		}
		if name == "compare" {
			want["command"] = "^go run ./bench/compare "
		}
		if slices.Contains(described, name) {
			want["seed"], want["alt"], want["shows"] = ".", ".", "."
		}
		for key, want := range want {
			if !regexp.MustCompile(want).MatchString(h[key]) {
				t.Errorf("%s: %s: got %q, want %s", name, key, h[key], want)
			}
		}
		svg, err := os.ReadFile(filepath.Join(committed, name+".svg"))
		if err != nil || !strings.Contains(string(svg), html.EscapeString(h["title"])) {
			t.Errorf("%s.svg: %v, want a picture with the title of the table", name, err)
		}
		if name == "compare" {
			continue
		}
		command, _, _ := strings.Cut(strings.TrimPrefix(h["command"], "go run ./bench/figures -only "), " ")
		if !slices.ContainsFunc(experiments, func(e experiment) bool { return strings.HasPrefix(e.name, command) }) {
			t.Errorf("%s: no experiment has the command %q", name, h["command"])
		}
	}
}

// committedPoint returns the value of a series of a committed figure.
func committedPoint(t *testing.T, name, series string, x float64) float64 {
	t.Helper()
	lines, err := fig.ReadLines(filepath.Join(committed, name+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		for _, p := range l.Points {
			if l.Name == series && p.X == x {
				return p.Y
			}
		}
	}
	t.Fatalf("%s.csv has no point of %q at %g", name, series, x)
	return 0
}

// The committed figures have the values that the simulation has today. Only small ones are computed again.
func TestCommittedSimulations(t *testing.T) {
	rounded := func(x float64) float64 {
		dir := t.TempDir()
		f := figure{Name: "f", Lines: []line{{Name: "s", Points: []point{{X: x, Y: 0}}}}}
		if err := f.Write(dir, "c"); err != nil {
			t.Fatal(err)
		}
		lines, err := fig.ReadLines(filepath.Join(dir, "f.csv"))
		if err != nil {
			t.Fatal(err)
		}
		return lines[0].Points[0].X
	}
	for name, table := range map[string]straggler.Table{"simulated, large job": nil, "simulated, large job, unequal hosts": straggler.Published} {
		y, err := simulatedSpeedUp(8, largeWork, 64<<20, simulate.Usual, table, 0)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(rounded(y), committedPoint(t, "speedup", name, 8)); d != "" {
			t.Errorf("speedup.csv, %s: make figures ONLY=speedup: -want +got:\n%s", name, d)
		}
	}
	r, err := simulate.AllReduce(simulatedConfig(10, 1, false))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(rounded(r.Time.Seconds()), committedPoint(t, "simulated-allreduce", "gvw, 1 Gbit/s", 10)); d != "" {
		t.Errorf("simulated-allreduce.csv: make figures ONLY=simulated-allreduce: -want +got:\n%s", d)
	}
	goal := committedPoint(t, "simulated-allreduce", "gvw, 1 Gbit/s", 1000)
	if goal > 1.3 {
		t.Errorf("64 MiB over 1,000 ranks at 1 Gbit/s: got %g s, want at most 1.3", goal)
	}
	f := figure{}
	if err := simulateQuantiles(&f); err != nil {
		t.Fatal(err)
	}
	lines, err := fig.ReadLines(filepath.Join(committed, "quantiles.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines = slices.DeleteFunc(lines, func(l line) bool { return !strings.HasPrefix(l.Name, "simulated") })
	if d := cmp.Diff(f.Lines, lines); d != "" {
		t.Errorf("quantiles.csv: make figures ONLY=quantiles: -want +got:\n%s", d)
	}
}

// The table of bench/speculation is read, and another text is refused.
func TestSpeculationTable(t *testing.T) {
	const text = `    time of a pass, s    5 %   50 %   75 %   95 %    max  communication  all passes
  without duplicates  0.071  0.083  0.090  0.758  0.862          0.018       6.645
     with duplicates  0.064  0.077  0.080  0.091  0.860          0.019       3.289
`
	got, err := speculationTable(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([2][]float64{{0.083, 0.090, 0.758, 0.862}, {0.077, 0.080, 0.091, 0.860}}, got); d != "" {
		t.Error(d)
	}
	if _, err := speculationTable("with duplicates 1 2 3 4 5 6\n"); err == nil {
		t.Error("one row is accepted")
	}
}

// Drawn windows are the same each time; about one in eleven is a site, and sites differ from decoys.
func TestDrawnWindows(t *testing.T) {
	a, err := drawnWindows("")
	if err != nil {
		t.Fatal(err)
	}
	b, err := drawnWindows("")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(a.train[:5], b.train[:5]); d != "" {
		t.Error(d)
	}
	sites, counts := 0, [2]map[byte]int{{}, {}}
	for _, l := range a.train {
		is := 0
		if strings.HasPrefix(l, "1 ") {
			is = 1
			sites++
		}
		_, rest, _ := strings.Cut(l, " 21")
		counts[is][rest[0]]++
	}
	if share := float64(sites) / float64(len(a.train)); share < 0.085 || share > 0.097 {
		t.Errorf("a share of %g are sites, want about 1/11", share)
	}
	far := 0.0
	for _, base := range []byte("ACGT") {
		far = max(far, float64(counts[1][base])/float64(sites)-0.25)
		if share := float64(counts[0][base]) / float64(len(a.train)-sites); share < 0.24 || share > 0.26 {
			t.Errorf("decoys have base %c with a share of %g, want a quarter", base, share)
		}
	}
	if far < 0.02 {
		t.Errorf("the bases of sites differ from a quarter by %g, want more", far)
	}
}
