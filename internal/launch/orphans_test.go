// SPDX-License-Identifier: Apache-2.0

//go:build unix

package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// When a launcher is killed by SIGKILL, its workers end.
func TestNoOrphans(t *testing.T) {
	dir := t.TempDir()
	launcher := worker("launch " + dir)
	if err := launcher.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for i := range 3 {
		name := filepath.Join(dir, strconv.Itoa(i))
		wait(t, "worker "+strconv.Itoa(i)+" to start", func() bool {
			b, err := os.ReadFile(name)
			pid, perr := strconv.Atoi(string(b))
			if err == nil && perr == nil {
				pids = append(pids, pid)
			}
			return err == nil && perr == nil
		})
	}
	if err := launcher.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = launcher.Wait() // killed: it has no other way to end
	for _, pid := range pids {
		wait(t, "worker process "+strconv.Itoa(pid)+" to end", func() bool { return !running(pid) })
	}
}

// A restarted worker of a killed launcher ends, too.
func TestNoOrphansOfALaterAttempt(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pid")
	launcher := worker("relaunch " + name)
	if err := launcher.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	wait(t, "the second attempt to start", func() bool {
		b, err := os.ReadFile(name)
		if err == nil {
			pid, err = strconv.Atoi(string(b))
		}
		return err == nil
	})
	if err := launcher.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = launcher.Wait() // killed: it has no other way to end
	wait(t, "the worker to end", func() bool { return !running(pid) })
}

// A stopped worker that is reported as hung is killed and restarted.
func TestHungWorkerIsStartedAgain(t *testing.T) {
	hung := make(chan int, 1)
	time.AfterFunc(200*time.Millisecond, func() { hung <- 0 })
	var first Result
	results, root, err := Job{Restarts: 1, Hung: hung, Died: func(r Result) { first = r }}.Run(t.Context(), workers("hang"))
	if err != nil || root != -1 || results[0].Attempt != 2 {
		t.Errorf("root %d, %+v; %v", root, results, err)
	}
	if !first.Hung || first.Signal != syscall.SIGKILL {
		t.Errorf("the first attempt: %+v", first)
	}
}

// A request to kill a rank is answered: a rank whose process has ended has none.
func TestKillsAreAnswered(t *testing.T) {
	kills, none, killed := make(chan Kill), make(chan bool, 1), make(chan bool, 1)
	go func() {
		kills <- Kill{Rank: 7, Killed: none}
		kills <- Kill{Rank: 0, Killed: killed} // the worker has started: Run receives after that
	}()
	results, _, err := Job{Kills: kills}.Run(t.Context(), workers("hang"))
	if err != nil || results[0].Signal != syscall.SIGKILL || !results[0].Hung {
		t.Errorf("%+v; %v", results, err)
	}
	if <-none || !<-killed {
		t.Error("rank 7 has been killed, or rank 0 has not")
	}
}

// A stopped worker with no work left is continued, so that it ends.
func TestStoppedWorkerIsWokenToEnd(t *testing.T) {
	stopped := make(chan int)
	ended := make(chan struct{})
	var reports sync.WaitGroup
	reports.Go(func() {
		for { // a report before the worker has stopped has no effect
			select {
			case stopped <- 0:
				time.Sleep(20 * time.Millisecond)
			case <-ended:
				return
			}
		}
	})
	results, root, err := Job{Restarts: 1, Stopped: stopped}.Run(t.Context(), workers("hang"))
	close(ended)
	reports.Wait()
	if err != nil || root != -1 || results[0].Attempt != 1 {
		t.Errorf("root %d, %+v; %v", root, results, err)
	}
}

// A stopped worker with no work left also gets the signal that the job is over.
func TestOverReachesWorker(t *testing.T) {
	stopped := make(chan int, 1)
	time.AfterFunc(200*time.Millisecond, func() { stopped <- 0 })
	results, _, err := Job{Restarts: 1, Stopped: stopped, Over: syscall.SIGTERM}.Run(t.Context(), workers("hang-wait"))
	if err != nil || results[0].Signal != syscall.SIGTERM {
		t.Errorf("%+v, %v; want %v", results, err, syscall.SIGTERM)
	}
}

// A stopped worker is continued when the job ends, and handles SIGTERM.
func TestStoppedWorkerIsWoken(t *testing.T) {
	results, root, err := Job{Restarts: 1}.Run(t.Context(), workers("hang", "exit 2 200"))
	if err != nil || root != 1 {
		t.Errorf("root %d, %+v; %v", root, results, err)
	}
}

func init() {
	stopSelf = func() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }
	exists = func(pid int) bool { return syscall.Kill(pid, 0) == nil }
}

// running reports whether a process runs. A zombie, which has ended and whose parent has not
// waited for it, does not run.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(b), ") Z ")
}
