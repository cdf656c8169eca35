// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tests

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hybridJob is a job of four ranks and eight steps, with its output.
type hybridJob struct {
	t    *testing.T
	dir  string
	runs int
}

func newHybridJob(t *testing.T) *hybridJob {
	t.Helper()
	j := &hybridJob{t: t, dir: t.TempDir()}
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range 2000 {
		fmt.Fprintf(&b, "%d |a", 2*rng.IntN(2)-1)
		for range 10 {
			fmt.Fprintf(&b, " f%d:%.3f", rng.IntN(500), rng.Float64())
		}
		b.WriteByte('\n')
	}
	writeFile(t, filepath.Join(j.dir, "t.vw"), b.String())
	return j
}

// args returns a job's with logs of its own.
func (j *hybridJob) args(more ...string) []string {
	j.runs++
	return append([]string{
		"run", "-n", "4", "--log_dir", j.logs(), "--",
		"-d", "t.vw", "--loss_function", "logistic", "--hybrid", "2:6", "-b", "16",
	}, more...)
}

func (j *hybridJob) logs() string { return filepath.Join(j.dir, "logs"+strconv.Itoa(j.runs)) }

// rank0 returns the log of rank 0 of the last run.
func (j *hybridJob) rank0() string { return readFile(j.t, filepath.Join(j.logs(), "rank-00.log")) }

// train runs a job to its end and returns the model.
func (j *hybridJob) train(more ...string) string {
	j.t.Helper()
	gvw(j.t, j.dir, j.args(append([]string{"-f", "m"}, more...)...)...)
	return readFile(j.t, filepath.Join(j.dir, "m"))
}

// slowly starts a job whose ranks are slow from the fourth step on, and returns when all of
// them are in it.
func (j *hybridJob) slowly(more ...string) *process {
	j.t.Helper()
	p := startWith(j.t, j.dir, nil, []string{"GVW_FAULT=work:4,delay:20s"}, gvwBin, j.args(append([]string{"-f", "m"}, more...)...)...)
	waitFor(j.t, "the fourth step of all ranks", func() bool {
		for rank := range 4 {
			log, err := os.ReadFile(filepath.Join(j.logs(), fmt.Sprintf("rank-%02d.log", rank)))
			if err != nil || !bytes.Contains(log, []byte("fault: rank")) {
				return false
			}
		}
		return true
	})
	return p
}

// kept returns the names of the checkpoints and of those under way.
func (j *hybridJob) kept() []string {
	j.t.Helper()
	entries, err := os.ReadDir(j.dir)
	if err != nil {
		j.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if strings.Contains(e.Name(), "ck.r") {
			names = append(names, e.Name())
		}
	}
	return names
}

// awaitKept waits until the checkpoint of the third step exists, readable only by its owner.
func (j *hybridJob) awaitKept() (newest string) {
	j.t.Helper()
	waitFor(j.t, "the checkpoint of step 3", func() bool {
		names := j.kept()
		i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, "ck.r") && strings.HasSuffix(n, ".s3") })
		if i >= 0 {
			newest = filepath.Join(j.dir, names[i])
		}
		return i >= 0 && len(names) == 2
	})
	info, err := os.Stat(newest)
	if err != nil {
		j.t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		j.t.Errorf("%s has mode %o, want 600", newest, got)
	}
	return newest
}

func kill(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		p, err := os.FindProcess(pid)
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			t.Fatalf("cannot kill %d: %v", pid, err)
		}
	}
}

// TestAllWorkersAreLost kills all workers of a job at once, in its fourth step. With
// checkpoints the job continues from the third step, without them it starts again; the model
// has the same bytes.
func TestAllWorkersAreLost(t *testing.T) {
	t.Parallel()
	j := newHybridJob(t)
	whole := j.train()
	for _, more := range [][]string{nil, {"--checkpoint", "ck"}, {"--checkpoint", "ck", "--checkpoint_every", "2"}} {
		p := j.slowly(more...)
		from := ""
		switch len(more) {
		case 2:
			j.awaitKept()
			from = `msg="going on from a checkpoint" rank=0 step=3`
		case 4:
			waitFor(t, "the checkpoint of step 2", func() bool { return len(j.kept()) == 1 && strings.HasPrefix(j.kept()[0], "ck.r") })
			from = `msg="going on from a checkpoint" rank=0 step=2`
		}
		kill(t, childrenOf(p.cmd.Process.Pid)...)
		if r := p.wait(); r.code != 0 {
			t.Fatalf("%v: exit code %d\n%s", more, r.code, r.stderr)
		}
		for rank := range 4 {
			if said := fmt.Sprintf("rank %d has ended (ended by signal 9", rank); !strings.Contains(p.stderr.String(), said) {
				t.Errorf("%v: %q is missing:\n%s", more, said, p.stderr.String())
			}
		}
		if readFile(t, filepath.Join(j.dir, "m")) != whole {
			t.Errorf("%v: the model differs from that of an undisturbed job", more)
		}
		if log := j.rank0(); !strings.Contains(log, from) || from == "" && strings.Contains(log, "checkpoint") {
			t.Errorf("%v: rank 0 does not say %q, or too much:\n%s", more, from, log)
		}
		if names := j.kept(); len(names) > 0 {
			t.Errorf("%v: the job has finished and left %v", more, names)
		}
	}
}

// TestLauncherIsLost kills gvw run with all its processes. A second run continues from the
// checkpoints of the first if it is asked to and has the same options.
func TestLauncherIsLost(t *testing.T) {
	t.Parallel()
	j := newHybridJob(t)
	whole, otherWhole := j.train(), j.train("--l2", "2")
	p := j.slowly("--checkpoint", "ck")
	newest := j.awaitKept()
	workers := childrenOf(p.cmd.Process.Pid)
	if len(workers) != 4 {
		t.Fatalf("%d workers run, want 4", len(workers))
	}
	kill(t, p.cmd.Process.Pid)
	p.wait()
	waitFor(t, "the workers to end", func() bool {
		return !slices.ContainsFunc(workers, func(pid int) bool { f := statOf(pid); return len(f) > 0 && f[0] != "Z" })
	})
	left := j.kept()
	if len(left) != 2 {
		t.Fatalf("left are %v, want two checkpoints", left)
	}
	state := readFile(t, newest)
	const goingOn = "going on from a checkpoint"
	// The other checkpoint is of step 2, or of step 1 if that was still written when step 3
	// ended.
	before := left[slices.IndexFunc(left, func(n string) bool { return !strings.HasSuffix(n, ".s3") })]
	before = before[strings.LastIndex(before, ".s")+2:]

	// A continuation is refused with other options, with other data, and with the same data
	// split among more ranks or in another way.
	lines := strings.SplitAfter(readFile(t, filepath.Join(j.dir, "t.vw")), "\n")
	writeFile(t, filepath.Join(j.dir, "u.vw"), strings.Join(lines[:len(lines)-2], ""))
	for _, no := range []struct {
		name string
		args func(args []string) []string
		says []string
	}{
		{"options", func(args []string) []string { return append(args, "--l2", "2") }, []string{"l2=2 here, l2=0 there"}},
		{"ranks", func(args []string) []string { args[2] = "3"; return args }, []string{"total=3 here, total=4 there"}},
		{"data", func(args []string) []string { args[slices.Index(args, "t.vw")] = "u.vw"; return args }, []string{"was made from", "examples in"}},
		{"sharding", func(args []string) []string { return slices.Insert(args, 3, "--shard", "lines") }, []string{"was made from", "--data in the same shards"}},
	} {
		r := run(t, j.dir, gvwBin, no.args(j.args("-f", "refused", "--checkpoint", "ck", "--resume"))...)
		r.ends(t, "other "+no.name, 6, append(no.says, "omit --resume")...)
		if names := j.kept(); len(names) != 2 {
			t.Errorf("other %s: left are %v, want two checkpoints", no.name, names)
		}
		nothingLeft(t, j.dir, "refused")
	}

	for _, step := range []struct {
		name    string
		damaged bool
		options []string
		model   string
		says    []string
		keeps   int // files of the first run, afterwards
	}{
		{"not asked to", false, nil, whole, []string{"use --resume to continue from it"}, 2},
		{"other options, not asked to", false, []string{"--l2", "2"}, otherWhole, []string{"it belongs to other options: l2=2 here, l2=0 there"}, 2},
		{"damaged", true, []string{"--resume"}, whole, []string{newest[len(j.dir)+1:], "checksum", goingOn + `" rank=0 step=` + before}, 0},
		{"whole", false, []string{"--resume"}, whole, []string{"using the checkpoint of another run", goingOn + `" rank=0 step=3`}, 0},
	} {
		b := []byte(state)
		if step.damaged {
			b[len(b)/2] ^= 1
		}
		if err := os.WriteFile(newest, b, 0o600); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		got := j.train(append([]string{"--checkpoint", "ck"}, step.options...)...)
		if got != step.model {
			t.Errorf("%s: the model differs from that of an undisturbed job", step.name)
		}
		log := j.rank0()
		for _, words := range step.says {
			if !strings.Contains(log, words) {
				t.Errorf("%s: the log of rank 0 does not say %q:\n%s", step.name, words, log)
			}
		}
		if slices.ContainsFunc(step.says, func(s string) bool { return strings.HasPrefix(s, goingOn) }) != strings.Contains(log, goingOn) {
			t.Errorf("%s: it went on, or did not:\n%s", step.name, log)
		}
		if names := j.kept(); len(names) != step.keeps {
			t.Errorf("%s: left are %v, want %d", step.name, names, step.keeps)
		}
		t.Logf("%s: %v", step.name, time.Since(began))
	}
}
