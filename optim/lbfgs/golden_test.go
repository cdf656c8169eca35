// SPDX-License-Identifier: Apache-2.0

package lbfgs

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/optimtest"
)

const goldenBits = 18

// goldenRun is a run of vw 7.10 whose trace and weights are kept.
type goldenRun struct {
	name   string
	data   string
	loss   optimtest.LossFunc
	clip   bool // predictions are clipped to the labels' range, not to ±50
	cfg    Config
	status optim.Status
}

var goldenRuns = []goldenRun{
	{"bfgs710_l2", "s1000.vw.gz", optimtest.Logistic, false, Config{Mem: 15, Penalty: descent.Penalty{L2: 1}, Termination: 0.001, MaxPasses: 15}, optim.Converged},
	{"bfgs710_nol2", "s1000.vw.gz", optimtest.Logistic, false, Config{Mem: 15, Termination: 0.001, MaxPasses: 10}, optim.PassLimit},
	{"bfgs710_sq", "reg500.vw", optimtest.Squared, true, Config{Mem: 15, Penalty: descent.Penalty{L2: 0.1}, Termination: 0.001, MaxPasses: 15}, optim.Converged},
	// Four ranks of vw: one process with all shards must give the same trace.
	{"cluster/bfgs", "data/a9a/train.vw.gz", optimtest.Logistic, false, Config{Mem: 10, Penalty: descent.Penalty{L2: 1}, Termination: 0.001, MaxPasses: 20}, optim.Converged},
}

// TestGoldenTraces compares pass after pass and the final weights with what
// vw 7.10 printed and saved.
func TestGoldenTraces(t *testing.T) {
	for _, g := range goldenRuns {
		t.Run(g.name, func(t *testing.T) {
			points := readPoints(t, g.data, goldenBits)
			lo, hi := -50.0, 50.0
			if g.clip {
				lo, hi = optimtest.LabelRange(points)
			}
			s, err := New(g.cfg, make([]float32, 1<<goldenBits))
			if err != nil {
				t.Fatal(err)
			}
			trace := optim.AppendHeader(nil)
			rec := optim.RecorderFunc(func(r optim.Row) { trace = optim.AppendRow(trace, r) })
			res, err := optim.Minimize(context.Background(), optimtest.Objective(points, g.loss, lo, hi), s, rec)
			if err != nil {
				t.Fatal(err)
			}
			if res.Status != g.status {
				t.Errorf("status %v, want %v", res.Status, g.status)
			}
			compareTrace(t, trace, readTrace(t, g.name))
			compareWeights(t, s.Weights(), goldenWeights(t, g.name))
		})
	}
}

// readTrace returns the heading and the rows of a golden run.
func readTrace(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".stderr"))
	if err != nil {
		text = shared(t, filepath.Join("golden", name+".stderr"))
	}
	var out []byte
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("##")) || bytes.Count(line, []byte("\t")) == 8 {
			out = append(append(out, bytes.TrimRight(line, " \n")...), '\n') // vw 9 does not pad the last column
		}
	}
	return out
}

// compareTrace requires equal text except for numbers, which must be equal within one unit of
// the last printed digit or 1e-5, relative. wolfe1, a difference of nearly equal sums, may
// differ by 2e-3, and wolfe2, where the gradient is nearly normal to the direction, by 1e-4:
// 7.10 adds its gradient in float32.
func compareTrace(t *testing.T, got, want []byte) {
	t.Helper()
	gotLines, wantLines := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	if len(gotLines) != len(wantLines) {
		t.Fatalf("got %d lines, want %d:\n%s\nwant:\n%s", len(gotLines), len(wantLines), got, want)
	}
	for i, w := range wantLines {
		gotCells, wantCells := strings.Split(gotLines[i], "\t"), strings.Split(w, "\t")
		if len(gotCells) != len(wantCells) {
			t.Errorf("line %d: got %q, want %q", i+1, gotLines[i], w)
			continue
		}
		for j, wc := range wantCells {
			gc := gotCells[j]
			if gc == wc {
				continue
			}
			gf, wf := strings.Fields(gc), strings.Fields(wc)
			if len(gc) != len(wc) || len(gf) != len(wf) || len(wf) == 0 {
				t.Errorf("line %d cell %d: got %q, want %q", i+1, j+1, gc, wc)
				continue
			}
			for k := range wf {
				gv, err1 := strconv.ParseFloat(gf[k], 64)
				wv, err2 := strconv.ParseFloat(wf[k], 64)
				point := strings.IndexByte(wf[k], '.')
				unit := math.Pow(10, float64(point+1-len(wf[k])))
				bar := max(1.01*unit, 1e-5*math.Abs(wv))
				switch j {
				case 3:
					bar = 2e-3
				case 4:
					bar = 1e-4
				}
				if err1 != nil || err2 != nil || !(math.Abs(gv-wv) <= bar) {
					t.Errorf("line %d cell %d: got %q, want %q", i+1, j+1, gc, wc)
				}
			}
		}
	}
	t.Logf("trace:\n%s", got)
}

// goldenWeights reads NAME.rm from testdata, or from the shared folder where
// it is too large to copy.
func goldenWeights(t *testing.T, name string) map[int]float64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".rm"))
	if err != nil {
		if !strings.Contains(name, "/") {
			name = "vw/" + name
		}
		text = shared(t, filepath.Join("golden", name+".rm"))
	}
	weights := make(map[int]float64)
	_, body, _ := strings.Cut(string(text), "\n:0\n")
	for line := range strings.Lines(body) {
		a, b, _ := strings.Cut(strings.TrimSpace(line), ":")
		i, err1 := strconv.Atoi(a)
		w, err2 := strconv.ParseFloat(b, 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("%s.rm: %q", name, line)
		}
		weights[i] = w
	}
	if len(weights) == 0 {
		t.Fatalf("%s.rm holds no weights", name)
	}
	return weights
}

// shared reads a file of the folder of reference data beside the repository,
// or skips the test.
func shared(t testing.TB, name string) []byte {
	t.Helper()
	root := os.Getenv("GVW_SHARED")
	for dir := ".."; root == "" && len(dir) < 20; dir = filepath.Join("..", dir) {
		if st, err := os.Stat(filepath.Join(dir, "shared", "golden")); err == nil && st.IsDir() {
			root = filepath.Join(dir, "shared")
		}
	}
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		if os.Getenv("REQUIRE_SHARED") == "1" {
			t.Fatalf("reference data missing: %v", err)
		}
		t.Skipf("no reference data, so not all is compared: %v", err)
	}
	return text
}

func compareWeights(t *testing.T, got []float32, want map[int]float64) {
	t.Helper()
	var worst float64
	bad := 0
	for i, g := range got {
		w := want[i]
		off := math.Abs(float64(g)-w) / max(1, math.Abs(w))
		worst = max(worst, off)
		if !(off <= 1e-4) {
			if bad++; bad <= 5 {
				t.Errorf("weight %d: got %v, want %v", i, g, w)
			}
		}
	}
	t.Logf("%d weights, worst difference %.2g, %d over the bar", len(want), worst, bad)
}
