// SPDX-License-Identifier: Apache-2.0

package run

import (
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The launcher takes for hung who was connected and is not any more; who is not yet
// there reads its data. When the job has ended, all may be woken.
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
		t.Error("a job that is not there yet may still come")
	}
	at(0, "filling", 0, 2)
	at(time.Minute, "wired", 0, 1, 2)
	at(time.Minute+time.Second, "wired", 0, 2)
	if !w.mayContinue(false) || !w.mayContinue(true) || len(w.hung) != 0 {
		t.Error("a second is not for ever")
	}
	at(time.Minute+time.Second+hungAfter, "wired", 0, 2)
	if len(w.hung) != 1 || <-w.hung != 1 {
		t.Fatal("rank 1 hangs")
	}
	w.started(1)
	at(time.Hour, "wired", 0, 2)
	if len(w.hung) != 0 {
		t.Error("its next process has not been there yet")
	}
	at(2*time.Hour, "")
	if len(w.idle) != 0 || w.mayContinue(false) {
		t.Error("it has just ended")
	}
	at(3*time.Hour, "")
	if len(w.idle) != 3 {
		t.Error("whoever is still there may be stopped")
	}

	if w.finished() {
		t.Error("nobody has said that it ended well")
	}
	st.Finished = 1
	if !w.finished() {
		t.Error("it has ended well")
	}
	short := newJobWatch(func() protocol.ServerStatus { return st }, 7, 3, 0)
	if short.mayContinue(false) {
		t.Error("a job that has ended does not go on, whether it was seen or not")
	}
	short.poll(now)
	short.poll(now.Add(hungAfter))
	if len(short.idle) != 3 {
		t.Error("whoever is still there after a job too short to be seen may be stopped")
	}
	st.Finished = 0

	// What fills after a worker has lost the job is another one.
	w = newJobWatch(func() protocol.ServerStatus { return st }, 7, 3, 0)
	st.Jobs = []protocol.JobStatus{{UniqueID: 7, State: "filling"}}
	if !w.mayContinue(false) || w.mayContinue(true) || w.mayContinue(false) {
		t.Error("a job that has failed does not go on")
	}
}

// TestJobWatchWithout: of a job that goes on without lost ranks, who is needed.
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

// A job that was to go on without a rank has come to its end before it could: the rank may
// owe files. One that is vacant and was not spared has another attempt to come.
func TestJobWatchMisses(t *testing.T) {
	job := protocol.JobStatus{State: "recovering", Vacant: []int{1, 2}}
	w := newJobWatch(func() protocol.ServerStatus { return protocol.ServerStatus{Jobs: []protocol.JobStatus{job}} }, 0, 3, 0)
	if !w.continuesWithout(1) || len(w.missed) != 0 {
		t.Fatal("it is to go on without rank 1")
	}
	job.State = "ending"
	for range 2 {
		w.poll(time.Now())
	}
	if len(w.missed) != 1 || <-w.missed != 1 {
		t.Error("rank 1 alone is missed, and once")
	}
}
