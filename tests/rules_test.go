// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/sampled"
)

// TestRulesAsVW compares update rules, losses and start weights with the real
// vw: the predictions while learning, the weights, and each program's
// predictions from the other's model.
func TestRulesAsVW(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	for _, c := range sampled.Short(t, []struct{ input, options, unkept string }{
		{"reg500.vw", "--adax", ""},
		{"reg500.vw", "--adaptive --adax -l 0.5", ""},
		{"reg500.vw", "--adaptive --adax --invariant -l 0.3 --power_t 0.4", ""},
		{"reg500.vw", "--adax --passes 3 -k --cache_file CACHE --holdout_off", ""},
		{"reg500.vw", "--sparse_l2 0.01", ""},
		{"reg500.vw", "--sparse_l2 0.01 --sgd -l 0.05", ""},
		{"s1000.vw", "--sparse_l2 0.001 --loss_function logistic", "--loss_function logistic"},
		{"s1000.vw", "--sparse_l2 0.001 --loss_function hinge", "--loss_function hinge"},
		{"reg500.vw", "--l1_state 0.001 --l2_state 0.9", ""},
		{"reg500.vw", "--l1 0.0002 --l1_state 0.001", ""},
		{"reg500.vw", "--l2 0.0005 --l2_state 0.95 --sgd -l 0.05", ""},
		{"reg500.vw", "--l1 0.0002 --l2 0.0005 --adaptive -l 0.4", ""},
		{"reg500.vw", "--l1 0.0002 --l2 0.0005 --normalized -l 0.4 --power_t 0.4", ""},
		{"s1000.vw", "--l1 0.0002 --l2 0.0005 --invariant -l 0.05 --loss_function logistic", "--loss_function logistic"},
		{"s1000.vw", "--l1 0.0002 --l2 0.0005 --loss_function logistic --passes 3 -k --cache_file CACHE", "--loss_function logistic"},
		{"reg500.vw", "--random_weights -b 10", ""},
		{"reg500.vw", "--random_weights --random_seed 77 --sgd -l 0.02 -b 10", ""},
		{"reg500.vw", "--normal_weights -b 10", ""},
		{"reg500.vw", "--normal_weights --sgd -l 0.02 -b 10", ""},
		{"reg500.vw", "--truncated_normal_weights -b 10", ""},
		{"reg500.vw", "--initial_weight 0.1 -b 10", ""},
		{"reg500.vw", "--initial_weight 0.1 --l1 0.0001 --adaptive -l 0.4 -b 10", ""},
		{"reg500.vw", "--feature_mask MASK", ""},
		{"reg500.vw", "--feature_mask MASK --l2 0.001", ""},
		{"reg500.vw", "--feature_mask MASK -i MASK --invariant --adaptive --normalized", ""},
		{"reg500.vw", "--feature_mask PLAIN --sgd -l 0.01", ""},
		{"counts.vw", "--loss_function poisson", "--loss_function poisson"},
		{"counts.vw", "--loss_function poisson --sgd -l 0.01", "--loss_function poisson"},
		{"counts.vw", "--loss_function poisson --invariant -l 0.01 --l2 0.001", "--loss_function poisson"},
		{"counts.vw", "--loss_function poisson --adaptive --normalized --link poisson", "--loss_function poisson"},
		{"counts.vw", "--loss_function logistic --logistic_min 0 --logistic_max 6", "--loss_function logistic"},
		{"counts.vw", "--loss_function logistic --logistic_max 6 --sgd -l 0.1", "--loss_function logistic"},
		{"counts.vw", "--loss_function quantile --quantile_tau 0.9 --adax", "--loss_function quantile"},
		{"counts.vw", "--loss_function classic --normalized -l 0.1", "--loss_function classic"},
	}, 0, 6) {
		t.Run(c.options, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ruleData(t, dir, vw)
			with := func(more string, cache string) []string {
				options := strings.ReplaceAll(c.options, "CACHE", cache)
				return append(strings.Fields("-d "+c.input+" --quiet "+more), strings.Fields(options)...)
			}
			gvw(t, dir, with("-f ours -p ours.p --readable_model ours.rm", "c1")...)
			realRun(t, dir, vw, with("-f theirs -p theirs.p --readable_model theirs.rm", "c2")...)
			read := func(name string) string { return readFile(t, filepath.Join(dir, name)) }
			comparePredictionsTo(t, read("ours.p"), read("theirs.p"), tolWeight)

			test := func(model, out string, run func(args ...string)) string {
				run(append(strings.Fields("-t --quiet -d "+c.input+" -i "+model+" -p "+out), strings.Fields(c.unkept)...)...)
				return read(out)
			}
			ours := func(args ...string) { gvw(t, dir, args...) }
			real := func(args ...string) { realRun(t, dir, vw, args...) }
			want := test("theirs", "tt", real)
			comparePredictionsTo(t, test("ours", "ot", real), want, tolWeight)
			comparePredictionsTo(t, test("theirs", "tg", ours), want, tolWeight)
			comparePredictionsTo(t, test("ours", "og", ours), want, tolWeight)
			if !strings.Contains(c.options, "--l1") && !strings.Contains(c.options, "--l2") { // vw does not apply these in its model
				compareWeights(t, read("ours.rm"), read("theirs.rm"))
			}
		})
	}
}

// ruleData writes the inputs of TestRulesAsVW: the recorded ones, the first with
// labels made counts, and two models of a few examples as masks.
func ruleData(t *testing.T, dir string, vw []string) {
	t.Helper()
	for _, name := range []string{"reg500.vw", "s1000.vw"} {
		writeFile(t, filepath.Join(dir, name), readFile(t, filepath.Join("testdata", "golden", name+".gz")))
	}
	var counts, few strings.Builder
	n := 0
	for line := range strings.Lines(readFile(t, filepath.Join(dir, "reg500.vw"))) {
		if n < 5 {
			few.WriteString(line)
		}
		label, rest, _ := strings.Cut(line, " ")
		whole, _, _ := strings.Cut(strings.TrimPrefix(label, "-"), ".")
		counts.WriteString(whole + " " + rest)
		n++
	}
	writeFile(t, filepath.Join(dir, "counts.vw"), counts.String())
	writeFile(t, filepath.Join(dir, "few.vw"), few.String())
	realRun(t, dir, vw, "-d", "few.vw", "-f", "MASK", "--quiet")
	realRun(t, dir, vw, "-d", "few.vw", "-f", "PLAIN", "--quiet", "--sgd", "-l", "0.01")
}

// Pending --l1 and --l2 are applied before every average: the ranks end with one model (or the
// job would fail) without pending regularisation, close to that of one process. vw averages
// first, and each rank keeps its own pending part.
func TestRegularisationIsPaidBeforeAverages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "s.vw"), readFile(t, filepath.Join("testdata", "golden", "s1000.vw.gz")))
	options := strings.Fields("-d s.vw --l1 0.0002 --l2 0.0005 --loss_function logistic --passes 4 -c -k --holdout_off")
	gvw(t, dir, append([]string{"run", "-n", "3", "--shard", "lines", "--"}, append(options, "-f", "three", "--readable_model", "three.rm")...)...)
	gvw(t, dir, append(options, "-f", "one")...)
	text := readFile(t, filepath.Join(dir, "three.rm"))
	if lineWith(text, "l1_state") != "l1_state 0" || lineWith(text, "l2_state") != "l2_state 1" {
		t.Errorf("something is due in the model: %q, %q", lineWith(text, "l1_state"), lineWith(text, "l2_state"))
	}
	losses := map[string]float64{}
	for _, model := range []string{"three", "one"} {
		r := gvw(t, dir, strings.Fields("-d s.vw -t --loss_function logistic -i "+model)...)
		v, err := strconv.ParseFloat(strings.TrimPrefix(lineWith(r.stderr, "average loss = "), "average loss = "), 64)
		if err != nil {
			t.Fatal(err)
		}
		losses[model] = v
	}
	if losses["three"] > losses["one"]+0.03 {
		t.Errorf("losses %v", losses)
	}
}
