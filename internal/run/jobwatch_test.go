// SPDX-License-Identifier: Apache-2.0

package run

import (
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A rank that was connected and has been disconnected for hungAfter hangs. A rank that has not
// connected yet still reads its data. After the end of the job all processes are reported idle.
func TestJobWatch(t *testing.T) {
	var st protocol.ServerStatus
	w := newJobWatch(func() protocol.ServerStatus { return st }, 7, 3, 0)
	now := time.Now()
	at := func(after time.Duration, state string, ranks ...int) {
		st = protocol.ServerStatus{Jobs: []protocol.JobStatus{{UniqueID: 1}}}
		if state != "" {
			j := protocol.JobStatus{UniqueID: 7, State: state}
			for _, rank := range ranks {
				j.Ranks = append(j.Ranks, protocol.RankStatus{Rank: rank})
			}
			st.Jobs = append(st.Jobs, j)
		}
		w.poll(now.Add(after))
	}
	at(0, "")
	if !w.mayContinue(false) {
		t.Error("a job that the server does not have yet: got mayContinue false")
	}
	at(0, "filling", 0, 2)
	at(time.Minute, "wired", 0, 1, 2)
	at(time.Minute+time.Second, "wired", 0, 2)
	if !w.mayContinue(false) || !w.mayContinue(true) || len(w.hung) != 0 {
		t.Error("a rank is reported as hung after one second")
	}
	at(time.Minute+time.Second+hungAfter, "wired", 0, 2)
	if len(w.hung) != 1 || <-w.hung != 1 {
		t.Fatal("rank 1 is not reported as hung")
	}
	w.started(1)
	at(time.Hour, "wired", 0, 2)
	if len(w.hung) != 0 {
		t.Error("a new process is reported as hung before it has connected")
	}
	at(2*time.Hour, "")
	if len(w.idle) != 0 || w.mayContinue(false) {
		t.Error("a job that has just ended: got idle ranks, or mayContinue true")
	}
	at(3*time.Hour, "")
	if len(w.idle) != 3 {
		t.Error("an hour after the end of the job, not all processes are reported idle")
	}

	if w.finished() {
		t.Error("a job that the server has forgotten is reported as finished")
	}
	st.Finished = 1
	if !w.finished() {
		t.Error("a finished job is not reported as finished")
	}
	short := newJobWatch(func() protocol.ServerStatus { return st }, 7, 3, 0)
	if short.mayContinue(false) {
		t.Error("a job that finished before the first poll: got mayContinue true")
	}
	short.poll(now)
	short.poll(now.Add(hungAfter))
	if len(short.idle) != 3 {
		t.Error("after a job that finished before the first poll, not all processes are reported idle")
	}
	st.Finished = 0

	// A job that fills after a worker has lost its job is a new one.
	w = newJobWatch(func() protocol.ServerStatus { return st }, 7, 3, 0)
	st.Jobs = []protocol.JobStatus{{UniqueID: 7, State: "filling"}}
	if !w.mayContinue(false) || w.mayContinue(true) || w.mayContinue(false) {
		t.Error("a job that has failed: got mayContinue true")
	}
}

// TestJobWatchWithout checks in which states a job with --on_loss shrink continues without a rank.
func TestJobWatchWithout(t *testing.T) {
	for _, c := range []struct {
		job              *protocol.JobStatus
		finished         int
		without, removed bool
	}{
		{nil, 0, false, false},
		{nil, 1, true, false},
		{&protocol.JobStatus{State: "filling"}, 0, false, false},
		{&protocol.JobStatus{State: "wired"}, 0, true, false},
		{&protocol.JobStatus{State: "recovering"}, 0, true, false},
		{&protocol.JobStatus{State: "ending"}, 0, false, false},
		{&protocol.JobStatus{State: "ending", Removed: []int{0, 1}}, 0, true, true},
		{&protocol.JobStatus{State: "ending", Removed: []int{0, 2}}, 0, false, false},
	} {
		st := protocol.ServerStatus{Finished: c.finished}
		if c.job != nil {
			st.Jobs = []protocol.JobStatus{*c.job}
		}
		w := newJobWatch(func() protocol.ServerStatus { return st }, 0, 3, 0)
		if w.continuesWithout(1) != c.without || w.removed(1) != c.removed {
			t.Errorf("%+v: without rank 1: %v, removed: %v", st, w.continuesWithout(1), w.removed(1))
		}
	}
}

// If a job ends before it could continue without a spared rank, the rank is reported as missed,
// since it may owe files. A vacant rank that was not spared will have another attempt.
func TestJobWatchMisses(t *testing.T) {
	job := protocol.JobStatus{State: "recovering", Vacant: []int{1, 2}}
	w := newJobWatch(func() protocol.ServerStatus { return protocol.ServerStatus{Jobs: []protocol.JobStatus{job}} }, 0, 3, 0)
	if !w.continuesWithout(1) || len(w.missed) != 0 {
		t.Fatal("the job does not continue without rank 1, or misses it at once")
	}
	job.State = "ending"
	for range 2 {
		w.poll(time.Now())
	}
	if len(w.missed) != 1 || <-w.missed != 1 {
		t.Error("want one report, that rank 1 is missed")
	}
}

// The policy of a job that has ended is that which it had; a job that ended between two polls has the given one.
func TestPolicyOfAJobThatHasEnded(t *testing.T) {
	st := protocol.ServerStatus{Finished: 1}
	w := newJobWatch(func() protocol.ServerStatus { return st }, 7, 3, 0)
	if got := w.policy("shrink"); got != "shrink" || !w.continuesWithout(1) {
		t.Errorf("a job that was never seen: got %q, want shrink, and the job continues without a rank", got)
	}
	st.Jobs = []protocol.JobStatus{{UniqueID: 7, State: "wired", OnLoss: "wait"}}
	if got := w.policy("shrink"); got != "wait" {
		t.Errorf("a job that exists: got %q, want wait", got)
	}
	st.Jobs = nil
	if got := w.policy("shrink"); got != "wait" {
		t.Errorf("a job that has ended: got %q, want wait", got)
	}
}
