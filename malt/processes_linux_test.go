// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// envProcess has the rank, the server and the way of a process of TestProcessIsKilled.
const envProcess = "GVW_MALT_PROCESS"

// TestProcessIsKilled trains in four processes that share memory, of which one is killed. The others find the mean of
// their samples.
func TestProcessIsKilled(t *testing.T) { processIsKilled(t, "shm") }

func processIsKilled(t *testing.T, way string) {
	const total = 4
	job := newLoopback(t, total, Config{})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var ranks sync.WaitGroup
	outs, errs := make([][]byte, total), make([]error, total)
	for rank := range total {
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestProcess$", "-test.v")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s %s", envProcess, rank, total, job.server, way))
		ranks.Go(func() { outs[rank], errs[rank] = cmd.CombinedOutput() })
	}
	ranks.Wait()
	for rank, err := range errs {
		if rank == 2 {
			if err == nil || !strings.Contains(err.Error(), "killed") {
				t.Errorf("rank 2: got %v, want a kill\n%s", err, outs[rank])
			}
			continue
		}
		if err != nil || !strings.Contains(string(outs[rank]), "found 4\n") { // of 1, 2 and 9
			t.Errorf("rank %d: %v\n%s", rank, err, outs[rank])
		}
	}
}

// TestProcess is a rank of TestProcessIsKilled.
func TestProcess(t *testing.T) {
	var rank, total int
	var server, way string
	if n, _ := fmt.Sscanf(os.Getenv(envProcess), "%d %d %s %s", &rank, &total, &server, &way); n != 4 {
		return // it is no such process
	}
	cfg := Config{Server: server, Job: Job{UniqueID: 7}, Rank: rank, Total: total, Listen: "127.0.0.1:0", OnLoss: Shrink, LostAfter: time.Minute}
	if way == "verbs" {
		cfg.Verbs, cfg.NoSharedMemory = "auto", true
	}
	ctx := context.Background()
	g, err := Join(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	v, err := NewVector[float64](g, "mean", 1000, VectorConfig{ObjectConfig: ObjectConfig{Sync: "bsp"}})
	if err != nil {
		t.Fatal(err)
	}
	sample, x := []float64{1, 2, 500, 9}[rank], v.Values()
	for round, without := 0, 0; without < 400; round++ { // rounds without rank 2
		// A rank that has seen writes dies: the memory that it has mapped is in use.
		if rank == 2 && round >= 50 && v.Stats().Written > 0 {
			if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		if slices.Equal(g.Members(), []int{0, 1, 3}) {
			without++
		}
		for i := range x {
			x[i] -= (x[i] - sample) / float64(without+2)
		}
		if err := v.Scatter(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := v.AtomicGather(ctx, AverageIncludingSelf); err != nil {
			t.Fatal(err)
		}
	}
	if v.Stats().Written == 0 {
		t.Errorf("no update was written into the memory of another rank: %+v", v.Stats())
	}
	if err := g.Done(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("found %.0f", x[0])
}
