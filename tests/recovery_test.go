// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tests

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// recovers are the options of jobs that lose a rank: a small hybrid of some 27 collectives. The time limits are short, but
// longer than a busy machine stops a process.
var recovers = strings.Fields("--loss_function logistic --hybrid 2:4 -b 12 --l2 1 --heartbeat 200ms --lost_after 4s --stall_timeout 8s --on_loss wait")

// recovering returns recovers and more, without the values of recovers that more sets.
func recovering(more ...string) []string {
	options := slices.Clone(recovers)
	for _, option := range more {
		if i := slices.Index(options, option); i >= 0 && strings.HasPrefix(option, "-") {
			options = slices.Delete(options, i, i+2)
		}
	}
	return append(options, more...)
}

// lost is the outcome of a job under gvw run.
type lost struct {
	result
	dir string
}

// restarted returns the ranks that the launcher has logged as restarted.
func (l lost) restarted() (ranks []int) {
	for _, m := range regexp.MustCompile(`gvw run: rank (\d+) has ended`).FindAllStringSubmatch(l.stderr, -1) {
		rank, _ := strconv.Atoi(m[1]) // digits
		ranks = append(ranks, rank)
	}
	return ranks
}

// wired returns how many epochs the job had.
func (l lost) wired(t *testing.T) int {
	t.Helper()
	return strings.Count(readFile(t, filepath.Join(l.dir, "logs", "server.log")), `msg="job wired"`)
}

// struck reports whether a fault has triggered in a rank.
func (l lost) struck(t *testing.T, rank int) bool {
	t.Helper()
	return strings.Contains(readFile(t, filepath.Join(l.dir, "logs", fmt.Sprintf("rank-%02d.log", rank))), `msg="fault: `)
}

// processes returns the number of processes of a rank, by their log lines about the input.
func (l lost) processes(t *testing.T, rank int) int {
	t.Helper()
	return strings.Count(readFile(t, filepath.Join(l.dir, "logs", fmt.Sprintf("rank-%02d.log", rank))), "Reading datafile = ")
}

// lose runs the job of four workers under a plan of GVW_FAULT.
func lose(t *testing.T, plan string, more ...string) lost {
	t.Helper()
	l := lost{dir: t.TempDir()}
	l.result = startLosing(t, l.dir, plan, more...).wait()
	return l
}

func startLosing(t *testing.T, dir, plan string, more ...string) *process {
	t.Helper()
	writeFile(t, filepath.Join(dir, "s.vw"), recoveryData(t))
	args := []string{"GVW_FAULT=" + plan, gvwBin, "run", "-n", "4", "--log_dir", "logs", "--", "-d", "s.vw", "-f", "m"}
	return start(t, dir, "env", append(args, recovering(more...)...)...)
}

// recoveryData returns few examples, so that the recoveries dominate the duration.
func recoveryData(t *testing.T) string {
	t.Helper()
	lines := strings.SplitAfter(readFile(t, filepath.Join("testdata", "golden", "s1000.vw.gz")), "\n")
	return strings.Join(lines[:400], "")
}

// workersOf returns the processes of a launcher's ranks.
func workersOf(launcher int) map[int]int {
	found := map[int]int{}
	for _, pid := range childrenOf(launcher) {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			continue // it has ended meanwhile
		}
		for arg := range bytes.SplitSeq(line, []byte{0}) {
			if value, ok := strings.CutPrefix(string(arg), "--node="); ok {
				if rank, err := strconv.Atoi(value); err == nil {
					found[rank] = pid
				}
			}
		}
	}
	return found
}

// childrenOf returns the processes that a process has started.
func childrenOf(parent int) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	for _, name := range names {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name))) // digits
		if f := statOf(pid); len(f) > 1 && f[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// whole returns the model of an undisturbed job.
func whole(t *testing.T) string {
	t.Helper()
	l := lose(t, "")
	if l.code != 0 || l.wired(t) != 1 {
		t.Fatalf("without a loss: exit code %d, %d epochs\n%s", l.code, l.wired(t), l.stderr)
	}
	return readFile(t, filepath.Join(l.dir, "m"))
}

// goesOn checks that a job has ended with the model of the undisturbed one, and that only the
// victims were started again.
func (l lost) goesOn(t *testing.T, want string, victims ...int) {
	t.Helper()
	switch {
	case l.code != 0:
		t.Errorf("exit code %d\n%s", l.code, l.stderr)
		return
	case readFile(t, filepath.Join(l.dir, "m")) != want:
		t.Error("the model is another one than that of an undisturbed job")
	}
	again := l.restarted()
	for rank := range 4 {
		if slices.Contains(victims, rank) {
			if !slices.Contains(again, rank) {
				t.Errorf("rank %d was not started again\n%s", rank, l.stderr)
			}
			continue
		}
		if n := l.processes(t, rank); slices.Contains(again, rank) || n != 1 {
			t.Errorf("rank %d had %d processes, want one\n%s", rank, n, l.stderr)
		}
	}
}

// TestAnyWorkerKilledAnywhere kills each of four workers at the beginning of every third
// collective of a hybrid, and at each other kind of point. The model has the bytes of an
// undisturbed job, and the processes of the other three continue.
func TestAnyWorkerKilledAnywhere(t *testing.T) {
	t.Parallel()
	want := whole(t)
	points := strings.Fields("wiring:1 wiring:2 work:1 work:4 commit:2 commit:5")
	const last = 25
	for op := 1; op <= last; op += 3 {
		points = append(points, fmt.Sprintf("op:%d", op))
	}
	if testing.Short() {
		t.Log("sampled: one of four ranks at each point")
	}
	for i, point := range points {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			for victim := range 4 {
				if testing.Short() && victim != i%4 {
					continue
				}
				l := lose(t, fmt.Sprintf("rank:%d,%s,kind:kill", victim, point))
				if !l.struck(t, victim) {
					t.Errorf("rank %d was not killed", victim)
				}
				l.goesOn(t, want, victim)
			}
		})
	}
	t.Run("no more collectives", func(t *testing.T) {
		t.Parallel()
		if l := lose(t, fmt.Sprintf("rank:2,op:%d,kind:kill", last+3)); l.struck(t, 2) {
			t.Error("the job has more collectives than this test expects")
		}
	})
	for _, point := range []string{"delivery:1", "write:1"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			l := lose(t, "rank:0,"+point+",kind:kill")
			l.goesOn(t, want, 0)
			if !l.struck(t, 0) {
				t.Error("rank 0 was not killed")
			}
		})
	}
}

// TestSeveralWorkersKilled: two at once, all but one, all, and one twice.
func TestSeveralWorkersKilled(t *testing.T) {
	t.Parallel()
	want := whole(t)
	for _, c := range []struct {
		name, plan string
		victims    []int
	}{
		{"two at once", "rank:1,op:10,kind:kill;rank:2,op:10,kind:kill", []int{1, 2}},
		{"two at work", "rank:0,work:4,kind:kill;rank:3,work:4,kind:kill", []int{0, 3}},
		{"all but rank 3", "rank:0,op:10,kind:kill;rank:1,op:10,kind:kill;rank:2,op:10,kind:kill", []int{0, 1, 2}},
		{"all but rank 0", "rank:1,work:3,kind:kill;rank:2,work:3,kind:kill;rank:3,work:3,kind:kill", []int{1, 2, 3}},
		{"all", "work:4,kind:kill", []int{0, 1, 2, 3}},
		{"one twice", "rank:1,op:4,kind:kill;rank:1,op:4,kind:kill,attempt:2", []int{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := lose(t, c.plan)
			l.goesOn(t, want, c.victims...)
			for _, rank := range c.victims {
				if !l.struck(t, rank) {
					t.Errorf("rank %d was not killed", rank)
				}
			}
		})
	}
}

// TestAFlippedByteEndsTheEpoch: a flipped byte ends the epoch and does not reach the model. No
// process ends, and the step is repeated. The same holds for dropped connections.
func TestAFlippedByteEndsTheEpoch(t *testing.T) {
	t.Parallel()
	want := whole(t)
	for _, kind := range []string{"garble", "drop"} {
		for _, op := range []int{2, 11, 20} {
			t.Run(fmt.Sprint(kind, " at ", op), func(t *testing.T) {
				t.Parallel()
				for _, victim := range []int{0, 3} {
					// No rank is lost because the machine is busy.
					l := lose(t, fmt.Sprintf("rank:%d,op:%d,kind:%s", victim, op, kind), "--shm", "off", "--lost_after", "20s")
					l.goesOn(t, want)
					if n := l.wired(t); !l.struck(t, victim) || n < 2 {
						t.Errorf("%d epochs, want the end of one by rank %d", n, victim)
					}
				}
			})
		}
	}
}

// TestLauncherKilled: no worker continues without its launcher. Workers exit with code 3 and
// leave no final file.
func TestLauncherKilled(t *testing.T) {
	// Orphans of the launcher become children of this process, which can then read their exit
	// codes.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	dir := t.TempDir()
	p := startLosing(t, dir, "work:1,delay:2s")
	waitFor(t, "four workers at work", func() bool {
		b, err := os.ReadFile(filepath.Join(dir, "logs", "server.log"))
		return err == nil && strings.Contains(string(b), "joined=4 ")
	})
	workers := workersOf(p.cmd.Process.Pid)
	if len(workers) != 4 {
		t.Fatalf("found the workers %v, want 4", workers)
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	for rank, pid := range workers {
		var code int
		waitFor(t, fmt.Sprintf("rank %d to end", rank), func() bool {
			got, ended, err := reaped(pid)
			if err != nil {
				t.Fatalf("rank %d: %v", rank, err)
			}
			code = got
			return ended
		})
		if code != 3 {
			t.Errorf("rank %d: exit code %d, want 3", rank, code)
		}
		// Rank 0 logs through the launcher.
		log := readFile(t, filepath.Join(dir, "logs", fmt.Sprintf("rank-%02d.log", rank)))
		if rank > 0 && !strings.Contains(tail(log, 1), "the launcher is gone") {
			t.Errorf("rank %d does not say why it ends: %q", rank, tail(log, 1))
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "m")); err == nil {
		t.Error("there is a model")
	}
}
