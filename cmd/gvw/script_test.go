// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/internal/sampled"
)

// TestMain lets the test binary act as gvw: scripts call it, and gvw run calls it
// again for its workers. A race build sleeps for a second at the end of each process
// unless GORACE sets another time; the scripts start hundreds of processes.
func TestMain(m *testing.M) {
	if _, set := os.LookupEnv("GORACE"); !set {
		os.Setenv("GORACE", "atexit_sleep_ms=10")
	}
	testscript.Main(m, map[string]func(){"gvw": main})
}

// raced are the scripts that run under the race detector with -short: those in which a process
// does most at a time. Longer ones stop there where the condition race holds. All scripts take
// 90 s of processor time there, and 21 s without it.
var raced = []string{"malt", "run", "secure", "shrink", "supervise"}

// slow are the scripts that take half a second of processor time or more each, and three quarters of that of all scripts: make check
// leaves them out.
var slow = []string{
	"average", "bench", "doctor", "formats", "hdfs", "malt", "metrics", "newcomer", "parquet", "programs", "report", "restart", "run",
	"schedule", "search", "shrink", "simulate", "solvers", "spares", "tools", "topics", "usage",
}

// TestScripts checks the contract of the command line: stdout, stderr and the exit codes.
// Each script is a session that a user could type.
func TestScripts(t *testing.T) {
	fewer := testing.Short() && sampled.UnderRace
	params := testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			models, err := filepath.Abs("../../model/testdata")
			env.Setenv("MODELS", models)
			parquet, perr := filepath.Abs("../../feature/parquet/testdata")
			env.Setenv("PARQUET", parquet)
			return errors.Join(err, perr)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":     scriptCode,
			"lastline": scriptLastLine,
			"unhex":    scriptUnhex,
			"web":      scriptWeb,
			"s3":       scriptS3,
		},
		// [rdma]: built with the tag rdma; [device]: there is an RDMA device; [race]: only raced scripts run.
		Condition: func(name string) (bool, error) {
			devices, err := verbs.System().Devices()
			switch name {
			case "rdma":
				return !errors.Is(err, verbs.ErrNotBuilt), nil
			case "device":
				return len(devices) > 0, nil
			case "race":
				return fewer, nil
			}
			return false, fmt.Errorf("unknown condition %s", name)
		},
	}
	switch {
	case sampled.InCheck(os.Getenv):
		t.Logf("sampled: all scripts but %q", slow)
		params.Dir, params.Files = "", quickScripts(t)
	case fewer:
		t.Logf("left out: all scripts but %q; the race detector checks the packages by themselves", raced)
		params.Dir = ""
		for _, name := range raced {
			params.Files = append(params.Files, filepath.Join("testdata", name+".txtar"))
		}
	}
	testscript.Run(t, params)
}

// quickScripts returns the scripts that are not slow.
func quickScripts(t *testing.T) []string {
	all, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	quick := slices.DeleteFunc(slices.Clone(all), func(file string) bool {
		return slices.Contains(slow, strings.TrimSuffix(filepath.Base(file), ".txtar"))
	})
	if len(all)-len(quick) != len(slow) {
		t.Fatalf("of the %d slow scripts testdata has %d", len(slow), len(all)-len(quick))
	}
	return quick
}

// scriptCode runs a program and checks its exit code: code 5 gvw -d missing.vw
func scriptCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		e, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = e.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// scriptUnhex writes the bytes whose hexadecimal digits a file has: unhex IN OUT
func scriptUnhex(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unhex IN OUT")
	}
	b, err := hex.DecodeString(strings.Join(strings.Fields(ts.ReadFile(args[0])), ""))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o600))
}

// scriptLastLine checks that the last line of stderr contains the words.
func scriptLastLine(ts *testscript.TestScript, neg bool, args []string) {
	lines := strings.Split(strings.TrimRight(ts.ReadFile("stderr"), "\n"), "\n")
	last := lines[len(lines)-1]
	if !strings.HasPrefix(last, "gvw: ") {
		ts.Fatalf("the last line is not gvw's verdict: %q", last)
	}
	for _, word := range args {
		if strings.Contains(last, word) == neg {
			ts.Fatalf("last line %q: contains %q: %v", last, word, !neg)
		}
	}
}
