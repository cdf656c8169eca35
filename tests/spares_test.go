// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tests

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spareOf returns the rank that a spare has taken, by its log; -1: none.
func spareOf(t *testing.T, dir string, spare int) int {
	t.Helper()
	log := readFile(t, filepath.Join(dir, "logs", fmt.Sprintf("spare-%02d.log", spare)))
	rank := -1
	if _, after, found := strings.Cut(log, "takes the place of a lost rank\" rank="); found {
		if _, err := fmt.Sscan(after, &rank); err != nil {
			t.Fatal(err)
		}
	}
	return rank
}

// TestSpareTakesAnyRank: any of four workers gets SIGKILL, and none is started again. A spare
// reads its shard and takes the state, and the model is that of an undisturbed job.
func TestSpareTakesAnyRank(t *testing.T) {
	t.Parallel()
	want := whole(t)
	for victim := range 4 {
		for _, work := range []int{1, 3, 5} {
			t.Run(fmt.Sprintf("rank %d in step %d", victim, work), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				r := startSparing(t, dir, fmt.Sprintf("work:1,delay:200ms,attempt:any;rank:%d,work:%d,kind:kill", victim, work), 1).wait()
				switch {
				case r.code != 0:
					t.Fatalf("exit code %d\n%s", r.code, r.stderr)
				case readFile(t, filepath.Join(dir, "m")) != want:
					t.Error("the model is another one than that of an undisturbed job")
				case spareOf(t, dir, 0) != victim:
					t.Errorf("the spare has taken rank %d, want %d\n%s", spareOf(t, dir, 0), victim, r.stderr)
				}
			})
		}
	}
}

// peek returns the current content of a log.
func peek(dir, name string) string {
	b, _ := os.ReadFile(filepath.Join(dir, "logs", name)) // the file may not exist yet
	return string(b)
}

// startSparing starts a job with spares and without restarts, with a plan for GVW_FAULT.
func startSparing(t *testing.T, dir, plan string, spares int, more ...string) *process {
	t.Helper()
	writeFile(t, filepath.Join(dir, "s.vw"), recoveryData(t))
	args := []string{
		"GVW_FAULT=" + plan, gvwBin, "run", "-n", "4", "--spares", fmt.Sprint(spares), "--max_restarts", "0",
		"--log_dir", "logs", "--", "-d", "s.vw", "-f", "m",
	}
	return start(t, dir, "env", append(args, recovering(more...)...)...)
}

// sparePid returns the process of a spare, by the number that its launcher has put into the
// environment.
func sparePid(t *testing.T, launcher, spare int) int {
	t.Helper()
	for _, pid := range childrenOf(launcher) {
		args, err1 := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		env, err2 := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err1 != nil || err2 != nil {
			continue // it has ended meanwhile
		}
		if bytes.Contains(args, []byte("\x00--spare\x00")) && bytes.Contains(env, fmt.Appendf(nil, "\x00GVW_ATTEMPT=%d\x00", spare+1)) {
			return pid
		}
	}
	t.Fatalf("spare %d has no process", spare)
	return 0
}

// TestASpareThatWorksIsLost: another spare replaces it.
func TestASpareThatWorksIsLost(t *testing.T) {
	t.Parallel()
	want := whole(t)
	dir := t.TempDir()
	p := startSparing(t, dir, "work:1,delay:1s,attempt:any;work:6,delay:4s,attempt:any;rank:1,op:10,kind:kill", 2)
	first := -1
	waitFor(t, "a spare to have taken rank 1", func() bool {
		for spare := range 2 {
			if strings.Contains(peek(dir, fmt.Sprintf("spare-%02d.log", spare)), `a lost rank" rank=1`) {
				first = spare
			}
		}
		return first >= 0
	})
	kill(t, sparePid(t, p.cmd.Process.Pid, first))
	r := p.wait()
	switch {
	case r.code != 0:
		t.Fatalf("exit code %d\n%s", r.code, r.stderr)
	case readFile(t, filepath.Join(dir, "m")) != want:
		t.Error("the model is another one than that of an undisturbed job")
	case spareOf(t, dir, 1-first) != 1:
		t.Errorf("the other spare has taken rank %d, want 1\n%s", spareOf(t, dir, 1-first), r.stderr)
	}
}

// TestRanksWithoutRestarts: two workers at once, all of them, and one that is stopped.
func TestRanksWithoutRestarts(t *testing.T) {
	t.Parallel()
	want := whole(t)
	for _, c := range []struct {
		name, plan string
		spares     int
		taken      int // ranks that spares have taken
	}{
		{"two at once", "rank:1,op:10,kind:kill;rank:2,op:10,kind:kill", 2, 2},
		{"all at once", "work:4,kind:kill", 4, 4},
		{"a stopped one", "rank:3,op:10,kind:stop", 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := startSparing(t, dir, c.plan, c.spares)
			r := p.wait()
			if r.code != 0 {
				t.Fatalf("exit code %d\n%s", r.code, r.stderr)
			}
			if readFile(t, filepath.Join(dir, "m")) != want {
				t.Error("the model is another one than that of an undisturbed job")
			}
			taken := 0
			for spare := range c.spares {
				if spareOf(t, dir, spare) >= 0 {
					taken++
				}
			}
			if taken != c.taken {
				t.Errorf("%d spares have taken a rank, want %d\n%s", taken, c.taken, r.stderr)
			}
		})
	}
}

// TestSpareJoinsByHand: ranks that were started one by one, from a list of files, and a spare.
func TestSpareJoinsByHand(t *testing.T) {
	t.Parallel()
	want := plainModel(t)
	j := newPlainJob(t)
	j.startAll(map[int]string{2: "work:3,kind:kill"})
	args := append([]string{
		"-d", filepath.Join(j.dir, "part.{rank}"), "-f", "model.{rank}", "--spare", "--run_id", "one",
		"--span_server", "127.0.0.1", "--span_server_port", j.port, "--unique_id", "6", "--total", "4",
	}, recovering()...)
	spare := start(t, j.dir, gvwBin, args...)
	if r := j.ranks[2].wait(); r.code != -1 {
		t.Errorf("rank 2 was not killed: exit code %d", r.code)
	}
	j.ranks[2] = spare
	j.end(want)
}
