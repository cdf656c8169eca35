// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRunIsDeterministic trains the hybrid on four local workers twice: the
// models are the same bytes, however the data is dealt to the workers.
func TestRunIsDeterministic(t *testing.T) {
	t.Parallel()
	text := readFile(t, filepath.Join("testdata", "golden", "s1000.vw.gz"))
	for _, shard := range []string{"bytes", "lines"} {
		t.Run(shard, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "s.vw"), text)
			options := strings.Fields("run -n 4 --shard " + shard + " -- -d s.vw --hybrid 2:10 --l2 1 --loss_function logistic -k --cache_file c -p p")
			var models [2][]byte
			for i := range models {
				gvw(t, dir, append(options, "-f", "m")...)
				var err error
				if models[i], err = os.ReadFile(filepath.Join(dir, "m")); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(models[0], models[1]) {
				t.Error("two runs made two models")
			}
			// Phase 1 has two passes: its progressive predictions are two lines
			// per example, in the order of the input.
			if got, want := len(numbers(t, readFile(t, filepath.Join(dir, "p")))), 2*strings.Count(text, "\n"); got != want {
				t.Errorf("got %d predictions, want %d", got, want)
			}
		})
	}
}

// TestRunAgreesWithOneProcess compares L-BFGS on four workers with L-BFGS on one: sums and
// weights are the same, except for the rounding of the float32 vectors that the workers
// exchange.
func TestRunAgreesWithOneProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "s.vw"), readFile(t, filepath.Join("testdata", "golden", "s1000.vw.gz")))
	options := strings.Fields("-d s.vw --bfgs --passes 15 --l2 1 --loss_function logistic --holdout_off -k --cache_file c")
	gvw(t, dir, append([]string{"run", "-n", "4", "--"}, append(options, "--readable_model", "four")...)...)
	gvw(t, dir, append(options, "--readable_model", "one")...)
	compareModels(t, "four workers", weights(t, readFile(t, filepath.Join(dir, "four"))), weights(t, readFile(t, filepath.Join(dir, "one"))))
}

// TestRunNamesTheCulprit gives one of four workers a file it cannot read: the
// launcher ends the others and names the one that failed first, with its
// exit code.
func TestRunNamesTheCulprit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shards(t, dir, filepath.Join("testdata", "golden", "s1000.vw.gz"), 4)
	if err := os.Remove(filepath.Join(dir, "part.2")); err != nil {
		t.Fatal(err)
	}
	r := run(t, dir, gvwBin, strings.Fields("run -n 4 -- -d part.{rank} --loss_function logistic --passes 3 -k --cache_file c --holdout_off -f m")...)
	if r.code != 5 {
		t.Errorf("exit code %d, want 5\n%s", r.code, r.stderr)
	}
	last := tail(r.stderr, 1)
	if !strings.Contains(last, "rank 2") || !strings.Contains(last, "part.2") {
		t.Errorf("the last line does not name rank 2 and its file: %q", last)
	}
	nothingLeft(t, dir, "m")
}
