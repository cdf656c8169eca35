// SPDX-License-Identifier: Apache-2.0

package kilonode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	spantree "github.com/gvw-project/gvw/internal/spantree/server"
	"github.com/gvw-project/gvw/tests/harness"
)

// perJob is the number of ranks of each of many jobs.
const perJob = 5

// sumJob runs a job whose ranks are goroutines: they join, sum their numbers and finish.
func sumJob(ctx context.Context, addr string, id uint64, ranks int) error {
	errs := make([]error, ranks)
	var all sync.WaitGroup
	for rank := range ranks {
		all.Go(func() {
			if err := sumRank(ctx, addr, id, rank, ranks); err != nil {
				errs[rank] = fmt.Errorf("job %d, rank %d: %w", id, rank, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func sumRank(ctx context.Context, addr string, id uint64, rank, ranks int) (err error) {
	g, err := allreduce.Join(ctx, allreduce.Config{
		Server: addr, Job: protocol.Job{UniqueID: id}, Rank: rank, Total: ranks, Listen: "127.0.0.1:0", NoSharedMemory: true, LostAfter: patience,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	if err := g.Ready(ctx, protocol.Shard{}); err != nil {
		return err
	}
	v := []float32{float32(id%1000) + float32(rank), 1}
	if err := g.AllReduce(ctx, allreduce.Vec(v), allreduce.Sum); err != nil {
		return err
	}
	if want := float32(id%1000)*float32(ranks) + float32(ranks*(ranks-1)/2); v[0] != want || v[1] != float32(ranks) {
		return fmt.Errorf("the sum is %v, want [%g %d]", v, want, ranks)
	}
	return g.Done(ctx)
}

// descriptors returns the number of open descriptors of a process.
func descriptors(t *testing.T, pid int) int {
	t.Helper()
	list, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd"))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// holds is what a process holds between jobs.
type holds struct {
	goroutines, descriptors int
	heap                    uint64
}

// heldHere returns what this process holds.
func heldHere(t *testing.T) holds {
	t.Helper()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return holds{runtime.NumGoroutine(), descriptors(t, os.Getpid()), m.HeapAlloc}
}

// released waits until this process holds about as much as before.
func released(t *testing.T, before holds) {
	t.Helper()
	var now holds
	if !harness.Until(time.Minute, 50*time.Millisecond, func() bool {
		now = heldHere(t)
		return now.goroutines <= before.goroutines+2 && now.descriptors <= before.descriptors+2 && now.heap <= before.heap+4<<20
	}) {
		t.Errorf("after the jobs: %+v, want about %+v, at most 2 more goroutines and descriptors, and 4 MiB more", now, before)
	}
	t.Logf("before: %+v, after: %+v", before, now)
}

// Many jobs at once on one server all have their own sums. The second time they leave no more memory, goroutines and
// descriptors behind than the first time, and the server has used little memory.
func TestJobsAtOnce(t *testing.T) {
	jobs := number(t, "KILONODE_JOBS", 40)
	srv := startServer(t)
	addr := "127.0.0.1:" + srv.port
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	atOnce := func(first int) {
		t.Helper()
		errs := make([]error, jobs)
		var all sync.WaitGroup
		for i := range jobs {
			all.Go(func() { errs[i] = sumJob(ctx, addr, uint64(first+i), perJob) })
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	atOnce(1) // pools and tables grow with the number of jobs at once
	pid := srv.cmd.Process.Pid
	before, open := heldHere(t), descriptors(t, pid)
	atOnce(1 + jobs)
	released(t, before)
	now := 0
	if !harness.Until(time.Minute, 50*time.Millisecond, func() bool { now = descriptors(t, pid); return now <= open+2 }) {
		t.Errorf("the server holds %d descriptors after the jobs, want about %d", now, open)
	}
	peak, cpu := srv.uses(t)
	t.Logf("%d jobs of %d ranks at once, twice: the server has used at most %.1f MiB and %.2f s of CPU", jobs, perJob, float64(peak)/(1<<20), cpu.Seconds())
	if peak > 64<<20 {
		t.Errorf("the server has had %d bytes, want at most 64 MiB", peak)
	}
}

// Many short jobs one after another leave nothing behind, neither at the server nor in the ranks: goroutines, descriptors
// and memory do not grow.
func TestJobsInTurn(t *testing.T) {
	jobs := number(t, "KILONODE_TURNS", 200)
	const finished = 50 // jobs that the server remembers
	s, err := spantree.NewServer(spantree.ServerConfig{MaxFinished: finished})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(t.Context(), l) }()
	defer func() {
		s.Close()
		<-served
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	var before holds
	for i := range jobs {
		if i == 2*finished {
			before = heldHere(t)
		}
		if err := sumJob(ctx, l.Addr().String(), uint64(i+1), 2); err != nil {
			t.Fatal(err)
		}
	}
	if jobs <= 2*finished {
		t.Fatalf("KILONODE_TURNS: got %d, want more than %d", jobs, 2*finished)
	}
	released(t, before)
}

// Jobs of real processes at once on one server make the same model.
func TestProcessesOfManyJobs(t *testing.T) {
	jobs := number(t, "KILONODE_JOBS", 6)
	srv := startServer(t)
	running := make([]*job, jobs)
	open := descriptors(t, srv.cmd.Process.Pid)
	for i := range running {
		dir := t.TempDir()
		plant(t, dir, perJob, 12)
		running[i] = startJob(t, srv, dir, i+1, perJob, "12")
	}
	var first []byte
	for i, j := range running {
		model := j.wait()
		if first == nil {
			first = model
		}
		if !bytes.Equal(model, first) {
			t.Errorf("job %d made another model than job 1", i+1)
		}
	}
	now := 0
	if !harness.Until(time.Minute, 50*time.Millisecond, func() bool { now = descriptors(t, srv.cmd.Process.Pid); return now <= open+2 }) {
		t.Errorf("the server holds %d descriptors after the jobs, want about %d", now, open)
	}
	peak, cpu := srv.uses(t)
	t.Logf("%d jobs of %d processes at once: the server has used at most %.1f MiB and %.2f s of CPU", jobs, perJob, float64(peak)/(1<<20), cpu.Seconds())
}
