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
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// endless starts a local job that would train for hours, and waits until every
// worker has begun.
func endless(t *testing.T, dir string, more ...string) (launcher *exec.Cmd, stderr *bytes.Buffer, workers []int) {
	t.Helper()
	return endlessWith(t, dir, append([]string{"-p", "p"}, more...)...)
}

// endlessWith is endless with these options of the learner, and without predictions: a lost rank
// cannot repeat those of earlier passes, so a job with predictions replaces it only at the start.
func endlessWith(t *testing.T, dir string, more ...string) (launcher *exec.Cmd, stderr *bytes.Buffer, workers []int) {
	t.Helper()
	data := filepath.Join(dir, "x.vw")
	if err := os.WriteFile(data, []byte(strings.Repeat("1 |a x y\n-1 |a z\n", 50)), 0o644); err != nil {
		t.Fatal(err)
	}
	stderr = &bytes.Buffer{}
	launcher = exec.Command("gvw", append([]string{
		"run", "-n", "3", "--log_dir", "logs", "--",
		"-d", "x.vw", "-f", "m", "--passes", "1000000000", "--holdout_off", "-k", "--cache_file", "c",
	}, more...)...)
	launcher.Dir, launcher.Stderr = dir, stderr
	if err := launcher.Start(); err != nil {
		t.Fatal(err)
	}
	for rank := range 3 {
		eventually(t, fmt.Sprintf("rank %d to make its cache", rank), func() bool {
			_, err := os.Stat(filepath.Join(dir, fmt.Sprintf("c.%d", rank)))
			return err == nil
		})
	}
	// Before its second pass the job is not wired, and a loss has other effects. The shard of rank 0
	// has about 33 examples, so the row of the 64th is in the second pass.
	eventually(t, "the second pass of rank 0", func() bool {
		log, err := os.ReadFile(filepath.Join(dir, "logs", "rank-00.log"))
		return err == nil && bytes.Contains(log, []byte(" 64.0 "))
	})
	workers = children(t, launcher.Process.Pid)
	if len(workers) != 3 {
		t.Fatalf("%d workers, want 3: %v", len(workers), workers)
	}
	return launcher, stderr, workers
}

// children lists the processes whose parent is pid.
func children(t *testing.T, pid int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	if len(stats) == 0 {
		t.Skip("no /proc that lists processes")
	}
	var pids []int
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended meanwhile
		}
		// pid (name) state parent ...
		f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(f) > 1 && f[1] == strconv.Itoa(pid) {
			n, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, n)
		}
	}
	return pids
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatalf("waited a minute for %s", what)
}

// gone waits until a process has ended. A zombie counts as ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	eventually(t, fmt.Sprintf("process %d to end", pid), func() bool {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return true
		}
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err == nil && strings.Contains(string(b), ") Z ")
	})
}

// nothingFinal checks that an interrupted run has left no output, complete or partial.
func nothingFinal(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if n := e.Name(); n == "m" || n == "p" || strings.HasPrefix(n, "p.") || strings.Contains(n, "writing") {
			t.Errorf("left behind: %s", n)
		}
	}
}

// Ctrl-C and SIGTERM end every worker; the exit code is a shell's.
func TestSignalsEndEveryWorker(t *testing.T) {
	for sig, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(sig.String(), func(t *testing.T) {
			dir := t.TempDir()
			launcher, stderr, workers := endless(t, dir)
			if err := launcher.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			err := launcher.Wait()
			if got := launcher.ProcessState.ExitCode(); got != code {
				t.Errorf("exit code %d, want %d: %v\n%s", got, code, err, stderr)
			}
			for _, pid := range workers {
				gone(t, pid)
			}
			lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			if last := lines[len(lines)-1]; !strings.HasPrefix(last, "gvw: ") || !strings.Contains(last, "SIG") {
				t.Errorf("last line: %q", last)
			}
			nothingFinal(t, dir)
		})
	}
}

// When a launcher is killed, its workers end, too.
func TestDeadLauncherLeavesNoOrphans(t *testing.T) {
	dir := t.TempDir()
	launcher, _, workers := endless(t, dir)
	if err := launcher.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = launcher.Wait() // killed: it has no other way to end
	for _, pid := range workers {
		gone(t, pid)
	}
	log, err := os.ReadFile(filepath.Join(dir, "logs", "rank-01.log"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, "launcher is gone") {
		t.Errorf("rank 1's last words: %q", last)
	}
	nothingFinal(t, dir)
}

// With --on_loss abort, a killed worker is reported as the root cause, with exit code 3.
func TestKilledWorkerIsTheRootCause(t *testing.T) {
	dir := t.TempDir()
	launcher, stderr, workers := endless(t, dir, "--on_loss", "abort")
	if err := syscall.Kill(workers[1], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	err := launcher.Wait()
	if got := launcher.ProcessState.ExitCode(); got != 3 {
		t.Errorf("exit code %d, want 3: %v\n%s", got, err, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, "failed first") || !strings.Contains(last, "signal 9") {
		t.Errorf("last line: %q", last)
	}
	for _, pid := range workers {
		gone(t, pid)
	}
	nothingFinal(t, dir)
}

// Programs that ignore signals are killed before gvw run ends: after the grace period, or at a second signal.
func TestNoProgramOutlivesTheLauncher(t *testing.T) {
	for name, c := range map[string]struct {
		run   []string
		ranks int
		again bool // a second signal
	}{
		"one signal":                  {[]string{"-n", "2"}, 2, false},
		"one signal of a rank":        {[]string{"--join", "--join_dir", "meet"}, 1, false},
		"a second signal":             {[]string{"-n", "2"}, 2, true},
		"a second signal of the rank": {[]string{"--join", "--join_dir", "meet"}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var stderr bytes.Buffer
			words := append(append([]string{"run"}, c.run...), "--log_dir", "logs", "--", "sh", "-c", `trap "" INT TERM; echo $$ > pid.$GVW_NODE.new; mv pid.$GVW_NODE.new pid.$GVW_NODE; exec sleep 1000`)
			launcher := exec.Command("gvw", words...)
			launcher.Dir, launcher.Stderr = dir, &stderr
			launcher.Env = append(launcher.Environ(), "PMI_RANK=0", "PMI_SIZE=1", "MPI_LOCALNRANKS=1", "GVW_RUN_ID=signals")
			if err := launcher.Start(); err != nil {
				t.Fatal(err)
			}
			pids := make([]int, c.ranks)
			for rank := range pids {
				eventually(t, fmt.Sprintf("rank %d to start", rank), func() bool {
					text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("pid.%d", rank)))
					if err == nil {
						pids[rank], err = strconv.Atoi(strings.TrimSpace(string(text)))
					}
					return err == nil
				})
				t.Cleanup(func() { _ = syscall.Kill(pids[rank], syscall.SIGKILL) }) // it has ended unless the test fails
			}
			terminate(t, launcher, &stderr, c.again)
			for _, pid := range pids {
				gone(t, pid)
			}
		})
	}
}

// terminate sends SIGTERM to a launcher, waits for its end, and checks its exit code. With again it sends further signals
// until the end: one soon after the first counts as the same.
func terminate(t *testing.T, launcher *exec.Cmd, stderr *bytes.Buffer, again bool) {
	t.Helper()
	if err := launcher.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var signals sync.WaitGroup
	if again {
		signals.Go(func() {
			for {
				select {
				case <-ended:
					return
				case <-time.After(100 * time.Millisecond):
					_ = launcher.Process.Signal(syscall.SIGTERM) // an error means that it has ended
				}
			}
		})
	}
	err := launcher.Wait()
	close(ended)
	signals.Wait()
	if got := launcher.ProcessState.ExitCode(); got != 143 {
		t.Errorf("exit code %d, want 143: %v\n%s", got, err, stderr)
	}
}

// At a second signal gvw's own workers are not killed, so that they remove their temporary files.
func TestWorkersRemoveTheirFilesAfterASecondSignal(t *testing.T) {
	for name, c := range map[string]struct{ run, env []string }{
		"local":  {run: []string{"-n", "1"}},
		"a rank": {[]string{"--join", "--join_dir", "meet"}, []string{"PMI_RANK=0", "PMI_SIZE=1", "MPI_LOCALNRANKS=1", "GVW_RUN_ID=second"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "x.vw"), []byte("1 |a x\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			launcher := exec.Command("gvw", append(append([]string{"run"}, c.run...), "--log_dir", "logs", "--", "-d", "x.vw", "-f", "m")...)
			var stderr bytes.Buffer
			launcher.Dir, launcher.Stderr = dir, &stderr
			// The worker does not end within the time in which a second signal counts as the first one.
			launcher.Env = append(append(launcher.Environ(), "GVW_FAULT=write:1,delay:5s"), c.env...)
			if err := launcher.Start(); err != nil {
				t.Fatal(err)
			}
			temps := func() []string {
				names, err := filepath.Glob(filepath.Join(dir, ".m.writing-*"))
				if err != nil {
					t.Fatal(err)
				}
				return names
			}
			eventually(t, "the worker to write its model", func() bool { return len(temps()) > 0 })
			workers := children(t, launcher.Process.Pid)
			terminate(t, launcher, &stderr, true)
			for _, pid := range workers {
				gone(t, pid)
			}
			if left := temps(); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}
