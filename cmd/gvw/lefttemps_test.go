// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gvw-project/gvw/internal/tempname"
)

// A job that has succeeded writes its predictions although temporary files of a lost rank, or its checkpoints, cannot be
// removed.
func TestPredictionsDespiteLeftTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.vw"), []byte(strings.Repeat("1 |a x y\n-1 |a z\n", 50)), 0o644); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	launcher := exec.Command("gvw", "run", "-n", "2", "--log_dir", "logs", "--", "-d", "x.vw", "-p", "p", "--checkpoint", "ck")
	launcher.Dir, launcher.Stderr = dir, &stderr
	launcher.Env = append(launcher.Environ(), "GVW_FAULT=rank:1,op:1,kind:stop")
	if err := launcher.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := 0
	eventually(t, "rank 1 to stop", func() bool {
		for _, pid := range children(t, launcher.Process.Pid) {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err == nil && strings.Contains(string(b), ") T ") {
				stopped = pid
			}
		}
		return stopped != 0
	})
	// A folder that is not empty, under a name of a temporary file of that process, cannot be removed as one.
	if err := os.MkdirAll(filepath.Join(dir, ".ck"+tempname.Infix(stopped)+"1", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(stopped, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := launcher.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &stderr)
	}
	p, err := os.ReadFile(filepath.Join(dir, "p"))
	if n := bytes.Count(p, []byte("\n")); err != nil || n != 100 {
		t.Errorf("got %d predictions, want 100: %v", n, err)
	}
	if want := "gvw run: cannot remove temporary files"; strings.Count(stderr.String(), want) != 1 {
		t.Errorf("want %q once on stderr, got:\n%s", want, &stderr)
	}
}
