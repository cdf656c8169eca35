// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/clock"
)

// TestStall checks that a rank whose process is stopped in the middle of a collective, or whose
// host is cut off, is named after Stall.
func TestStall(t *testing.T) {
	const n, stopped, late = 7, 5, 0
	inBubble(t, n, Config{Schedule: schedule.Doubling, Stall: 4 * time.Second}, func(t *testing.T, j *testJob, net *mem.Network) {
		j.groups[stopped].cfg.Stall = time.Hour // a process that is stopped notices nothing
		j.ready()
		time.AfterFunc(20*time.Second, func() { net.Hold(fmt.Sprintf("h%d", stopped), true) })
		time.AfterFunc(26*time.Second, func() { net.Hold(fmt.Sprintf("h%d", stopped), false) }) // so that it can end
		start := time.Now()
		errs := j.all(func(rank int) error {
			if rank == late {
				time.Sleep(time.Hour) // has not entered; that is no fault
			}
			return forever(j.groups[rank], 1000)
		})
		if took := time.Since(start); took < time.Hour {
			t.Errorf("it took %v: the rank that comes late was not waited for", took)
		}
		found := 0
		for rank, err := range errs {
			if rank == stopped {
				continue
			}
			if d, ok := errors.AsType[*DeadlineError](err); ok {
				found++
				if d.Rank != stopped || !d.Entered || d.Idle < 4*time.Second || d.Idle > 6*time.Second {
					t.Errorf("rank %d: got %v", rank, err)
				}
				if d.Where.Elapsed > 30*time.Second {
					t.Errorf("rank %d noticed after %v", rank, d.Where.Elapsed)
				}
			} else if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("rank %d (h%d:", stopped, stopped)) {
				t.Errorf("rank %d: got %v, want rank %d named", rank, err, stopped)
			} else if strings.Contains(err.Error(), "the edge between") {
				found++ // the server, asked by a rank without the report, was faster
			}
		}
		if found == 0 {
			t.Error("no rank returns a DeadlineError")
		}
	})
}

// TestPauseIsNoStall checks that a rank that was paused does not report a stall of another rank.
// The ranks' own watchdogs see no pause here, so the test calls Look with a later time.
func TestPauseIsNoStall(t *testing.T) {
	const n, late, pause = 7, 0, time.Minute
	inBubble(t, n, Config{Schedule: schedule.Doubling, Stall: 4 * time.Second}, func(t *testing.T, j *testJob, _ *mem.Network) {
		j.ready()
		var accused atomic.Int32
		// After a call of Look with a later time the ranks miss each other's progress frames.
		// The collective ends before that matters.
		time.AfterFunc(29*time.Second, func() {
			for _, g := range j.groups {
				en, now := &g.epoch.Engine, time.Now()
				own := clock.Clock{Tick: engine.WatchTick}
				en.ReadClock(&own, now)
				after := now.Add(pause)
				if f := en.Look(en.ReadClock(&own, after), engine.WatchTick); f != nil {
					t.Errorf("rank %d after a pause: %v", g.cfg.Rank, f.Reason())
				}
				if en.Look(after, engine.WatchTick) != nil { // as without the clock
					accused.Add(1)
				}
			}
		})
		errs := j.all(func(rank int) error {
			if rank == late {
				time.Sleep(30 * time.Second)
			}
			return j.groups[rank].AllReduce(ctx, Vec(make([]float32, 1000)), Sum)
		})
		if err := errors.Join(errs...); err != nil || accused.Load() == 0 {
			t.Errorf("%v; a pause would have ended the collective of %d ranks, want some", err, accused.Load())
		}
	})
}

// TestLateRankIsNoFault checks that a rank may take an hour to enter a collective. The logs and
// heartbeats of the others name the rank that they wait for.
func TestLateRankIsNoFault(t *testing.T) {
	const n, late = 6, 5
	minutes := 60
	if testing.Short() {
		minutes = 6
		t.Log("sampled: 6 minutes of 60")
	}
	half := time.Duration(minutes) * time.Minute / 2
	inBubble(t, n, Config{Schedule: schedule.BinaryTree}, func(t *testing.T, j *testJob, _ *mem.Network) {
		j.ready()
		j.each(func(rank int) error {
			g := j.groups[rank]
			if rank == late {
				time.Sleep(half)
				if got, want := j.groups[4].waiting().Text, "which has not entered it"; !strings.Contains(got, "rank 5 (h5:") || !strings.Contains(got, want) {
					t.Errorf("rank 4's heartbeat says %q, want %q", got, want)
				}
				if got, want := j.groups[0].waiting().Text, "which waits for rank 5"; !strings.Contains(got, want) {
					t.Errorf("rank 0's heartbeat says %q, want %q", got, want)
				}
				time.Sleep(half)
			}
			return g.AllReduce(ctx, Vec(make([]float32, 500_000)).Named("gradient"), Sum)
		})
		log := j.logs[3].String()
		if got := strings.Count(log, `msg="waiting in a collective" rank=3 collective="all-reduce #1 (gradient, 1.9 MiB)" `); got < 5*minutes || got > 6*minutes+10 {
			t.Errorf("rank 3 logged its wait %d times in %d minutes, want every 10 s:\n%.500s", got, minutes, log)
		}
		for rank := range n {
			if got := j.groups[rank].waiting().Text; got != "" {
				t.Errorf("rank %d still says %q", rank, got)
			}
		}
	})
}

func TestMaxWait(t *testing.T) {
	const n, late = 5, 1
	inBubble(t, n, Config{MaxWait: time.Minute}, func(t *testing.T, j *testJob, _ *mem.Network) {
		j.ready()
		errs := j.all(func(rank int) error {
			if rank == late {
				time.Sleep(2 * time.Minute)
			}
			return j.groups[rank].Barrier(ctx)
		})
		named := 0
		for rank, err := range errs {
			if err == nil || !strings.Contains(err.Error(), "rank 1 (h1:") && rank != late {
				t.Errorf("rank %d: got %v, want rank 1 named", rank, err)
			}
			if d, ok := errors.AsType[*DeadlineError](err); ok && d.Rank == late && !d.Entered {
				named++
			}
		}
		if named == 0 {
			t.Error("no rank returns a DeadlineError about rank 1")
		}
	})
}
