// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/tests/harness"
)

// The two programs, built once for all tests.
var gvwBin, serverBin string

func TestMain(m *testing.M) {
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests:", err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "gvw-tests-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	programs, err := harness.Programs(context.Background(), os.Getenv(harness.EnvPrograms), dir, "gvw", "spanning_tree")
	if err != nil {
		return 1, err
	}
	gvwBin, serverBin = filepath.Join(programs, "gvw"), filepath.Join(programs, "spanning_tree")
	return m.Run(), nil
}

// limit bounds a run of a program in order to detect a hang; it is not a measurement.
const limit = 3 * time.Minute

// longerThanTests is a time-out that no test reaches: within limit, only another cause ends a wait.
const longerThanTests = "1h"

// result is the outcome of a run of a program.
type result struct {
	stdout, stderr string
	code           int
}

// run runs a program in dir to its end.
func run(t *testing.T, dir, bin string, args ...string) result {
	t.Helper()
	return start(t, dir, bin, args...).wait()
}

// gvw runs the learner and fails the test if it does not succeed.
func gvw(t *testing.T, dir string, args ...string) result {
	t.Helper()
	r := run(t, dir, gvwBin, args...)
	if r.code != 0 {
		t.Fatalf("gvw %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
	return r
}

// process is a running program. The test's cleanup kills it.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr harness.Buffer // they can be read while it runs
	cancel         context.CancelFunc
	done           bool
	res            result
}

func start(t *testing.T, dir, bin string, args ...string) *process {
	t.Helper()
	return startWith(t, dir, nil, nil, bin, args...)
}

// startWith starts a program with something on stdin, and with variables in addition
// to those of the test.
func startWith(t *testing.T, dir string, stdin *os.File, env []string, bin string, args ...string) *process {
	t.Helper()
	return startWithin(t, limit, dir, stdin, env, bin, args...)
}

// startWithin is startWith with another limit on the run of the program.
func startWithin(t *testing.T, limit time.Duration, dir string, stdin *os.File, env []string, bin string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	p := &process{t: t, cmd: exec.CommandContext(ctx, bin, args...), cancel: cancel}
	p.cmd.Dir = dir
	p.cmd.Env = append(p.cmd.Environ(), env...)
	if stdin != nil {
		p.cmd.Stdin = stdin
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.WaitDelay = 5 * time.Second
	if err := p.cmd.Start(); err != nil {
		cancel()
		t.Fatalf("cannot start %s: %v", bin, err)
	}
	t.Cleanup(func() {
		cancel()
		p.wait()
	})
	return p
}

func (p *process) wait() result {
	if p.done {
		return p.res
	}
	err := p.cmd.Wait()
	p.cancel()
	p.done = true
	p.res = result{stdout: p.stdout.String(), stderr: p.stderr.String()}
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		p.res.code = exit.ExitCode()
	default:
		p.res.code = -2
		p.res.stderr += "\n" + err.Error()
	}
	return p.res
}

// untilStopped waits until the process is stopped, as by SIGSTOP.
func (p *process) untilStopped() {
	p.t.Helper()
	if runtime.GOOS != "linux" {
		p.t.Skip("needs /proc")
	}
	waitFor(p.t, "the process to be stopped", func() bool {
		f := statOf(p.cmd.Process.Pid)
		return len(f) > 0 && f[0] == "T"
	})
}

// statOf returns the fields of a process from its state on; nil: there is none.
func statOf(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
}

// parentOf returns the process id of a process's parent; "" if there is no such process.
func parentOf(pid string) string {
	n, err := strconv.Atoi(pid)
	if f := statOf(n); err == nil && len(f) > 1 {
		return f[1]
	}
	return ""
}

// proceed continues a stopped process.
func (p *process) proceed() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sigCont); err != nil {
		p.t.Fatal(err)
	}
}

// ends checks the exit code of a program and the words of its last line.
func (r result) ends(t *testing.T, what string, code int, words ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("%s: exit code %d, want %d\n%s", what, r.code, code, tail(r.stderr, 10))
	}
	for _, w := range words {
		if last := tail(r.stderr, 1); !strings.Contains(last, w) {
			t.Errorf("%s: the last line does not say %q: %s", what, w, last)
		}
	}
}

// startServer starts spanning_tree on a free port, with optional further options, and returns
// the port.
func startServer(t *testing.T, options ...string) (port string) {
	t.Helper()
	port, _ = startServerPID(t, options...)
	return port
}

// startServerPID is startServer and also returns the process id.
func startServerPID(t *testing.T, options ...string) (port string, pid int) {
	t.Helper()
	dir := t.TempDir()
	port = freePort(t)
	// A server outlives parallel subtests, which wait for their turn.
	p := startWithin(t, time.Hour, dir, nil, nil, serverBin, append([]string{"--nondaemon", "--bind", "127.0.0.1", "--port", port}, options...)...)
	waitFor(t, "the server to listen on port "+port, func() bool { return dialable("127.0.0.1:" + port) })
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(os.Interrupt)
		p.wait()
		if t.Failed() {
			t.Logf("server's log:\n%s", tail(p.res.stderr, 60))
		}
	})
	return port, p.cmd.Process.Pid
}

// shared returns a path in the folder of data sets and recorded outputs that
// may lie beside the repository, or skips the test.
func shared(t *testing.T, elem ...string) string {
	t.Helper()
	root := os.Getenv("GVW_SHARED")
	if root == "" {
		root = "../../shared"
	}
	path, err := filepath.Abs(filepath.Join(append([]string{root}, elem...)...))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		if os.Getenv("REQUIRE_SHARED") == "1" {
			t.Fatalf("REQUIRE_SHARED=1, and %v", err)
		}
		t.Skipf("needs the data sets beside the repository (GVW_SHARED): %v", err)
	}
	return path
}

// realVW returns the command line that starts the real vw, or skips the test.
func realVW(t *testing.T) []string {
	t.Helper()
	python := os.Getenv("GVW_VW_PYTHON")
	if python == "" {
		if found, err := filepath.Abs("../.venv/bin/python"); err == nil {
			if _, err := os.Stat(found); err == nil {
				python = found
			}
		}
	}
	if python == "" {
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal("REQUIRE_ALL=1, and there is no python with vowpalwabbit (GVW_VW_PYTHON)")
		}
		t.Skip("needs a python with vowpalwabbit 9.11.9 (GVW_VW_PYTHON; make test sets one up)")
	}
	start, err := filepath.Abs(filepath.Join("testdata", "vw.py"))
	if err != nil {
		t.Fatal(err)
	}
	return []string{python, start}
}

// readGz reads a file of testdata, gunzipped if its name says so.
func readFile(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return string(b)
}

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// numbers returns the first word of each line as a number.
func numbers(t *testing.T, text string) []float64 {
	t.Helper()
	var v []float64
	s := bufio.NewScanner(strings.NewReader(text))
	for s.Scan() {
		word, _, _ := strings.Cut(s.Text(), " ")
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			t.Fatalf("line %d is no prediction: %q", len(v)+1, s.Text())
		}
		v = append(v, x)
	}
	return v
}

// weights reads the lines "index:weight…" of a readable model: the first
// number of each index, and how the bits were.
func weights(t *testing.T, text string) map[uint32]float64 {
	t.Helper()
	w := map[uint32]float64{}
	_, body, ok := strings.Cut(text, "\n:0\n")
	if !ok {
		if _, body, ok = strings.Cut(text, "\n:1\n"); !ok {
			t.Fatalf("no readable model: %q", tail(text, 5))
		}
	}
	for line := range strings.Lines(body) {
		index, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(line, "sd::") {
			continue // a line of the resume state
		}
		value, _, _ = strings.Cut(value, " ")
		i, err1 := strconv.ParseUint(index, 10, 32)
		v, err2 := strconv.ParseFloat(value, 64)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatalf("readable model: %q: %v", line, err)
		}
		w[uint32(i)] = v
	}
	return w
}

// near reports whether got is within tol of want, absolutely or relatively,
// whichever is larger.
func near(got, want, tol float64) bool {
	return math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	return strings.Join(all, "\n")
}

// waitFor waits until ok returns true. The limit only detects a hang: the conditions take up to
// 4 s on two processors, and have taken 20 s on a tenth of one.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	const limit = time.Minute
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", limit, what)
		}
	}
}

// lookPath returns the path of a program. Without it the test is skipped, or fails with REQUIRE_ALL=1.
func lookPath(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatalf("REQUIRE_ALL=1, and there is no %s: %v", program, err)
		}
		t.Skipf("needs %s: %v", program, err)
	}
	return path
}
