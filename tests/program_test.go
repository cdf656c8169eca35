// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// buildProgram builds a program of testdata that uses package allreduce.
func buildProgram(t *testing.T, dir, name string) string {
	t.Helper()
	bin := filepath.Join(dir, name)
	if out, err := exec.Command("go", "build", "-o", bin, "./"+filepath.Join("testdata", name)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// gvw run launches any program that takes its Config from the environment, restarts a
// rank that is killed where the job recovers, and names it where the job does not. A rank
// that is lost changes no bit of the result.
func TestRunLaunchesAnyProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin := buildProgram(t, dir, "descent")
	launch := func(options string, args ...string) result {
		words := append([]string{"run", "-n", "3", "--log_dir", "logs"}, strings.Fields(options)...)
		return run(t, dir, gvwBin, append(append(words, "--", bin), args...)...)
	}
	const (
		want = "rank 0 of 3: x = 5.49999475479, 20 steps of work\n"
		// A new attempt may repeat the step of the others, or take its results.
		someSteps = "rank 0 of 3: x = 5.49999475479, 1[5-9] steps of work\n"
	)
	for _, c := range []struct {
		name, options string
		args          []string
		code          int
		stdout        string
		stderr        []string
	}{
		{"undisturbed", "", nil, 0, want, []string{"gvw run: 3 workers, server 127.0.0.1:"}},
		{"a rank is killed", "", []string{"1", "3"}, 0, want, []string{"gvw run: rank 1 has ended (ended by signal 9", "attempt 2 of at most 4 follows"}},
		{"a rank is killed and the command line says wait", "--on_loss wait", []string{"2", "1"}, 0, want, []string{"gvw run: rank 2 has ended"}},
		{"rank 0 is killed", "", []string{"0", "5"}, 0, someSteps, []string{"gvw run: rank 0 has ended"}},
		{"the job does not recover", "--on_loss abort", []string{"1", "3"}, 3, "", []string{"gvw: rank 1 failed first", "ended by signal 9"}},
		{"too many losses", "--max_restarts 0", []string{"1", "3"}, 3, "", []string{"gvw: rank 1 failed first"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := launch(c.options, c.args...)
			if r.code != c.code || !regexp.MustCompile("^(?:"+c.stdout+")$").MatchString(r.stdout) {
				t.Errorf("exit code %d, stdout %q: want %d, %q\n%s", r.code, r.stdout, c.code, c.stdout, r.stderr)
			}
			for _, text := range c.stderr {
				if !strings.Contains(r.stderr, text) {
					t.Errorf("stderr lacks %q:\n%s", text, r.stderr)
				}
			}
			if c.code == 0 {
				for _, rank := range []string{"1", "2"} {
					if log := readFile(t, filepath.Join(dir, "logs", "rank-0"+rank+".log")); !strings.Contains(log, "x = 5.49999475479,") {
						t.Errorf("rank %s has another result:\n%s", rank, log)
					}
				}
			}
		})
	}
}
