// SPDX-License-Identifier: Apache-2.0

// The race detector's own processor time and allocations would be counted.
//go:build !race

package allreduce

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestWaitingCostsNothing: ranks that wait in a collective for long sleep.
func TestWaitingCostsNothing(t *testing.T) {
	for what, newJob := range map[string]func(testing.TB, int, Config) *testJob{"TCP": newTCPJob, "shared memory": newSharedJob} {
		t.Run(what, func(t *testing.T) { waitingCostsNothing(t, newJob(t, 4, Config{})) })
	}
}

func waitingCostsNothing(t *testing.T, j *testJob) {
	const pause = 600 * time.Millisecond
	c, cancel := context.WithCancel(ctx) // one that has to be looked at
	defer cancel()
	j.ready()
	sum := func(rank int) error { return j.groups[rank].AllReduce(c, Vec([]float32{1}), Sum) }
	j.each(sum)
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection of other tests' garbage would be counted
	before := cpuTime(t)
	j.each(func(rank int) error {
		if rank == 3 {
			time.Sleep(pause)
		}
		return sum(rank)
	})
	if used := cpuTime(t) - before; used > pause/4 {
		t.Errorf("three ranks that wait for %v have used %v of processor time", pause, used)
	}
}

// TestSteadyStateOnHostsAllocatesNothing, where ranks of two machines share memory.
func TestSteadyStateOnHostsAllocatesNothing(t *testing.T) {
	cfg := Config{Schedule: schedule.Doubling, Chunk: 64 << 10, Heartbeat: time.Minute, LostAfter: 10 * time.Minute}
	allocatesNothing(t, newDealtJob(t, []int{0, 0, 1, 1}, cfg))
}
