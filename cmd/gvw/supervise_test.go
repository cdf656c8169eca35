// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// superviseEndless supervises a learner that would train for hours, and waits until it
// has begun. worker is its process.
func superviseEndless(t *testing.T, dir string) (supervisor *exec.Cmd, stderr *bytes.Buffer, worker int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "x.vw"), []byte(strings.Repeat("1 |a x y\n-1 |a z\n", 50)), 0o644); err != nil {
		t.Fatal(err)
	}
	stderr = &bytes.Buffer{}
	supervisor = exec.Command("gvw", "supervise", "--", "gvw",
		"-d", "x.vw", "-f", "m", "--passes", "1000000000", "--holdout_off", "-k", "--cache_file", "c")
	supervisor.Dir, supervisor.Stderr = dir, stderr
	if err := supervisor.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the cache to be made", func() bool {
		_, err := os.Stat(filepath.Join(dir, "c"))
		return err == nil
	})
	pids := children(t, supervisor.Process.Pid)
	if len(pids) != 1 {
		t.Fatalf("%d children, want 1: %v", len(pids), pids)
	}
	return supervisor, stderr, pids[0]
}

// A signal is passed to the command. The command's exit code is the supervisor's, and
// nothing is restarted.
func TestSupervisePassesSignalsOn(t *testing.T) {
	for sig, code := range map[syscall.Signal]int{syscall.SIGHUP: 129, syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(sig.String(), func(t *testing.T) {
			dir := t.TempDir()
			s, stderr, worker := superviseEndless(t, dir)
			defer time.AfterFunc(time.Minute, func() { _ = s.Process.Kill() }).Stop() // its command ends with it
			// Like Slurm, which signals all processes of a step at once.
			if err := syscall.Kill(s.Process.Pid, sig); err != nil {
				t.Fatal(err)
			}
			// An error is possible: the supervisor may have passed the signal on before, and
			// the worker may have ended.
			if err := syscall.Kill(worker, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
				t.Fatal(err)
			}
			err := s.Wait()
			if got := s.ProcessState.ExitCode(); got != code {
				t.Errorf("exit code %d, want %d: %v\n%s", got, code, err, stderr)
			}
			if strings.Contains(stderr.String(), "attempt") {
				t.Errorf("it was started again:\n%s", stderr)
			}
			gone(t, worker)
			if sig != syscall.SIGHUP { // the learner does not handle it, and leaves its temporary file
				nothingFinal(t, dir)
			}
		})
	}
}

// A supervisor that ignores SIGHUP, as under nohup, and its command survive it.
func TestSuperviseIgnoresWhatItsParentIgnores(t *testing.T) {
	s := exec.Command("sh", "-c", "trap '' HUP; exec gvw supervise -- sh -c 'echo $$; read line; exit 6'")
	stderr := &bytes.Buffer{}
	s.Stderr = stderr
	in, err := s.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(time.Minute, func() { _ = s.Process.Kill() }).Stop()
	var child int
	if _, err := fmt.Fscan(out, &child); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{s.Process.Pid, child} {
		if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
			t.Error(err)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	err = s.Wait()
	if got := s.ProcessState.ExitCode(); got != 6 || stderr.Len() > 0 {
		t.Errorf("exit code %d, want the command's, 6: %v\n%s", got, err, stderr)
	}
}

// A killed command is restarted. A command whose supervisor is killed ends.
func TestDeadSupervisorLeavesNoOrphan(t *testing.T) {
	dir := t.TempDir()
	s, _, worker := superviseEndless(t, dir)
	if err := syscall.Kill(worker, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	second := 0
	eventually(t, "the second attempt", func() bool {
		pids := children(t, s.Process.Pid)
		if len(pids) == 1 && pids[0] != worker {
			second = pids[0]
		}
		return second != 0
	})
	// It watches the supervisor's pipe before it reads data, which takes hours.
	if err := s.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.Wait() // killed: it has no other way to end
	gone(t, second)
}
