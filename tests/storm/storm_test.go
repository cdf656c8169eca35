// SPDX-License-Identifier: Apache-2.0

//go:build unix

package storm

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/tests/harness"
)

var gvwBin string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gvw-storm-")
	var programs string
	if err == nil {
		programs, err = harness.Programs(context.Background(), os.Getenv(harness.EnvPrograms), dir, "gvw")
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, "storm:", err)
	} else {
		gvwBin = filepath.Join(programs, "gvw")
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// number reads a variable.
func number(t *testing.T, name string, def uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return def
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%s is no number", name, text)
	}
	return n
}

// realData writes a thousand real examples.
func realData(t *testing.T) string {
	t.Helper()
	examples, err := harness.Data{Root: "../..", Sets: os.Getenv("GVW_SHARED")}.Real(1000)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "train.vw")
	if err := os.WriteFile(name, examples, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// undisturbed returns the model and the duration of an undisturbed job.
func undisturbed(t *testing.T, data, mode string) (model []byte, took time.Duration) {
	t.Helper()
	for i := range 3 {
		o := run(t, gvwBin, data, t.TempDir(), mode, disturbance{shared: i != 2})
		if o.code != 0 || o.model == nil {
			t.Fatalf("without any fault: exit code %d: %s", o.code, o.last)
		}
		if model != nil && !bytes.Equal(model, o.model) {
			t.Fatal("two undisturbed jobs have different models")
		}
		model = o.model
		if took == 0 || o.took < took {
			took = o.took
		}
	}
	return model, took
}

// storm disturbs jobs, several at a time (-parallel), and calls check, once at a time, for the
// faults of each outcome.
func storm(t *testing.T, jobs uint64, mode string, kinds []string, check func(o outcome, whole []byte) string) {
	seed, only := number(t, "STORM_SEED", 1), number(t, "STORM_ONLY", 0)
	if testing.Short() {
		t.Logf("sampled: a job of each of %d kinds of faults, instead of %d jobs", len(kinds), jobs)
		jobs = uint64(len(kinds))
	}
	jobs = number(t, "STORM", jobs)
	data := realData(t)
	whole, length := undisturbed(t, data, mode)
	rows := make([]*row, len(kinds))
	for i, kind := range kinds {
		rows[i] = &row{kind: kind}
	}
	minutes, began, late := number(t, "STORM_MINUTES", 24*60), time.Now(), 0
	var mu sync.Mutex
	one := func(t *testing.T, n uint64) {
		if time.Since(began) > time.Duration(minutes)*time.Minute {
			mu.Lock()
			defer mu.Unlock()
			late++
			return
		}
		d := draw(seed, n, kinds, length)
		dir := t.TempDir()
		o := run(t, gvwBin, data, dir, mode, d)
		mu.Lock()
		defer mu.Unlock()
		wrong := check(o, whole)
		if o.hung {
			wrong = fmt.Sprintf("it hangs: no end within %v", patience)
		}
		if wrong != "" {
			t.Errorf("job %d of seed %d: %v: %s\n%s", n, seed, d, wrong, logs(dir))
		}
		rows[slices.Index(kinds, d.kind)].add(o.detected, o.resumed, o.took-length, o.struck, wrong == "")
	}
	t.Run("jobs", func(t *testing.T) {
		for n := uint64(1); n <= jobs; n++ {
			if only != 0 && n != only {
				continue
			}
			t.Run(strconv.FormatUint(n, 10), func(t *testing.T) {
				t.Parallel()
				one(t, n)
			})
		}
	})
	if late > 0 {
		t.Logf("%d minutes are over after %d of %d jobs", minutes, jobs-uint64(late), jobs)
	}
	t.Logf("seed %d, %s, %d workers, undisturbed %.2f s\n%s", seed, mode, workers, length.Seconds(), table(rows))
}

// crash matches the beginning of the trace of a crashed Go program.
var crash = regexp.MustCompile(`(?m)^(panic: |fatal error: |unexpected fault address |SIG[A-Z]+: )`)

// logs returns the ends of the logs of a job, or for a crashed process its log from the trace
// on.
func logs(dir string) string {
	names, _ := filepath.Glob(filepath.Join(dir, "logs", "*.log")) // the pattern is right
	var b strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		const most = 12
		end := strings.TrimSpace(string(text))
		if i := crash.FindStringIndex(end); i != nil {
			lines := strings.Split(end[i[0]:], "\n")
			end = strings.Join(lines[:min(5*most, len(lines))], "\n")
		} else {
			lines := strings.Split(end, "\n")
			end = strings.Join(lines[max(0, len(lines)-most):], "\n")
		}
		fmt.Fprintf(&b, "--- %s\n%s\n", filepath.Base(name), end)
	}
	return b.String()
}

// TestStormWithoutRecovery: a job that a loss is to end ends, says why in its last
// line, and leaves no model; one that nothing ended has the right one.
func TestStormWithoutRecovery(t *testing.T) {
	ends := []string{"exit", "kill", "stop", "drop", "garble", "SIGKILL", "SIGSTOP"}
	storm(t, max(jobs/4, uint64(len(ends))), "abort", ends, func(o outcome, whole []byte) string {
		switch {
		case o.code == 0 && !bytes.Equal(o.model, whole):
			return "the model is another one"
		case o.code == 0:
			return "" // it missed, or came too late to matter
		case o.model != nil:
			return "a failed job left a model"
		case !strings.HasPrefix(o.last, "gvw: ") || !strings.Contains(o.last, "rank "):
			return "its last line names no rank: " + o.last
		}
		return ""
	})
}
