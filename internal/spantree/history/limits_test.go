// SPDX-License-Identifier: Apache-2.0

package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Outcomes forgets what a list that is searched from its end would forget.
func TestOutcomesAgreeWithAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit, age = 4, time.Minute
		var all Outcomes
		var list []*Outcome
		now := birth
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds")) * time.Second)
			id := protocol.Job{UniqueID: uint64(rapid.IntRange(0, 5).Draw(t, "job"))}
			if rapid.Bool().Draw(t, "ends") {
				o := &Outcome{Job: id, Epoch: protocol.Epoch{N: uint32(len(list))}, At: now}
				all.Add(o)
				list = append(list, o)
			}
			all.Expire(now, limit, age)
			for len(list) > limit || len(list) > 0 && now.Sub(list[0].At) > age {
				list = list[1:]
			}
			var want *Outcome
			for _, o := range list {
				if o.Job == id {
					want = o
				}
			}
			if got := all.Find(id); got != want {
				t.Fatalf("job %v has the outcome %+v, want %+v", id, got, want)
			}
		}
	})
}

// A refusal is found for later attempts with equal values, for ten minutes, until its job has ended
// without a start.
func TestRefusalsOfEqualValues(t *testing.T) {
	join := &protocol.JoinFrame{UniqueID: 1, RunKey: "k", Total: 3, Rank: 2}
	no := &protocol.RefusedFrame{Code: protocol.TotalDiffers, Reason: "total 3 differs"}
	otherRank, otherTotal, otherStart := *join, *join, *join
	otherRank.Rank, otherTotal.Total, otherStart.Elastic = 1, 4, time.Minute
	for name, c := range map[string]struct {
		join    protocol.JoinFrame
		code    protocol.Code
		after   time.Duration
		forgets protocol.Job // a job that ended without a start
		found   bool
	}{
		"the same attempt":                    {join: *join, code: protocol.TotalDiffers, found: true},
		"another rank with the same values":   {join: otherRank, code: protocol.TotalDiffers, found: true},
		"another total":                       {join: otherTotal, code: protocol.TotalDiffers},
		"another time to start":               {join: otherStart, code: protocol.OptionsDiffer},
		"options differ":                      {join: *join, code: protocol.OptionsDiffer, found: true},
		"a refusal that depends on the time":  {join: *join, code: protocol.RankHeld},
		"within ten minutes":                  {join: *join, code: protocol.TotalDiffers, after: refusedFor, found: true},
		"after ten minutes":                   {join: *join, code: protocol.TotalDiffers, after: refusedFor + time.Second},
		"the job has ended without a start":   {join: *join, code: protocol.TotalDiffers, forgets: protocol.Job{UniqueID: 1, RunKey: "k"}},
		"another job ended without a start":   {join: *join, code: protocol.TotalDiffers, forgets: protocol.Job{UniqueID: 1, RunKey: "l"}, found: true},
		"a job of the same ID and no run key": {join: *join, code: protocol.TotalDiffers, forgets: protocol.Job{UniqueID: 1}, found: true},
	} {
		t.Run(name, func(t *testing.T) {
			var r Refusals
			refusal := *no
			refusal.Code = c.code
			r.Add(join, &refusal, birth)
			r.Forget(c.forgets)
			r.Expire(birth.Add(c.after))
			want := (*protocol.RefusedFrame)(nil)
			if c.found {
				want = &refusal
			}
			if d := cmp.Diff(want, r.Find(&c.join)); d != "" {
				t.Errorf("the refusal, -want +got:\n%s", d)
			}
		})
	}
}

// Without a run key, refused values may be right in the next run of the same ID.
func TestNoRefusalIsKeptWithoutARunKey(t *testing.T) {
	var r Refusals
	join := &protocol.JoinFrame{UniqueID: 1, Total: 3}
	r.Add(join, &protocol.RefusedFrame{Code: protocol.TotalDiffers}, birth)
	if r.Find(join) != nil {
		t.Error("a refusal without a run key is kept")
	}
}

// The refusals are limited in number: the oldest are forgotten.
func TestRefusalsAreBounded(t *testing.T) {
	var r Refusals
	join := func(i int) *protocol.JoinFrame {
		return &protocol.JoinFrame{UniqueID: uint64(i), RunKey: "k", Total: 3}
	}
	for i := range maxRefused + 10 {
		r.Add(join(i), &protocol.RefusedFrame{Code: protocol.TotalDiffers}, birth)
	}
	if r.Find(join(9)) != nil || r.Find(join(10)) == nil || len(r.by) != maxRefused || len(r.queue) != maxRefused {
		t.Errorf("%d refusals are kept in %d entries, want the newest %d", len(r.by), len(r.queue), maxRefused)
	}
}

// The ended jobs are limited in number and age: the oldest are forgotten.
func TestJobsAreBounded(t *testing.T) {
	var all Jobs
	for i := range MaxJobs + 10 {
		all.Add(protocol.EndedJob{UniqueID: uint64(i), Ended: birth.Add(time.Duration(i) * time.Second)})
	}
	if len(all) != MaxJobs || all[0].UniqueID != 10 {
		t.Fatalf("%d jobs are kept, the oldest is %d, want %d from job 10 on", len(all), all[0].UniqueID, MaxJobs)
	}
	all.Expire(birth.Add(MaxJobs*time.Second+time.Hour), time.Hour)
	if len(all) != 10 || all[0].UniqueID != MaxJobs {
		t.Errorf("%d jobs are not older than an hour, want 10", len(all))
	}
}
