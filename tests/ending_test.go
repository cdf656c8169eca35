// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tests

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// late starts an attempt of a rank with more options, after the end of the job.
func (j *plainJob) late(rank int, model string, more ...string) result {
	j.t.Helper()
	return run(j.t, j.dir, gvwBin, append(j.args(rank, rank, model), more...)...)
}

// restartWithout starts the server again, without its journal.
func (j *plainJob) restartWithout() {
	j.t.Helper()
	if err := j.server.cmd.Process.Kill(); err != nil {
		j.t.Fatal(err)
	}
	j.server.wait()
	if err := os.Remove(filepath.Join(j.dir, "journal")); err != nil {
		j.t.Fatal(err)
	}
	j.serve()
}

// place returns the run directory.
func (j *plainJob) place() string { return filepath.Join(j.dir, "_gvw", "one") }

// kept returns the one file in the run directory whose name begins with what.
func (j *plainJob) kept(what string) string {
	j.t.Helper()
	found, err := filepath.Glob(filepath.Join(j.place(), what+"-*"))
	if err != nil || len(found) != 1 {
		j.t.Fatalf("%d files %s in the run directory, want 1 (%v)", len(found), what, err)
	}
	return found[0]
}

// TestLateAttemptCopies: an attempt that starts after the end of the job copies its output from
// the run directory and succeeds. It names the files that it cannot copy.
func TestLateAttemptCopies(t *testing.T) {
	t.Parallel()
	j := newPlainJob(t)
	j.startAll(map[int]string{0: "", 1: "", 2: "", 3: ""})
	j.end("")
	want := readFile(t, filepath.Join(j.dir, "model.0"))
	same := func(what, name string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(j.dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: another model than the job's (%v)", what, err)
		}
	}
	if got := readFile(t, j.kept("model")); got != want {
		t.Error("the run directory has another model")
	}

	for _, rank := range []int{0, 3} {
		name := fmt.Sprintf("late.%d", rank)
		r := j.late(rank, name)
		r.ends(t, name, 0, "has finished with model")
		if !strings.Contains(r.stderr, "copied from the run directory") {
			t.Errorf("rank %d does not say where its model is from\n%s", rank, r.stderr)
		}
		same(name, name)
	}
	supervised := run(t, j.dir, gvwBin, append([]string{"supervise", "--", gvwBin}, j.args(0, 0, "supervised")...)...)
	supervised.ends(t, "under gvw supervise", 0)
	same("under gvw supervise", "supervised")

	args := j.args(0, 0, "other")
	args[slices.Index(args, "-b")+1] = "13"
	run(t, j.dir, gvwBin, args...).ends(t, "other options", 6, "run one exists with other options", "bits=13 here, bits=12 there")
	run(t, j.dir, gvwBin, append(args, "--run_dir", "-")...).ends(t, "other options, as the server sees it", 6, "run one has finished", "with other options")
	j.late(0, "asked", "--readable_model", "text").ends(t, "more than the run had", 6, "readable-model")
	nothingLeft(t, j.dir, "other", "text")

	// No server reports that the job has ended, but no other rank joins, and there is a model.
	j.restartWithout()
	r := j.late(1, "forgotten", "--start_timeout", "5s")
	r.ends(t, "a server that has forgotten", 0)
	same("a server that has forgotten", "forgotten")

	name := j.kept("model")
	b := []byte(want)
	b[len(b)/2] ^= 1
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	j.late(1, "damaged", "--start_timeout", "5s").ends(t, "a damaged file", 2, filepath.Base(name), "the file is damaged")
	if err := os.RemoveAll(j.place()); err != nil {
		t.Fatal(err)
	}
	j.late(1, "unstarted", "--start_timeout", "5s").ends(t, "no place, no memory", 4, "did not start")
	nothingLeft(t, j.dir, "damaged", "unstarted")
}

// TestPlaceIsGone: an attempt of a finished run whose run directory is empty reports what is
// missing.
func TestPlaceIsGone(t *testing.T) {
	t.Parallel()
	j := newPlainJob(t)
	j.startAll(map[int]string{0: "", 1: "", 2: "", 3: ""})
	j.end("")
	if err := os.RemoveAll(j.place()); err != nil {
		t.Fatal(err)
	}
	j.late(0, "again").ends(t, "no place", 6, "rank 0 owes again", "_gvw/one/model-", "does not exist", "another run ID")
	j.late(0, "again", "--run_dir", "-").ends(t, "none wanted", 6, "job finished")
	nothingLeft(t, j.dir, "again")
	if _, err := os.Stat(j.place()); err == nil {
		t.Error("it has created the run directory again")
	}
}

// TestFaultOfAGeneration injects a fault in the start of the job that the plan names: the first one is --generation 0.
func TestFaultOfAGeneration(t *testing.T) {
	t.Parallel()
	j := newPlainJob(t)
	for _, c := range []struct {
		in, fault string
		code      int
	}{{"0", "", 70}, {"0", ",generation:2", 4}, {"1", ",generation:2", 70}, {"1", "", 4}, {"7", ",generation:any", 70}} {
		args := append(j.args(0, 0, "m"), "--generation", c.in, "--start_timeout", "10s")
		args[slices.Index(args, "--run_id")+1] = "generation " + c.in + c.fault
		r := run(t, j.dir, "env", append([]string{"GVW_FAULT=work:1,kind:exit" + c.fault, gvwBin}, args...)...)
		r.ends(t, "generation "+c.in+c.fault, c.code)
	}
}

// TestLatePredictions: the run directory holds the outputs of each rank, and --run_dir names
// it.
func TestLatePredictions(t *testing.T) {
	t.Parallel()
	j := newPlainJob(t)
	start4 := func() {
		t.Helper()
		for rank := range j.ranks {
			j.ranks[rank] = start(t, j.dir, gvwBin, j.predicting(rank, "p")...)
		}
		for rank, p := range j.ranks {
			p.wait().ends(t, fmt.Sprintf("rank %d", rank), 0)
		}
	}
	start4()
	run(t, j.dir, gvwBin, j.predicting(2, "late")...).ends(t, "late", 0)
	if got, want := readFile(t, filepath.Join(j.dir, "late.2")), readFile(t, filepath.Join(j.dir, "p.2")); got != want || want == "" {
		t.Error("late predictions differ from those of the job")
	}
	entries, err := os.ReadDir(filepath.Join(j.dir, "out", "one"))
	if err != nil || len(entries) != 5 { // predictions of four, and the options
		t.Errorf("the place has %v (%v)", entries, err)
	}
	if _, err := os.Stat(j.place()); err == nil {
		t.Error("there is a place beside the predictions, too")
	}
}

func (j *plainJob) predicting(rank int, name string) []string {
	args := append(clusterArgs(j.port, 6, rank, len(j.ranks)), "-d", j.parts[rank], "--run_id", "one", "--run_dir", "out/",
		"-p", fmt.Sprintf("%s.%d", name, rank), "--loss_function", "logistic", "--on_loss", "wait")
	return args
}

// TestAttemptInTheEnding: an attempt that joins while files are delivered is a standby and then
// copies its output, also if it is rank 0's.
func TestAttemptInTheEnding(t *testing.T) {
	t.Parallel()
	j := newPlainJob(t)
	j.startAll(map[int]string{0: "delivery:1,delay:8s", 1: "", 2: "", 3: ""})
	j.until("ending")
	more := []*process{j.attempt(0, 0, "more.0", ""), j.attempt(3, 3, "more.1", "")}
	waitFor(t, "both to stand by", func() bool {
		job := j.job()
		return job != nil && job.Standbys == 2
	})
	j.end("")
	for i, p := range more {
		p.wait().ends(t, fmt.Sprintf("attempt %d", i), 0, "is not needed")
		if readFile(t, filepath.Join(j.dir, fmt.Sprintf("more.%d", i))) != readFile(t, filepath.Join(j.dir, "model.0")) {
			t.Errorf("attempt %d has another model than the job", i)
		}
	}
}

// TestServerGoneInTheEnding: a rank that has delivered its files and finds the model in the run
// directory succeeds without the server. A rank that still owes a file does not.
func TestServerGoneInTheEnding(t *testing.T) {
	t.Parallel()
	j := newPlainJob(t)
	for rank := range j.ranks {
		plan := ""
		if rank == 3 {
			plan = "delivery:1,delay:5s"
		}
		args := append([]string{"GVW_FAULT=" + plan, gvwBin}, j.args(rank, rank, fmt.Sprintf("model.%d", rank))...)
		j.ranks[rank] = start(t, j.dir, "env", append(args, "--server_timeout", "2s")...)
	}
	waitFor(t, "three models", func() bool {
		found, _ := filepath.Glob(filepath.Join(j.dir, "model.?"))
		return len(found) == 3
	})
	j.until("ending")
	if err := j.server.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for rank, p := range j.ranks {
		r := p.wait()
		if rank == 3 {
			r.ends(t, "rank 3", 3, "server")
			nothingLeft(t, j.dir, "model.3")
			continue
		}
		r.ends(t, fmt.Sprintf("rank %d", rank), 0)
		if !strings.Contains(r.stderr, "the server has ended without confirming that the run has finished") {
			t.Errorf("rank %d does not say why it ends\n%s", rank, tail(r.stderr, 10))
		}
	}
}

// relay forwards the bytes between a rank and its server until it is cut.
type relay struct {
	t      *testing.T
	at, to string
	mu     sync.Mutex
	open   []io.Closer
}

// pass accepts connections and forwards their bytes.
func (r *relay) pass() {
	r.t.Helper()
	l, err := net.Listen("tcp", r.at)
	if err != nil {
		r.t.Fatal(err)
	}
	r.at = l.Addr().String()
	keep := func(c ...io.Closer) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.open = append(r.open, c...)
	}
	keep(l)
	go func() { // ends with the listener
		for {
			a, err := l.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("tcp", r.to)
			if err != nil {
				a.Close()
				continue
			}
			keep(a, b)
			for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
				go func() {
					_, _ = io.Copy(way[0], way[1])
					a.Close()
					b.Close()
				}()
			}
		}
	}()
}

// cut ends all connections, and refuses new ones.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.open {
		c.Close()
	}
	r.open = nil
}

// TestMissedTheEnd: a rank loses its connection to the server when all its files are delivered,
// and so misses the end. A restarted server with its journal reports the end; without the
// journal the rank finds it in the run directory.
func TestMissedTheEnd(t *testing.T) {
	t.Parallel()
	for _, journal := range []bool{true, false} {
		t.Run(fmt.Sprintf("journal %v", journal), func(t *testing.T) {
			t.Parallel()
			j := newPlainJob(t)
			way := &relay{t: t, at: "127.0.0.1:0", to: "127.0.0.1:" + j.port}
			way.pass()
			t.Cleanup(way.cut)
			for rank := range j.ranks {
				args := append(j.args(rank, rank, fmt.Sprintf("model.%d", rank)), "--replace_timeout", "2s")
				plan := ""
				switch rank {
				case 0:
					plan = "delivery:1,delay:8s"
				case 2:
					_, args[slices.Index(args, "--span_server_port")+1], _ = net.SplitHostPort(way.at)
				}
				j.ranks[rank] = start(t, j.dir, "env", append([]string{"GVW_FAULT=" + plan, gvwBin}, args...)...)
			}
			waitFor(t, "three models", func() bool {
				found, _ := filepath.Glob(filepath.Join(j.dir, "model.?"))
				return len(found) == 3
			})
			waitFor(t, "rank 2 to report its model", func() bool {
				return logged(j.server.stderr.String(), `msg="file delivered" .*rank=2 `) > 0
			})
			way.cut()
			for _, rank := range []int{0, 1, 3} {
				j.ranks[rank].wait().ends(t, fmt.Sprintf("rank %d", rank), 0)
			}
			if journal {
				if err := j.server.cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				j.server.wait()
				j.serve()
			} else {
				j.restartWithout()
			}
			way.pass()
			r := j.ranks[2].wait()
			r.ends(t, "rank 2", 0)
			if said := strings.Contains(r.stderr, "the server has ended without confirming"); said == journal {
				t.Errorf("it ends by the run directory: %v\n%s", said, tail(r.stderr, 20))
			}
		})
	}
}

// TestEndingsAtRandom: ranks under gvw supervise are killed or slow while files are delivered,
// and the server is killed and started again up to twice, with a journal or without. Each
// rank succeeds and has written all its files. GVW_ENDINGS=100 runs 100 jobs,
// GVW_ENDING=17 only the 17th.
func TestEndingsAtRandom(t *testing.T) {
	t.Parallel()
	jobs := func(name string, n int) int {
		if v := os.Getenv(name); v != "" {
			var err error
			if n, err = strconv.Atoi(v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		return n
	}
	first, last := 1, jobs("GVW_ENDINGS", 4)
	if one := jobs("GVW_ENDING", 0); one > 0 {
		first, last = one, one
	}
	want := plainModel(t)
	for seed := first; seed <= last; seed++ {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			endAtRandom(t, want, rand.New(rand.NewPCG(uint64(seed), 7)))
		})
	}
}

func endAtRandom(t *testing.T, want string, r *rand.Rand) {
	j := newPlainJob(t)
	journal, kills := r.IntN(2) == 0, r.IntN(3)
	if !journal {
		j.restartWithout()
	}
	var plans []string
	for rank := range j.ranks {
		plan := ""
		switch r.IntN(6) {
		case 0, 1:
			plan = fmt.Sprintf("delivery:%d,kind:kill", 1+r.IntN(2))
		case 2:
			plan = fmt.Sprintf("write:%d,kind:kill", 1+r.IntN(2))
		case 3, 4:
			plan = fmt.Sprintf("delivery:%d,delay:%dms", 1+r.IntN(2), 1+r.IntN(1500))
		}
		plans = append(plans, plan)
		args := append(j.args(rank, rank, fmt.Sprintf("model.%d", rank)), "--readable_model", fmt.Sprintf("text.%d", rank),
			"--server_timeout", "20s", "--start_timeout", "10s", "--replace_timeout", "10s")
		j.ranks[rank] = start(t, j.dir, "env", append([]string{"GVW_FAULT=" + plan, gvwBin, "supervise", "--", gvwBin}, args...)...)
	}
	for range kills {
		time.Sleep(time.Duration(r.IntN(1200)) * time.Millisecond)
		if journal {
			if err := j.server.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			j.server.wait()
			time.Sleep(time.Duration(r.IntN(800)) * time.Millisecond)
			j.serve()
		} else {
			j.restartWithout()
		}
	}
	about := fmt.Sprintf("journal %v, %d kills, faults %q", journal, kills, plans)
	for rank, p := range j.ranks {
		p.wait().ends(t, fmt.Sprintf("rank %d (%s)", rank, about), 0)
		if got, err := os.ReadFile(filepath.Join(j.dir, fmt.Sprintf("model.%d", rank))); err != nil || string(got) != want {
			t.Errorf("rank %d has another model, or none (%s): %v", rank, about, err)
		}
		if _, err := os.Stat(filepath.Join(j.dir, fmt.Sprintf("text.%d", rank))); err != nil {
			t.Errorf("rank %d owes a file (%s): %v", rank, about, err)
		}
	}
}
