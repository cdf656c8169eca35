// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	fig "github.com/gvw-project/gvw/bench/internal/figure"
	"github.com/gvw-project/gvw/bench/internal/task"
	"github.com/gvw-project/gvw/internal/timeline"
)

// smallProblem is a part of a drawn task.
func smallProblem() *problem {
	t := task.Dense()
	t.Examples, t.Lambda = t.Examples[:800], 1e-2
	return &problem{Task: t, about: "drawn"}
}

// The search finds a rate with which both ways reach a goal, and SendModel needs fewer rounds.
func TestSearch(t *testing.T) {
	p := smallProblem()
	const goal = 0.665
	gradient, err := p.search(goal, []float64{0.01, 0.1, 1}, []float64{0, 0.5}, 0.5, 200)
	if err != nil {
		t.Fatal(err)
	}
	average, err := p.search(goal, []float64{0.1, 1}, []float64{0.5}, 0, 8)
	if err != nil {
		t.Fatal(err)
	}
	if gradient.rounds == 0 || average.rounds == 0 || average.rounds >= gradient.rounds || gradient.tried != 6 {
		t.Errorf("SendGradient: %v, %d rounds of %d settings; SendModel: %v, %d rounds", gradient, gradient.rounds, gradient.tried, average, average.rounds)
	}
}

// The objective of weights 0 is log 2, and that of others has the regularisation.
func TestObjective(t *testing.T) {
	p := smallProblem()
	w := make([]float32, p.Size)
	if got := p.objective(w); math.Abs(got-math.Ln2) > 1e-12 {
		t.Errorf("got %g, want log 2", got)
	}
	p.Examples = p.Examples[:8]
	for i := range p.Examples {
		p.Examples[i].Features = nil
	}
	w[0], w[1] = 3, 4
	if got, want := p.objective(w), math.Ln2+p.Lambda/2*25; math.Abs(got-want) > 1e-12 {
		t.Errorf("got %g, want %g", got, want)
	}
}

// Only rank 0 has the options of files that one rank writes, and each has its rank in names.
func TestRankArgs(t *testing.T) {
	args := []string{"-d", "x", "--cache_file", "c.{rank}", "-f", "m", "--save_per_pass", "--log_json", "l", "--passes", "3"}
	if d := cmp.Diff("-d x --cache_file c.0 -f m --save_per_pass --log_json l --passes 3", strings.Join(rankArgs(args, 0), " ")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff("-d x --cache_file c.2 --passes 3", strings.Join(rankArgs(args, 2), " ")); d != "" {
		t.Error(d)
	}
}

// A batch of all examples is not a batch of one.
func TestBatchOption(t *testing.T) {
	if got := batchOption(1) + " " + batchOption(0.1); got != "all 0.1" {
		t.Errorf("got %q, want all 0.1", got)
	}
}

// The trace of a batch solver has requests and objectives, and the times are those of the passes.
func TestTrace(t *testing.T) {
	o := outcome{seconds: []float64{0, 1, 2, 3, 4}, text: "## avg. loss \n 1 0.69315   \t0.4\n 3 0.49209   \t0.03\n 4 0.44039   \t0.02\nINFO passes=3\n"}
	p := smallProblem()
	for name, want := range map[string][]moment{
		"L-BFGS": {{0, 0, 0.69315}, {2, 2, 0.49209}, {3, 3, 0.44039}},
		"hybrid": {{1, 1, 0.69315}, {3, 3, 0.49209}, {4, 4, 0.44039}},
		"GIANT":  {{1, 1, 0.69315}, {3, 2, 0.49209}, {5, 3, 0.44039}},
	} {
		if d := cmp.Diff(want, p.batchCurve(name, o).points, cmp.AllowUnexported(moment{})); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}

// The table has the first points near the optimum of all data sets.
func TestRoundsTable(t *testing.T) {
	dir := t.TempDir()
	for name, points := range map[string][]point{"a": {{X: 1, Y: 0.5}, {X: 4, Y: 0.009}, {X: 9, Y: 0.001}}, "b": {{X: 1, Y: 0.5}}} {
		f := figure{Name: roundsPrefix + name, Lines: []line{{Name: "S", Points: points}, {Name: "T", Points: []point{{X: 2, Y: 0.001}}}}}
		if err := f.Write(dir, "c"); err != nil {
			t.Fatal(err)
		}
	}
	if err := roundsTable(dir); err != nil {
		t.Fatal(err)
	}
	if err := fig.Index(dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "| | S | T |\n|---|--:|--:|\n| a | 4 | 2 |\n| b | not reached | 2 |\n"
	if !strings.Contains(string(page), want) {
		t.Errorf("the page lacks\n%s\nit is\n%s", want, page)
	}
}

// The committed page is made from the committed tables.
func TestCommittedPage(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(committed)); err != nil {
		t.Fatal(err)
	}
	if err := roundsTable(dir); err != nil {
		t.Fatal(err)
	}
	if err := fig.Index(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", roundsName + ".csv"} {
		if _, err := os.Stat(filepath.Join(dir, name)); name != "README.md" && err != nil {
			continue // no data set is measured
		}
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(committed, name))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}

// A rank waits where it is in a collective and moves nothing, and updates where it is in an exchange and in no
// collective.
func TestGantt(t *testing.T) {
	span := func(rank int, row timeline.Row, name string, from, to int64) timeline.Span {
		return timeline.Span{Name: name, Rank: rank, Row: row, Began: from, Took: to - from}
	}
	var all [ranks][]timeline.Span
	all[0] = []timeline.Span{
		span(0, timeline.Steps, "work", 0, 1000), span(0, timeline.Collectives, "c", 1000, 3000), span(0, timeline.Sends, "1", 1000, 1500),
		span(0, timeline.Receives, "1", 1400, 2000), span(0, timeline.Steps, "exchange", 1000, 4000), span(0, timeline.Steps, "work", 4000, 5000),
	}
	var f figure
	gantt(&f, all, 0, 1)
	want := []line{
		{Name: "computes", Points: []point{{X: 0, Y: 0}, {X: 1, Y: 0}}},
		{Name: "updates", Points: []point{{X: 3, Y: 0}, {X: 4, Y: 0}}},
		{Name: "communicates", Points: []point{{X: 1, Y: 0}, {X: 2, Y: 0}}},
		{Name: "waits", Points: []point{{X: 2, Y: 0}, {X: 3, Y: 0}}},
	}
	if d := cmp.Diff(want, f.Lines); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
