// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestExamplesEndTheInput checks that gvw --examples 2 ends after two examples, although the
// pipe that it reads is still open for writing.
func TestExamplesEndTheInput(t *testing.T) {
	text := []byte("1 |a x\n1 |a y\n")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(text)
	if err := errors.Join(err, z.Flush()); err != nil { // without the end of the stream: more may follow
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		text []byte
		fifo bool
	}{
		{"stdin", text, false},
		{"gzip on stdin", packed.Bytes(), false},
		{"FIFO", text, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			gvw := exec.Command("gvw", "--examples", "2", "-p", "p", "--quiet")
			gvw.Dir = dir
			var stderr bytes.Buffer
			gvw.Stderr = &stderr
			var w *os.File
			if c.fifo {
				fifo := filepath.Join(dir, "fifo")
				if err := syscall.Mkfifo(fifo, 0o600); err != nil {
					t.Fatal(err)
				}
				var err error
				if w, err = os.OpenFile(fifo, os.O_RDWR, 0); err != nil {
					t.Fatal(err)
				}
				gvw.Args = append(gvw.Args, "-d", "fifo")
			} else {
				var r *os.File
				var err error
				if r, w, err = os.Pipe(); err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				gvw.Stdin = r
			}
			defer w.Close()
			if _, err := w.Write(c.text); err != nil {
				t.Fatal(err)
			}
			if err := gvw.Run(); err != nil {
				t.Fatalf("gvw: %v\n%s", err, &stderr)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "p")); err != nil || string(got) != "0\n0.253466\n" {
				t.Errorf("predictions %q, %v", got, err)
			}
		})
	}
}

// TestSignalWhileTheInputWaits checks that SIGINT ends gvw while it waits for the first data of
// stdin or of a FIFO.
func TestSignalWhileTheInputWaits(t *testing.T) {
	for _, name := range []string{"/dev/stdin", "fifo"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			dir := t.TempDir()
			if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
				t.Fatal(err)
			}
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			defer r.Close()
			gvw := exec.Command("gvw", "-d", name, "-f", "m")
			gvw.Dir, gvw.Stdin = dir, r
			stderr, err := gvw.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := gvw.Start(); err != nil {
				t.Fatal(err)
			}
			var said bytes.Buffer
			signalled := false
			for b := make([]byte, 1000); ; {
				n, err := stderr.Read(b)
				said.Write(b[:n])
				if !signalled && bytes.Contains(said.Bytes(), []byte("Reading datafile")) {
					signalled = true
					if err := gvw.Process.Signal(os.Interrupt); err != nil {
						t.Fatal(err)
					}
				}
				if err != nil {
					break
				}
			}
			err = gvw.Wait()
			if got := gvw.ProcessState.ExitCode(); got != 130 {
				t.Errorf("exit code %d (%v), want 130\n%s", got, err, &said)
			}
			if left, err := filepath.Glob(filepath.Join(dir, "m*")); err != nil || left != nil {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
