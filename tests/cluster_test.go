// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// shards deals the lines of a file of the data sets to n files, as the recorded
// cluster runs have them: line i (from 1) goes to file (i-1) mod n.
func shards(t *testing.T, dir, path string, n int) []string {
	t.Helper()
	parts := make([]bytes.Buffer, n)
	i := 0
	for line := range strings.Lines(readFile(t, path)) {
		parts[i%n].WriteString(line)
		i++
	}
	names := make([]string, n)
	for k := range parts {
		names[k] = filepath.Join(dir, fmt.Sprintf("part.%d", k))
		if err := os.WriteFile(names[k], parts[k].Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// clusterArgs returns the options that make rank i one of n.
func clusterArgs(port string, id, i, n int) []string {
	return []string{
		"--span_server", "127.0.0.1", "--span_server_port", port,
		"--unique_id", strconv.Itoa(id), "--total", strconv.Itoa(n), "--node", strconv.Itoa(i),
	}
}

// cluster runs one gvw per part through the server and returns their results. Rank i reads part
// i and writes model.i, readable.i.
func cluster(t *testing.T, dir, port string, id int, parts []string, options ...string) []result {
	t.Helper()
	ps := make([]*process, len(parts))
	for i, part := range parts {
		args := append(clusterArgs(port, id, i, len(parts)), "-d", part, "-f", fmt.Sprintf("model.%d", i),
			"--readable_model", fmt.Sprintf("readable.%d", i), "-k", "--cache_file", fmt.Sprintf("cache.%d", i))
		ps[i] = start(t, dir, gvwBin, append(args, options...)...)
	}
	rs := make([]result, len(ps))
	for i, p := range ps {
		rs[i] = p.wait()
	}
	for i, r := range rs {
		if r.code != 0 {
			t.Fatalf("rank %d: exit code %d\n%s", i, r.code, tail(r.stderr, 30))
		}
	}
	return rs
}

// sameModels checks that all ranks wrote the same bytes, and returns them.
func sameModels(t *testing.T, dir string, n int) []byte {
	t.Helper()
	var first []byte
	for i := range n {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("model.%d", i)))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = b
		} else if !bytes.Equal(b, first) {
			t.Errorf("the models of ranks 0 and %d differ", i)
		}
	}
	return first
}

// TestClusterGolden trains on four ranks what vw trained on four ranks, twice:
// weights and losses agree with vw's, and the eight models are the same bytes.
func TestClusterGolden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, set, options string }{
		{"sgd_default", "a9a", "--passes 3 --loss_function logistic --holdout_off --predict_only_model"},
		{"sgd_plain", "a9a", "--passes 2 --sgd -l 0.05 --loss_function logistic --holdout_off --predict_only_model"},
		{"sgd_adaptive", "rcv1-mini", "--passes 4 --adaptive --loss_function logistic --holdout_off --predict_only_model"},
		{"bfgs", "a9a", "--bfgs --mem 10 --l2 1 --passes 20 --loss_function logistic --holdout_off"},
		{"cg", "a9a", "--bfgs --mem 0 --l2 1 --passes 15 --loss_function logistic --holdout_off"},
		{"hybrid", "rcv1-mini", "--hybrid 2:20 --mem 5 --l2 0.1 --loss_function logistic"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := readFile(t, shared(t, "golden", "cluster", c.name+".rm"))
			stderr := readFile(t, shared(t, "golden", "cluster", c.name+".stderr"))
			port := startServer(t)
			dir := t.TempDir()
			parts := shards(t, dir, shared(t, "data", c.set, "train.vw.gz"), 4)

			rs := cluster(t, dir, port, 7, parts, strings.Fields(c.options)...)
			model := sameModels(t, dir, 4)
			compareLarge(t, readFile(t, filepath.Join(dir, "readable.0")), want)
			if strings.Contains(c.options, "bfgs") || strings.Contains(c.options, "hybrid") {
				compareLosses(t, rs[0].stderr, stderr)
			} else {
				compareTable(t, rs[0].stderr, stderr)
			}

			cluster(t, dir, port, 7, parts, strings.Fields(c.options)...)
			if !bytes.Equal(sameModels(t, dir, 4), model) {
				t.Error("a second run made another model")
			}

			pred := filepath.Join(dir, "test.pred")
			gvw(t, dir, "-d", shared(t, "data", c.set, "test.vw.gz"), "-t", "-i", "model.0", "-p", pred, "--quiet")
			comparePredictionsTo(t, readFile(t, pred), readFile(t, shared(t, "golden", "cluster", c.name+".test.pred")), 2e-3)
		})
	}
}

// compareLarge compares cluster runs within 1e-3, relative, on weights above 1e-3: vw adds in
// the order of arrival.
func compareLarge(t *testing.T, got, want string) {
	t.Helper()
	g := weights(t, got)
	faults := 0
	for i, w := range weights(t, want) {
		if math.Abs(w) > 1e-3 && math.Abs(g[i]-w) > 1e-3*math.Abs(w) {
			if faults++; faults <= 5 {
				t.Errorf("weight %d: got %v, want %v", i, g[i], w)
			}
		}
	}
	if faults > 5 {
		t.Errorf("%d weights differ", faults)
	}
}

// compareLosses compares the losses of a trace, within 1e-4.
func compareLosses(t *testing.T, got, want string) {
	t.Helper()
	g, w := traceRows(got), traceRows(want)
	if len(g) != len(w) {
		t.Errorf("trace: got %d rows, want %d\n%s", len(g), len(w), got)
		return
	}
	for i := range w {
		a, b := strings.Fields(g[i]), strings.Fields(w[i])
		x, err1 := strconv.ParseFloat(a[1], 64)
		y, err2 := strconv.ParseFloat(b[1], 64)
		if err1 != nil || err2 != nil || a[0] != b[0] || math.Abs(x-y) > 1e-4 {
			t.Errorf("trace:\ngot  %q\nwant %q", g[i], w[i])
		}
	}
}

func comparePredictionsTo(t *testing.T, got, want string, tol float64) {
	t.Helper()
	g, w := numbers(t, got), numbers(t, want)
	if len(g) != len(w) {
		t.Errorf("got %d predictions, want %d", len(g), len(w))
		return
	}
	for i := range w {
		if !near(g[i], w[i], tol) {
			t.Errorf("prediction %d: got %v, want %v", i+1, g[i], w[i])
			return
		}
	}
}
