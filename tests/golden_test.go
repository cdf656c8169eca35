// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The bar of the recorded outputs: predictions and weights within 1e-4,
// columns of tables and traces within 1e-3 (wolfe1, a difference of nearly
// equal sums, 2e-3).
const (
	tolWeight = 1e-4
	tolTable  = 1e-3
	tolWolfe1 = 2e-3
)

// TestGolden trains and tests every recorded option set of vw 9.11.2 (SGD and L-BFGS) and of vw
// 7.10 (L-BFGS), and compares all output files.
func TestGolden(t *testing.T) {
	t.Parallel()
	cases := 0
	for line := range strings.Lines(readFile(t, "testdata/golden/INDEX.tsv")) {
		col := strings.Split(strings.TrimRight(line, "\n"), "\t")
		name, version, input, options := col[0], col[1], col[2], strings.Fields(col[3])
		if _, err := os.Stat(goldenPath(name, "stderr")); err != nil {
			continue // recorded for options that gvw does not have yet
		}
		cases++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if slices.Contains(options, "--bfgs") || slices.Contains(options, "--conjugate_gradient") {
				if version != "vw-7.10" {
					options = append(options, "--bfgs_semantics", "vw9")
				}
				golden(t, name, input, options, true)
				return
			}
			golden(t, name, input, options, false)
		})
	}
	if cases < 15 {
		t.Errorf("got %d recorded cases, want at least 15: is testdata whole?", cases)
	}
}

func goldenPath(name, kind string) string {
	return filepath.Join("testdata", "golden", name+"."+kind+".gz")
}

func golden(t *testing.T, name, input string, options []string, trace bool) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, input), readFile(t, filepath.Join("testdata", "golden", input+".gz")))
	train := append([]string{"-d", input, "-f", "m", "--readable_model", "rm", "-p", "train.pred", "--predict_only_model"}, options...)
	got := gvw(t, dir, train...)
	gvw(t, dir, "-d", input, "-t", "-i", "m", "-p", "test.pred", "--quiet")

	comparePredictions(t, "train.pred", readFile(t, filepath.Join(dir, "train.pred")), readFile(t, goldenPath(name, "train.pred")))
	if want := readFile(t, goldenPath(name, "test.pred")); want != "" { // vw 9 cannot load all models that it writes
		comparePredictions(t, "test.pred", readFile(t, filepath.Join(dir, "test.pred")), want)
	}
	if _, err := os.Stat(goldenPath(name, "rm")); err == nil {
		compareWeights(t, readFile(t, filepath.Join(dir, "rm")), readFile(t, goldenPath(name, "rm")))
	}
	want := readFile(t, goldenPath(name, "stderr"))
	if trace {
		compareTrace(t, got.stderr, want)
	} else {
		compareTable(t, got.stderr, want)
	}
}

// comparePredictions compares numbers within the bar, and tags to the letter.
func comparePredictions(t *testing.T, what, got, want string) {
	t.Helper()
	comparePredictionsTo(t, got, want, tolWeight)
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(gotLines), len(wantLines)) {
		_, gotTag, _ := strings.Cut(gotLines[i], " ")
		_, wantTag, _ := strings.Cut(wantLines[i], " ")
		if gotTag != wantTag {
			t.Errorf("%s: line %d: got tag %q, want %q", what, i+1, gotTag, wantTag)
			return
		}
	}
}

// compareWeights compares index by index; a weight that one side lacks is 0.
func compareWeights(t *testing.T, got, want string) {
	t.Helper()
	g, w := weights(t, got), weights(t, want)
	indices := make([]uint32, 0, len(w))
	for i := range w {
		indices = append(indices, i)
	}
	for i := range g {
		if _, ok := w[i]; !ok {
			indices = append(indices, i)
		}
	}
	slices.Sort(indices)
	faults := 0
	for _, i := range indices {
		if !near(g[i], w[i], tolWeight) {
			if faults++; faults <= 5 {
				t.Errorf("weight %d: got %v, want %v", i, g[i], w[i])
			}
		}
	}
	if faults > 5 {
		t.Errorf("%d of %d weights differ", faults, len(indices))
	}
}

// compareTable compares vw's progress table and summary, column by column.
func compareTable(t *testing.T, got, want string) {
	t.Helper()
	g, w := tableLines(got), tableLines(want)
	if len(g) != len(w) {
		t.Errorf("table and summary: got %d lines, want %d\n%s", len(g), len(w), got)
		return
	}
	for i := range w {
		compareLine(t, g[i], w[i], func(int) float64 { return tolTable })
	}
}

// tableLines returns the rows of the table and the lines of the summary, without vw's lines
// about the cluster between them.
func tableLines(text string) []string {
	_, after, ok := strings.Cut(text, "predict features\n")
	if !ok {
		return nil
	}
	var lines []string
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(line)
		first, _, _ := strings.Cut(line, " ")
		_, err := strconv.ParseFloat(first, 64)
		if err == nil || first == "n.a." || first != "[info]" && strings.Contains(line, " = ") {
			lines = append(lines, line)
		}
	}
	return lines
}

func compareLine(t *testing.T, got, want string, tol func(column int) float64) {
	t.Helper()
	g, w := strings.Fields(got), strings.Fields(want)
	if len(g) != len(w) {
		t.Errorf("got  %q\nwant %q", got, want)
		return
	}
	for c := range w {
		x, err := strconv.ParseFloat(w[c], 64)
		if err != nil || math.IsNaN(x) {
			if g[c] != w[c] {
				t.Errorf("column %d:\ngot  %q\nwant %q", c, got, want)
			}
			continue
		}
		y, err := strconv.ParseFloat(g[c], 64)
		if err != nil || !near(y, x, tol(c)) {
			t.Errorf("column %d:\ngot  %q\nwant %q", c, got, want)
		}
	}
}

// compareTrace compares the rows of the L-BFGS trace, and the average loss, the only line of vw
// 7.10's summary that kept its wording.
func compareTrace(t *testing.T, got, want string) {
	t.Helper()
	g, w := traceRows(got), traceRows(want)
	if len(g) != len(w) {
		t.Errorf("trace: got %d rows, want %d\n%s", len(g), len(w), got)
		return
	}
	for i := range w {
		compareLine(t, g[i], w[i], func(c int) float64 {
			if c == 4 && i > 0 {
				return tolWolfe1
			}
			return tolTable
		})
	}
	compareLine(t, lineWith(got, "average loss"), lineWith(want, "average loss"), func(int) float64 { return tolTable })
}

// traceRows returns the numbered rows of the trace, with tabs replaced by blanks.
func traceRows(text string) []string {
	var rows []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "\t") || strings.HasPrefix(line, "##") {
			continue
		}
		rows = append(rows, strings.ReplaceAll(strings.TrimSpace(line), "\t", " "))
	}
	return rows
}

func lineWith(text, prefix string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
