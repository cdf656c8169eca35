// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// failed returns the failure of a job of 130 ranks, which all but ranks 64 and 129 had joined.
func failed(key string, at time.Time) *Failure {
	awaits := func(rank int) bool { return rank == 64 || rank == 129 }
	return NewFailure(protocol.Job{UniqueID: 7, RunKey: key}, 2, 130, awaits, &protocol.EpochEndFrame{Final: true, Cause: protocol.Cause{Why: key}}, at)
}

// The end of a job goes to each rank that had not joined, once, for a minute.
func TestFailuresAreSentOnce(t *testing.T) {
	var all Failures
	all.Add(failed("run", birth))
	all.Add(failed("", birth))
	for i, c := range []struct {
		key        string
		generation uint32
		rank       uint32
		after      time.Duration
		want       bool
	}{
		{"run", 2, 64, 0, true},
		{"run", 2, 64, 0, false}, // it has got the end
		{"run", 2, 65, 0, false}, // it had joined
		{"run", 3, 129, 0, false},
		{"other", 2, 129, 0, false},
		{"", 2, 129, 0, false}, // without a run key it may be of the next run
		{"run", 2, 130, 0, false},
		{"run", 2, 1<<32 - 1, 0, false}, // a spare
		{"run", 2, 129, failedFor + 1, false},
		{"run", 2, 129, failedFor, true},
	} {
		f := &protocol.JoinFrame{UniqueID: 7, RunKey: c.key, Generation: c.generation, Rank: c.rank}
		if got := all.Take(f, birth.Add(c.after)); (got != nil) != c.want {
			t.Errorf("case %d, %+v: got %v", i, c, got)
		}
	}
}

// Failures are limited in number and age, and a job that is opened again has none.
func TestFailuresAreBounded(t *testing.T) {
	var all Failures
	for i := range maxFailed + 20 {
		all.Add(failed(fmt.Sprint("run", i), birth))
	}
	job := func(i int) protocol.Job { return protocol.Job{UniqueID: 7, RunKey: fmt.Sprint("run", i)} }
	if n := len(all.by); n != maxFailed || len(all.queue) != n || all.by[job(19)] != nil {
		t.Errorf("got %d failures, %d in the queue, want %d", n, len(all.queue), maxFailed)
	}
	if e := all.Remove(job(20), birth); e == nil || e.End.Cause.Why != "run20" {
		t.Errorf("got %v, want the failure of run20", e)
	}
	if e := all.Remove(job(20), birth); e != nil {
		t.Errorf("got %v twice", e)
	}
	if e := all.Remove(job(21), birth.Add(failedFor+1)); e != nil {
		t.Errorf("got %v after its time", e)
	}
	// A newer failure of the same job outlives the older one.
	all.Add(failed("run22", birth.Add(failedFor)))
	all.Expire(birth.Add(failedFor + 1))
	if len(all.by) != 1 || all.by[job(22)] == nil {
		t.Errorf("got %v, want the newer failure of run22", all.by)
	}
}
