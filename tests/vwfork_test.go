// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// forkedVW is a real vw that runs many command lines without starting Python
// for each. Its methods are for one goroutine at a time.
type forkedVW struct {
	in  io.WriteCloser
	out *bufio.Scanner
}

// startForkedVW starts a forkedVW; the test's cleanup stops it.
func startForkedVW(t *testing.T) *forkedVW {
	t.Helper()
	python := realVW(t)[0]
	script, err := filepath.Abs("testdata/vwfork.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, script)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("vwfork.py: %v", err)
		}
	})
	v := &forkedVW{in: in, out: bufio.NewScanner(out)}
	v.answer(t)
	return v
}

// run runs vw in dir. It returns its exit code, negative for a signal, and its output on stdout
// and stderr.
func (v *forkedVW) run(t *testing.T, dir string, args []string) (code int, talk string) {
	t.Helper()
	log := filepath.Join(dir, "vw.log")
	code = v.start(t, dir, args, "", log, log)
	return code, validText(t, log)
}

// runApart is run with separate stdout and stderr, and a file on stdin unless its name is
// empty.
func (v *forkedVW) runApart(t *testing.T, dir string, args []string, stdin string) (code int, stdout, stderr string) {
	t.Helper()
	out, log := filepath.Join(dir, "vw.out"), filepath.Join(dir, "vw.log")
	code = v.start(t, dir, args, stdin, out, log)
	return code, validText(t, out), validText(t, log)
}

func (v *forkedVW) start(t *testing.T, dir string, args []string, in, out, log string) (code int) {
	t.Helper()
	job, err := json.Marshal(map[string]any{"dir": dir, "args": args, "in": in, "out": out, "log": log})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.in.Write(append(job, '\n')); err != nil {
		t.Fatal(err)
	}
	if code, err = strconv.Atoi(v.answer(t)); err != nil {
		t.Fatal(err)
	}
	return code
}

func validText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ToValidUTF8(string(text), "?")
}

// answer returns the next line.
func (v *forkedVW) answer(t *testing.T) string {
	t.Helper()
	if !v.out.Scan() {
		t.Fatalf("vwfork.py has ended: %v", v.out.Err())
	}
	return v.out.Text()
}
