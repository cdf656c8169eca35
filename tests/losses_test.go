// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tests

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// plainJob is a job of four ranks that the test starts itself, with its own server.
type plainJob struct {
	t      *testing.T
	dir    string
	port   string
	parts  []string
	server *process
	ranks  []*process
	policy string   // value of --on_loss; "": that of recovers
	more   []string // options
}

func newPlainJob(t *testing.T) *plainJob {
	t.Helper()
	j := &plainJob{t: t, dir: t.TempDir(), port: freePort(t), ranks: make([]*process, 4)}
	j.parts = shards(t, j.dir, writeFile(t, filepath.Join(j.dir, "s.vw"), recoveryData(t)), len(j.ranks))
	j.serve()
	t.Cleanup(func() {
		_ = j.server.cmd.Process.Signal(os.Interrupt)
		j.server.wait()
		if t.Failed() {
			t.Logf("server's log:\n%s", tail(j.server.res.stderr, 40))
		}
	})
	return j
}

// serve starts the server, with the journal of the one before.
func (j *plainJob) serve() {
	j.t.Helper()
	j.server = start(j.t, j.dir, serverBin, "--nondaemon", "--bind", "127.0.0.1", "--port", j.port,
		"--state", "journal", "--lost_after", "4s", "--grace", "1s")
	waitFor(j.t, "the server to listen on port "+j.port, func() bool { return dialable("127.0.0.1:" + j.port) })
}

// args returns the arguments of a rank that trains on a part of the data and writes model.
func (j *plainJob) args(rank, part int, model string) []string {
	args := append(clusterArgs(j.port, 6, rank, len(j.ranks)), "-d", j.parts[part], "-f", model, "--run_id", "one")
	args = append(args, recovering(j.more...)...)
	if i := slices.Index(args, "--on_loss"); j.policy != "" {
		args[i+1] = j.policy
	}
	return args
}

// attempt starts an attempt of a rank with a plan for GVW_FAULT.
func (j *plainJob) attempt(rank, part int, model, plan string) *process {
	j.t.Helper()
	return start(j.t, j.dir, "env", append([]string{"GVW_FAULT=" + plan, gvwBin}, j.args(rank, part, model)...)...)
}

// slowly is a plan that leaves time for faults of others. The last step is much longer than the delays of a busy machine, so
// that the job does not end before the fault.
const slowly = "work:1,delay:200ms;work:6,delay:5s"

// startAll starts all ranks. Ranks without a plan are slowed down, to leave time for faults of
// the others.
func (j *plainJob) startAll(plans map[int]string) {
	j.t.Helper()
	for rank := range j.ranks {
		plan, struck := plans[rank]
		if !struck {
			plan = slowly
		}
		j.ranks[rank] = j.attempt(rank, rank, fmt.Sprintf("model.%d", rank), plan)
	}
}

// supervise starts all ranks under gvw supervise.
func (j *plainJob) supervise() {
	j.t.Helper()
	for rank := range j.ranks {
		args := append([]string{"GVW_FAULT=" + slowly, gvwBin, "supervise", "--", gvwBin}, j.args(rank, rank, fmt.Sprintf("model.%d", rank))...)
		j.ranks[rank] = start(j.t, j.dir, "env", args...)
	}
}

// job returns the job's status at the server; nil: unknown.
func (j *plainJob) job() *protocol.JobStatus {
	st, err := client.Status(j.t.Context(), nil, "127.0.0.1:"+j.port, nil)
	if err != nil || len(st.Jobs) != 1 {
		return nil
	}
	return &st.Jobs[0]
}

// until waits until the job has a state.
func (j *plainJob) until(state string) {
	j.t.Helper()
	waitFor(j.t, "the job to be "+state, func() bool {
		job := j.job()
		return job != nil && job.State == state
	})
}

// untilPass waits until all ranks have reported pass n.
func (j *plainJob) untilPass(n uint32) {
	j.t.Helper()
	waitFor(j.t, fmt.Sprintf("all ranks to be in pass %d", n), func() bool {
		job := j.job()
		return job != nil && len(job.Ranks) == len(j.ranks) &&
			!slices.ContainsFunc(job.Ranks, func(r protocol.RankStatus) bool { return r.Pass < n })
	})
}

// serverLog ends the server and returns its log.
func (j *plainJob) serverLog() string {
	j.t.Helper()
	if err := j.server.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		j.t.Fatal(err)
	}
	return j.server.wait().stderr
}

// end checks that all ranks succeed and write the model of an undisturbed job.
func (j *plainJob) end(want string) {
	j.t.Helper()
	for rank, p := range j.ranks {
		if r := p.wait(); r.code != 0 {
			j.t.Fatalf("rank %d: exit code %d\n%s", rank, r.code, tail(r.stderr, 20))
		}
	}
	if got := string(sameModels(j.t, j.dir, len(j.ranks))); want != "" && got != want {
		j.t.Error("the model is another one than that of an undisturbed job")
	}
}

// plainModel returns the model of an undisturbed job.
func plainModel(t *testing.T) string {
	t.Helper()
	j := newPlainJob(t)
	j.startAll(map[int]string{0: "", 1: "", 2: "", 3: ""})
	j.end("")
	return readFile(t, filepath.Join(j.dir, "model.0"))
}

// logged returns the number of lines of a log that match.
func logged(log, match string) int {
	return len(regexp.MustCompile(`(?m)^time=\S+ .*`+match).FindAllString(log, -1))
}

// TestStoppedWorker stops a rank. All others name it after --lost_after and continue with
// its next attempt. When the rank is continued, in the middle or after the end, it disturbs no
// other rank, exits with a code for this case, and writes no file.
func TestStoppedWorker(t *testing.T) {
	t.Parallel()
	want := plainModel(t)
	const victim = 2
	for _, early := range []bool{true, false} {
		t.Run(fmt.Sprintf("continued before the end %v", early), func(t *testing.T) {
			t.Parallel()
			j := newPlainJob(t)
			j.startAll(map[int]string{victim: "work:3,kind:stop"})
			stopped := j.ranks[victim]
			j.until("recovering")
			if f := statOf(stopped.cmd.Process.Pid); len(f) == 0 || f[0] != "T" {
				t.Fatalf("the rank is not stopped: %q", f)
			}
			j.ranks[victim] = j.attempt(victim, victim, "again", "")
			goOn := func() {
				if err := stopped.cmd.Process.Signal(sigCont); err != nil {
					t.Fatal(err)
				}
			}
			if early {
				j.until("wired")
				goOn()
			}
			for rank, p := range j.ranks {
				if r := p.wait(); r.code != 0 {
					t.Fatalf("rank %d: exit code %d\n%s", rank, r.code, tail(r.stderr, 20))
				}
			}
			if !early {
				goOn()
			}
			r := stopped.wait()
			// It is fenced, or learns that the job has ended without it.
			said := tail(r.stderr, 1)
			idle := r.code == 0 && strings.Contains(said, "this attempt of rank 2 is not needed")
			if r.code != 3 && !idle {
				t.Errorf("the stopped rank: exit code %d, want 3\n%s", r.code, tail(r.stderr, 10))
			}
			nothingLeft(t, j.dir, fmt.Sprintf("model.%d", victim))
			for rank, p := range j.ranks {
				name := fmt.Sprintf("model.%d", rank)
				if rank == victim {
					name = "again"
				} else {
					if logged(p.res.stderr, `rank 2 .*silent for \d`) == 0 {
						t.Errorf("rank %d does not name the stopped rank\n%s", rank, p.res.stderr)
					}
				}
				if readFile(t, filepath.Join(j.dir, name)) != want {
					t.Errorf("rank %d has another model than that of an undisturbed job", rank)
				}
			}
		})
	}
}

// TestServerKilled kills the server in the middle of a job under gvw supervise and starts it
// again with its journal. Ranks continue meanwhile, and only a rank that is killed with the
// server is started again.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	want := plainModel(t)
	for _, victim := range []int{-1, 0, 3} {
		t.Run(fmt.Sprintf("with rank %d", victim), func(t *testing.T) {
			t.Parallel()
			j := newPlainJob(t)
			j.supervise()
			j.untilPass(2)
			if err := j.server.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if victim >= 0 {
				workers := childrenOf(j.ranks[victim].cmd.Process.Pid)
				if len(workers) != 1 {
					t.Fatalf("rank %d is the processes %v, want one", victim, workers)
				}
				kill(t, workers[0])
			}
			j.server.wait()
			time.Sleep(300 * time.Millisecond)
			j.serve()
			j.end(want)
			for rank, p := range j.ranks {
				if again := strings.Contains(p.res.stderr, "gvw supervise: the command has ended"); again != (rank == victim) {
					t.Errorf("rank %d was started again: %v\n%s", rank, again, tail(p.res.stderr, 20))
				}
				if !strings.Contains(p.res.stderr, `msg="the server is back"`) && rank != victim {
					t.Errorf("rank %d has not noticed that the server was away\n%s", rank, tail(p.res.stderr, 20))
				}
			}
		})
	}
}

// TestLauncherOfOneRankIsLost: a worker whose launcher is killed leaves the job as a lost rank, and does
// not end it. An attempt under another launcher takes the rank over.
func TestLauncherOfOneRankIsLost(t *testing.T) {
	t.Parallel()
	want := plainModel(t)
	j := newPlainJob(t)
	j.supervise()
	j.untilPass(2)
	lost := j.ranks[2].cmd.Process
	workers := childrenOf(lost.Pid)
	if len(workers) != 1 {
		t.Fatalf("rank 2 is the processes %v, want one", workers)
	}
	if err := lost.Kill(); err != nil {
		t.Fatal(err)
	}
	j.ranks[2].wait()
	waitFor(t, "the worker of the killed launcher to end", func() bool { f := statOf(workers[0]); return len(f) == 0 || f[0] == "Z" })
	j.ranks[2] = j.attempt(2, 2, "model.2", "")
	j.end(want)
}

// TestReplacementWithAnotherShard: a replacement with another shard is refused, and the right
// one, which joins after it, is not.
func TestReplacementWithAnotherShard(t *testing.T) {
	t.Parallel()
	want := plainModel(t)
	j := newPlainJob(t)
	j.startAll(map[int]string{2: "work:3,kind:kill"})
	j.ranks[2].wait()
	wrong := j.attempt(2, 0, "model.2", "").wait()
	if last := tail(wrong.stderr, 1); wrong.code != 6 || !strings.Contains(last, "shard differs") {
		t.Errorf("another shard: exit code %d, want 6; %q", wrong.code, last)
	}
	if _, err := os.Stat(filepath.Join(j.dir, "model.2")); err == nil {
		t.Error("who was killed, or who was refused, has left a model")
	}
	j.ranks[2] = j.attempt(2, 2, "model.2", "")
	j.end(want)
}

// TestDuplicateStandsBy: a second attempt of a live rank waits. When the job has ended without
// it, it copies its output from the run directory and ends too.
func TestDuplicateStandsBy(t *testing.T) {
	t.Parallel()
	j := newPlainJob(t)
	j.more = []string{"--slow_factor", "0"} // on a busy machine any rank may be slow
	j.startAll(nil)
	j.untilPass(1)
	second := j.attempt(1, 1, "second", "")
	j.end("")
	if r := second.wait(); r.code != 0 || !strings.Contains(tail(r.stderr, 1), "this attempt of rank 1 is not needed") {
		t.Errorf("exit code %d\n%s", r.code, tail(r.stderr, 10))
	}
	if readFile(t, filepath.Join(j.dir, "second")) != readFile(t, filepath.Join(j.dir, "model.1")) {
		t.Error("it has not written the job's model")
	}
}
