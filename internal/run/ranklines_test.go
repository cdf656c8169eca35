// SPDX-License-Identifier: Apache-2.0

package run

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/statusline"
)

// Each rank has a line with its speed and with the rank that it waits for; lines without room are counted.
func TestRankLines(t *testing.T) {
	t.Parallel()
	now := time.Unix(100, 0)
	l := &rankLines{Lines: statusline.New(nil, func() int { return 80 }), passes: 4, begun: now, ranks: map[int]*pace{}}
	one := 1
	job := &protocol.JobStatus{Ranks: []protocol.RankStatus{
		{Rank: 1, State: "ready", Pass: 1, Examples: 1000, Loss: 0.5},
		{Rank: 0, State: "ready", Pass: 2, Examples: 3000, Loss: 0.25, WaitsFor: &one, WaitsSeconds: 12.3, Collective: 4},
		{Rank: 1, State: "standby"},
		{Rank: -1, State: "spare"},
	}}
	l.lines(job, now, 80, 24)
	now = now.Add(10 * time.Second)
	job.Ranks[0].Examples = 21000
	want := []string{
		"rank 0  pass 3/4  50% [==============              ]  waits for rank 1, 12 s  ETA 10s  loss 0.25  3.00k examples",
		"rank 1  pass 2/4  25% [========                      ]  ETA 30s  loss 0.5  2.00k/s  21.0k examples",
	}
	if diff := cmp.Diff(want, l.lines(job, now, 113, 24)); diff != "" {
		t.Error(diff)
	}
	want = []string{"rank 0  pass 3/4  50%  waits for rank 1, 12 s", "and 1 more ranks"}
	job.Ranks = append(job.Ranks, protocol.RankStatus{Rank: 2, State: "ready"})
	want[1] = "and 2 more ranks"
	if diff := cmp.Diff(want, l.lines(job, now, 48, 4)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"rank 0  ", "rank 1  ", "rank 2  "}, l.lines(job, now, 9, 6)); diff != "" {
		t.Error(diff)
	}
}
