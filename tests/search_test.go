// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSearchPage runs the commands of docs/search.md. The best trial of the first one must beat the
// default options on the test file, which the search has not seen.
func TestSearchPage(t *testing.T) {
	t.Parallel()
	page := openPage(t, "search.md")
	commands := page.commands()
	for _, line := range commands {
		r := page.shell(t, line)
		if strings.HasPrefix(line, "gvw search") && (!strings.Contains(r.stdout, "\nbest: trial ") || strings.Contains(r.stdout, "failed")) {
			t.Errorf("%s\n%s%s", line, r.stdout, r.stderr)
		}
	}
	if len(commands) != 5 {
		t.Errorf("%d commands, want 5", len(commands))
	}
	page.shell(t, "gvw -d all.vw --loss_function logistic --passes 4 -c -f default.model --quiet")
	loss := func(model string) float64 {
		page.shell(t, "gvw -d quickstart/test.vw.gz -t -i "+model+" --loss_function logistic --metrics logloss --metrics_file m.json --quiet")
		var m struct {
			Metrics struct{ LogLoss float64 }
		}
		if err := json.Unmarshal(mustRead(t, filepath.Join(page.dir, "m.json")), &m); err != nil {
			t.Fatal(err)
		}
		return m.Metrics.LogLoss
	}
	if found, byDefault := loss("spam.model"), loss("default.model"); !(0 < found && found < byDefault) {
		t.Errorf("log-loss on the test file %v, want less than the default's %v", found, byDefault)
	}
}

// TestSearchContinues kills a search while trials run. The same command makes the remaining trials, and
// the results are those of a search without interruption.
func TestSearchContinues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "x.vw"), strings.Repeat("1 | a b c\n0 | c d e\n1 | a e f\n", 2000))
	args := func(state string) []string {
		return []string{
			"search", "--space", "l=log:0.01..1 power_t=0,0.5", "--trials", "9", "--parallel", "2", "--strategy", "asha", "--holdout", "--state", state,
			"--", "-d", "x.vw", "--passes", "9", "-f", state + ".model",
		}
	}
	if r := start(t, dir, gvwBin, args("whole")...).wait(); r.code != 0 {
		t.Fatal(r.stderr)
	}
	killed := start(t, dir, gvwBin, args("killed")...)
	lines := func() int {
		text, err := os.ReadFile(filepath.Join(dir, "killed"))
		if err != nil {
			return 0
		}
		return bytes.Count(text, []byte("\n"))
	}
	waitFor(t, "three finished trainings", func() bool { return lines() >= 4 })
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed.wait()
	before := lines()
	r := start(t, dir, gvwBin, args("killed")...).wait()
	if r.code != 0 || !strings.Contains(r.stderr, "finished jobs are in killed") {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	t.Logf("killed after %d lines of %d", before, lines())
	// job is what a line has that does not depend on the clock.
	type job struct {
		Resource int
		Options  map[string]string
		Loss     *float64
	}
	jobs := func(name string) map[int][]job {
		all := map[int][]job{}
		_, after, _ := strings.Cut(readFile(t, filepath.Join(dir, name)), "\n") // the settings of the search
		for line := range strings.Lines(after) {
			var o struct {
				Trial int
				job
			}
			if err := json.Unmarshal([]byte(line), &o); err != nil {
				t.Fatal(err)
			}
			all[o.Trial] = append(all[o.Trial], o.job) // the jobs of a trial follow each other
		}
		return all
	}
	if diff := cmp.Diff(jobs("whole"), jobs("killed")); diff != "" {
		t.Errorf("an interruption changes the trials:\n%s", diff)
	}
	if !bytes.Equal(mustRead(t, filepath.Join(dir, "whole.model")), mustRead(t, filepath.Join(dir, "killed.model"))) {
		t.Error("the models differ")
	}
}
