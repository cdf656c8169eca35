// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/learn"
)

func TestEndedTable(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	st := &protocol.ServerStatus{Ended: []protocol.EndedJob{
		{UniqueID: 1, RunKey: "k", Outcome: "finished", Rank: -1, Total: 4, Seconds: 62.4, Ended: at, Model: "9372c470eead00112233"},
		{UniqueID: 2, Outcome: "failed", Cause: "silent for 10.2s", Rank: 3, Host: "h3", Total: 8, Seconds: 5, Ended: at},
		{UniqueID: 3, Outcome: "finished", Rank: -1, Total: 2, Ended: at},
		{UniqueID: 4, Outcome: "failed", Cause: "disk", Rank: 0, Host: "h0", Total: 2, Ended: at, Found: &protocol.FoundCause{Rank: 1, Line: "rank 1 (h1) has a full disk"}},
	}}
	want := `
ENDED JOB  OUTCOME   RANKS  TOOK  ENDED                CAUSE
4          failed    2      -     2026-01-02 03:04:05  rank 1 (h1) has a full disk
3          finished  2      -     2026-01-02 03:04:05  
2          failed    8      5s    2026-01-02 03:04:05  rank 3 (h3): silent for 10.2s
1/k        finished  4      1m2s  2026-01-02 03:04:05  model 9372c470eead
`
	if d := cmp.Diff(want, string(appendEnded(nil, st))); d != "" {
		t.Error(d)
	}
}

// A job with --malt is one line: its shared vectors have a job of their own at the server.
func TestJobsTableHasOneLineForAJobWithVectors(t *testing.T) {
	id := protocol.Job{UniqueID: 17, RunKey: "k"}
	v := learn.VectorsJob(id)
	ranks := func(waits string) []protocol.RankStatus {
		return []protocol.RankStatus{{Rank: 0, State: "joined", Waits: waits}, {Rank: 1, State: "joined"}}
	}
	st := &protocol.ServerStatus{
		Jobs: []protocol.JobStatus{
			{UniqueID: v.UniqueID, RunKey: v.RunKey, State: "wired", Total: 2, Joined: 2, Ranks: ranks("rank 0: weights: waiting for rank 1")},
			{UniqueID: 17, RunKey: "k", State: "filling", Total: 2, Joined: 2, Ranks: ranks("")},
			{UniqueID: 18, State: "wired", Total: 1, Joined: 1},
		},
		Ended: []protocol.EndedJob{{UniqueID: v.UniqueID, RunKey: v.RunKey, Outcome: "finished", Rank: -1, Total: 2}},
	}
	want := `JOB   STATE                   RANKS  PASS  LOSS  SINCE  MISSING
17/k  filling, vectors wired  2/2    0     -     0s     
18    wired                   1/1    -     -     0s     
17/k: rank 0: weights: waiting for rank 1
no jobs have ended
`
	all := withVectors(st)
	if d := cmp.Diff(want, string(appendEnded(appendJobs(nil, all), all))); d != "" {
		t.Error(d)
	}
	for i := range st.Jobs { // without a run ID, too
		st.Jobs[i].RunKey = ""
	}
	if got := withVectors(st).Jobs; len(got) != 2 || got[0].UniqueID != 17 {
		t.Errorf("without run IDs: got %v, want jobs 17 and 18", got)
	}
	alone := &protocol.ServerStatus{Jobs: st.Jobs[:1], Ended: st.Ended}
	if got := withVectors(alone); len(got.Jobs) != 1 || len(got.Ended) != 1 {
		t.Errorf("got %d jobs and %d that have ended, want those of the vectors, since the job is missing", len(got.Jobs), len(got.Ended))
	}
}

// watch prints the error if the server cannot be reached, tries again, and ends with the context
// or a refusal.
func TestWatch(t *testing.T) {
	refused := &protocol.RefusedError{Server: "s", Reason: "no"}
	answers := []struct {
		text string
		err  error
	}{{"a\n", nil}, {"", &protocol.ServerError{Server: "s", Doing: "list the jobs", Err: errors.New("away")}}, {"b\n", nil}, {"", refused}}
	var out bytes.Buffer
	p := &cli.Process{Stdout: &out}
	n := 0
	err := watch(t.Context(), p, time.Millisecond, func() (string, error) {
		n++
		return answers[n-1].text, answers[n-1].err
	})
	if want := "a\n\ncannot list the jobs with the server s: away\n\nb\n"; !errors.Is(err, refused) || out.String() != want {
		t.Errorf("%v, printed %q, want %q", err, out.String(), want)
	}
	stop := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	err = watch(ctx, p, time.Hour, func() (string, error) {
		defer cancel(stop)
		return "c\n", nil
	})
	if !errors.Is(err, stop) {
		t.Errorf("got %v, want the cause of the end of the context", err)
	}
}

// FuzzJobsTable checks that the table is printable and has the same number of lines for any texts
// in a status.
func FuzzJobsTable(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[2J\n\a\u202e\xff")
	status := func(text string) *protocol.ServerStatus {
		return &protocol.ServerStatus{Journal: text, Jobs: []protocol.JobStatus{{
			RunKey: text, State: "recovering", Report: text, Refused: 1, Refusal: text, Total: 1,
			Ranks: []protocol.RankStatus{{Waits: text, Host: text, Step: text}},
		}}}
	}
	want := strings.Count(string(appendJobs(nil, status("plain"))), "\n")
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return // lines for empty texts are left out
		}
		got := string(appendJobs(nil, status(text)))
		if strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) || !utf8.ValidString(got) {
			t.Errorf("%q is not printable", got)
		}
		if n := strings.Count(got, "\n"); n != want {
			t.Errorf("%d lines, want %d:\n%s", n, want, got)
		}
	})
}

func TestJobsTable(t *testing.T) {
	st := &protocol.ServerStatus{Jobs: []protocol.JobStatus{
		{
			UniqueID: 1, State: "wired", Total: 2, Joined: 2, Seconds: 62.4,
			Ranks: []protocol.RankStatus{
				{Rank: 0, Pass: 2, Examples: 100, Loss: 0.5, Waits: "rank 0: barrier #3: 12 s, waiting for rank 1"},
				{Rank: 1, Pass: 3, Examples: 300, Loss: 0.1},
			},
		},
		{UniqueID: 2, RunKey: "k", State: "filling", Total: 20},
		{
			UniqueID: 4, State: "recovering", Total: 2, Joined: 1, Seconds: 5, Report: "epoch 1.1 ended 2s ago; rank 1 (h1) was lost 2s ago",
			Ranks: []protocol.RankStatus{{Rank: 0, Pass: 2, Examples: 10, Loss: 1}, {Rank: 1, State: "standby"}},
		},
		{UniqueID: 3, State: "wired", VW: true, Total: 2, Joined: 1, Ranks: []protocol.RankStatus{{Rank: 1}}},
	}}
	want := `JOB  STATE       RANKS  PASS  LOSS      SINCE  MISSING
1    wired       2/2    2-3   0.200000  1m2s   
2/k  filling     0/20   -     -         0s     0,1,2,3,4,5,6,7 and 12 more
4    recovering  1/2    2     1.000000  5s     1
3    wired       1/2    0     -         0s     
1: rank 0: barrier #3: 12 s, waiting for rank 1
4: epoch 1.1 ended 2s ago; rank 1 (h1) was lost 2s ago
`
	if d := cmp.Diff(want, string(appendJobs(nil, st))); d != "" {
		t.Error(d)
	}
}
