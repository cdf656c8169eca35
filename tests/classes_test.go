// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/sampled"
)

// TestClassesAsVW compares one against all with the real vw: what is predicted
// while learning, the model's scores read by both programs, table and summary.
func TestClassesAsVW(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	for _, options := range sampled.Short(t, []string{
		"--oaa 5",
		"--oaa 5 --loss_function logistic",
		"--oaa 5 --loss_function logistic --probabilities",
		"--oaa 5 --scores",
		"--oaa 5 -r RAW",
		"--oaa 5 --indexing 1 -b 9 -q ab",
		"--oaa 5 --sgd -l 0.02 --loss_function hinge -r RAW",
		"--oaa 5 --adaptive -l 0.3 --power_t 0.4",
		"--oaa 5 --normalized --invariant -l 0.3",
		"--oaa 5 --l1 0.00001 --l2 0.00001 -r RAW",
		"--oaa 5 --random_weights --random_seed 5 -b 12",
		"--oaa 5 --initial_t 1 --random_weights --random_seed 3 -b 12",
		"--oaa 5 --initial_t 2 --normalized --initial_weight 0.3 -b 12",
		"--oaa 5 --passes 3 -k --cache_file CACHE",
		"--oaa 5 --passes 3 -k --cache_file CACHE --holdout_off --loss_function logistic --predict_only_model",
		"--oaa 5 --oaa_subsample 2 --random_seed 3",
		"--oaa 5 --oaa_subsample 3 --loss_function logistic",
		"--oaa 5 --oaa_subsample 1 --sgd -l 0.02",
		"--oaa 7 --noconstant", // more than there are labels
		"--oaa 5 --ftrl --l1 0.1 -r RAW",
		"--oaa 5 --pistol --loss_function logistic --probabilities",
		"--oaa 5 --freegrad --project --restart",
		"--oaa 5 --coin --passes 3 -k --cache_file CACHE",
		"--oaa 5 --coin --oaa_subsample 2 --random_seed 3 --random_weights",
	}, 0, 4) {
		t.Run(options, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			classData(t, dir, 5)
			subsample := strings.Contains(options, "subsample") // vw counts its examples as unlabeled
			with := func(what string) []string {
				own := strings.NewReplacer("CACHE", what+".cache", "RAW", what+".raw").Replace(options)
				return append(strings.Fields("-d five.vw -f "+what+" -p "+what+".p"), strings.Fields(own)...)
			}
			read := func(name string) string { return readFile(t, filepath.Join(dir, name)) }
			got := gvw(t, dir, with("ours")...)
			want := realRun(t, dir, vw, with("theirs")...)
			compareScores(t, read("ours.p"), read("theirs.p"))
			if strings.Contains(options, "RAW") {
				compareScores(t, read("ours.raw"), read("theirs.raw"))
			}
			if !subsample {
				compareTable(t, got.stderr, want.stderr)
			}
			test := func(model, out string, run func(args ...string)) string {
				args := strings.Fields("-t --quiet --scores -d five.vw -i " + model + " -p " + out)
				if strings.Contains(options, "logistic") {
					args = append(args, "--loss_function", "logistic")
				}
				run(args...)
				return read(out)
			}
			ours := func(args ...string) { gvw(t, dir, args...) }
			real := func(args ...string) { realRun(t, dir, vw, args...) }
			scores := test("theirs", "tt", real)
			compareScores(t, test("ours", "ot", real), scores)
			compareScores(t, test("theirs", "tg", ours), scores)
			compareScores(t, test("ours", "og", ours), scores)
		})
	}
}

// classData writes five.vw: the recorded regression examples with a class for a
// label, some with a weight.
func classData(t *testing.T, dir string, k int) {
	t.Helper()
	var b strings.Builder
	n := 0
	for line := range strings.Lines(readFile(t, filepath.Join("testdata", "golden", "reg500.vw.gz"))) {
		head, rest, _ := strings.Cut(line, "|")
		label, err := strconv.ParseFloat(strings.Fields(head)[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		class := 1 + min(k-1, max(0, int(math.Floor(label+1))))
		weight := ""
		switch {
		case n%7 == 3:
			weight = " 2.5"
		case n%11 == 5:
			weight = " -1.5" // counts as 0
		}
		fmt.Fprintf(&b, "%d%s x%d|%s", class, weight, n, rest)
		n++
	}
	writeFile(t, filepath.Join(dir, "five.vw"), b.String())
}

// compareScores compares lines word by word: the part before a ':' and words without one
// exactly, numbers within the bar.
func compareScores(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		t.Errorf("got %d lines, want %d", len(g), len(w))
		return
	}
	for i := range w {
		a, b := strings.Fields(g[i]), strings.Fields(w[i])
		same := len(a) == len(b)
		for k := 0; same && k < len(b); k++ {
			name, value, isScore := strings.Cut(b[k], ":")
			have, number, _ := strings.Cut(a[k], ":")
			same = have == name
			if isScore {
				x, err1 := strconv.ParseFloat(number, 64)
				y, err2 := strconv.ParseFloat(value, 64)
				same = same && err1 == nil && err2 == nil && near(x, y, tolWeight)
			}
		}
		if !same {
			t.Errorf("line %d:\ngot  %q\nwant %q", i+1, g[i], w[i])
			return
		}
	}
}

// Training that continues from a model of one against all equals uninterrupted
// training: each class's sums are in the model.
func TestClassesResumeExactly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	classData(t, dir, 5)
	both := readFile(t, filepath.Join(dir, "five.vw"))
	writeFile(t, filepath.Join(dir, "twice.vw"), both+both)
	gvw(t, dir, strings.Fields("-d twice.vw --oaa 5 --loss_function hinge --readable_model once --quiet")...)
	gvw(t, dir, strings.Fields("-d five.vw --oaa 5 --loss_function hinge -f half --quiet")...)
	gvw(t, dir, strings.Fields("-d five.vw -i half --loss_function hinge --readable_model resumed --quiet")...)
	compareWeights(t, readFile(t, filepath.Join(dir, "resumed")), readFile(t, filepath.Join(dir, "once")))
	for _, line := range []string{"norm normalizer_4 ", "total_weight_0 "} {
		got, want := lineWith(readFile(t, filepath.Join(dir, "resumed")), line), lineWith(readFile(t, filepath.Join(dir, "once")), line)
		if got != want || want == "" {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Four workers average the weights of all classes: the model predicts as well as
// that of one process, and is the same on all ranks (or the job would fail).
func TestClassesOnACluster(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	classData(t, dir, 5)
	average := func(text string) float64 {
		v, err := strconv.ParseFloat(strings.TrimPrefix(lineWith(text, "average loss = "), "average loss = "), 64)
		if err != nil {
			t.Fatalf("%v\n%s", err, tail(text, 20))
		}
		return v
	}
	options := strings.Fields("-d five.vw --oaa 5 --loss_function logistic --passes 3 -c -k --holdout_off -f m -p p --probabilities")
	one := gvw(t, dir, options...)
	test := strings.Fields("-d five.vw -t -i m --loss_function logistic")
	single := average(gvw(t, dir, test...).stderr)
	four := gvw(t, dir, append([]string{"run", "-n", "4", "--shard", "lines", "--"}, options...)...)
	gvw(t, dir, append([]string{"run", "-n", "4", "--shard", "lines", "--"}, strings.Fields("-d five.vw --oaa 5 --loss_function logistic --passes 3 -c -k --holdout_off -f m2")...)...)
	if a, b := average(four.stderr), average(one.stderr); a > b+0.15 { // each rank learns from a quarter of the data before the first average
		t.Errorf("average loss of four workers is %v, of one %v", a, b)
	}
	if lineWith(four.stderr, "average multiclass log loss") == "" {
		t.Errorf("no log-loss in\n%s", tail(four.stderr, 12))
	}
	if a, b := readFile(t, filepath.Join(dir, "m")), readFile(t, filepath.Join(dir, "m2")); a != b {
		t.Error("two runs of four workers leave different models")
	}
	if got := strings.Count(readFile(t, filepath.Join(dir, "p")), "\n"); got != 1500 {
		t.Errorf("%d predictions, want 3 passes of 500", got)
	}
	if a := average(gvw(t, dir, test...).stderr); a > single+0.05 {
		t.Errorf("the model of four workers has loss %v, of one %v", a, single)
	}
}
