// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/sampled"
)

// Training that stopped early leaves the model of its best pass, with the
// counters of that pass, from which both programs continue with equal results.
func TestCountersOfTheBestPassAsVW(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	for _, options := range sampled.Short(t, []string{
		"--sgd -l 0.3",
		"-l 2 --decay_learning_rate 2 --holdout_period 3",
		"--adaptive -l 2 --decay_learning_rate 1.5 --random_weights -b 10",
		"--ftrl --ftrl_alpha 0.1",
		"--oaa 3 -l 1 --holdout_period 3",
	}, 0, 2) {
		t.Run(options, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			data := "reg.vw"
			writeFile(t, filepath.Join(dir, data), readFile(t, filepath.Join("testdata", "golden", "reg500.vw.gz")))
			if strings.Contains(options, "--oaa") {
				classData(t, dir, 3)
				data = "five.vw"
			}
			with := func(who string) []string {
				return append(strings.Fields(options), strings.Fields("-d "+data+" --early_terminate 1 --passes 30 -k --cache_file "+who+".cache -f "+who+" --readable_model "+who+".rm")...)
			}
			ours := gvw(t, dir, with("ours")...).stderr
			theirs := realRun(t, dir, vw, with("theirs")...).stderr
			passes := lineWith(theirs, "passes used = ")
			if got := lineWith(ours, "passes used = "); got != passes || passes == "passes used = 30" {
				t.Fatalf("%q, vw %q: want the same, and below 30", got, passes)
			}
			compareCounters(t, readFile(t, filepath.Join(dir, "ours.rm")), readFile(t, filepath.Join(dir, "theirs.rm")))

			for _, test := range []string{"", " -t"} {
				again := strings.Fields("-d " + data + " --preserve_performance_counters -i theirs" + test)
				compareTable(t, gvw(t, dir, again...).stderr, realRun(t, dir, vw, again...).stderr)
			}
		})
	}
}

// compareCounters compares the counters of the training run in readable models.
func compareCounters(t *testing.T, got, want string) {
	t.Helper()
	for _, name := range []string{
		"t ", "sum_loss ", "sum_loss_since_last_dump ", "dump_interval ", "min_label ", "max_label ", "weighted_labeled_examples ",
		"weighted_labels ", "example_number ", "total_features ", "sd::oec.weighted_labeled_examples ", "current_pass ",
	} {
		g, w := lineWith(got, name), lineWith(want, name)
		if w == "" {
			t.Errorf("vw's model has no line %q", name)
		}
		if a, b := numbers(t, strings.TrimPrefix(g, name)), numbers(t, strings.TrimPrefix(w, name)); len(a) != 1 || len(b) != 1 || !near(a[0], b[0], tolWeight) {
			t.Errorf("got %q, want %q", g, w)
		}
	}
}
