// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// topJobs are two jobs; in one of them a rank waits.
func topJobs() *protocol.ServerStatus {
	one := 1
	return &protocol.ServerStatus{Jobs: []protocol.JobStatus{
		{UniqueID: 7, State: "wired", Total: 2, Joined: 2, Seconds: 12, Ranks: []protocol.RankStatus{
			{Rank: 1, Host: "h1", State: "ready", Pass: 3, Examples: 12345, Loss: 0.25},
			{Rank: 0, Host: "h0", State: "ready", Pass: 3, Examples: 12345, Loss: 0.75, WaitsFor: &one, WaitsSeconds: 4.2, Waits: "rank 0: all-reduce 4: waiting for rank 1"},
		}},
		{UniqueID: 3, RunKey: "k", State: "filling", Total: 3, Joined: 1, Seconds: 60, Ranks: []protocol.RankStatus{{Rank: 1, Host: "h2", State: "joined"}}},
	}}
}

// The table is sorted, follows the selected job, and shows the ranks with those that they wait for.
func TestTopView(t *testing.T) {
	t.Parallel()
	v := &topView{server: "gateway:26543"}
	check := func(what, want string) {
		t.Helper()
		if diff := cmp.Diff(strings.Split(strings.TrimPrefix(want, "\n"), "\n"), v.lines(80, 24)); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	check("no answer", `
gvw top  gateway:26543  0 jobs
waiting for the server's answer
q end  s sort by JOB  r reverse  j k select  enter ranks`)
	v.st = topJobs()
	check("by job", `
gvw top  gateway:26543  2 jobs
  JOB  STATE    RANKS  PASS  LOSS      SINCE  WAIT  MISSING
> 3/k  filling  1/3    0     -         1m0s   -     0,2
  7    wired    2/2    3     0.500000  12s    4s
q end  s sort by JOB  r reverse  j k select  enter ranks`)
	v.key('j')
	v.key('r')
	v.fault = "the server does not answer"
	check("reversed", `
gvw top  gateway:26543  2 jobs
the server does not answer
  JOB  STATE    RANKS  PASS  LOSS      SINCE  WAIT  MISSING
> 7    wired    2/2    3     0.500000  12s    4s
  3/k  filling  1/3    0     -         1m0s   -     0,2
q end  s sort by JOB  r reverse  j k select  enter ranks`)
	v.fault = ""
	v.key('\n')
	check("ranks", `
gvw top  gateway:26543  2 jobs
job 7  wired  2/2  3  0.500000  12s
  RANK  HOST  STATE  PASS  EXAMPLES  LOSS      WAITS FOR
  0     h0    ready  3     12.3k     0.750000  rank 1, 4s
  1     h1    ready  3     12.3k     0.250000
q end  s sort by JOB  r reverse  j k select  enter ranks`)
	v.st.Jobs = v.st.Jobs[1:] // the selected job has ended
	v.key('\n')
	check("ended", `
gvw top  gateway:26543  1 jobs
  JOB  STATE    RANKS  PASS  LOSS  SINCE  WAIT  MISSING
> 3/k  filling  1/3    0     -     1m0s   -     0,2
q end  s sort by JOB  r reverse  j k select  enter ranks`)
	if v.key('x') || !v.key('q') {
		t.Error("only q ends")
	}
}

// Each column sorts the jobs, in both directions.
func TestTopSorts(t *testing.T) {
	t.Parallel()
	v := &topView{st: topJobs()}
	want := map[string]uint64{"JOB": 3, "STATE": 3, "RANKS": 7, "PASS": 3, "LOSS": 3, "SINCE": 7, "WAIT": 3} // the first job
	for range topColumns {
		column := topColumns[v.column]
		if got := v.sorted()[0].UniqueID; got != want[column] {
			t.Errorf("by %s: %d comes first", column, got)
		}
		v.key('r')
		if got := v.sorted()[1].UniqueID; got != want[column] {
			t.Errorf("by %s, reversed: %d comes last", column, got)
		}
		v.key('r')
		v.key('s')
	}
	if v.column != 0 {
		t.Errorf("the column after the last is %d", v.column)
	}
	v.key('S')
	if topColumns[v.column] != "WAIT" {
		t.Errorf("the column before the first is %s", topColumns[v.column])
	}
}

// The screen fits any terminal, whatever keys are pressed, and has no control characters of the server.
func TestTopFitsTheTerminal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := &topView{server: "h", st: &protocol.ServerStatus{}}
		for n := range rapid.IntRange(0, 40).Draw(t, "jobs") {
			j := protocol.JobStatus{UniqueID: uint64(n), RunKey: rapid.StringN(0, 8, -1).Draw(t, "run"), State: "wired\x1b[2J", Total: 50}
			for r := range rapid.IntRange(0, 50).Draw(t, "ranks") {
				j.Ranks = append(j.Ranks, protocol.RankStatus{Rank: r, Host: "h\n\x1b[A", Waits: "\x07waits"})
			}
			v.st.Jobs = append(v.st.Jobs, j)
		}
		for _, k := range rapid.SliceOfN(rapid.SampledFrom([]byte("sSrjjjkk\n")), 0, 60).Draw(t, "keys") {
			v.key(k)
			columns, rows := rapid.IntRange(0, 120).Draw(t, "columns"), rapid.IntRange(0, 40).Draw(t, "rows")
			lines := v.lines(columns, rows)
			if len(lines) > rows {
				t.Fatalf("%d lines in %d rows", len(lines), rows)
			}
			marked := 0
			for _, l := range lines {
				if runewidth.StringWidth(l) > max(columns-1, 0) || strings.ContainsFunc(l, unicode.IsControl) {
					t.Fatalf("%d columns: %q", columns, l)
				}
				if strings.HasPrefix(l, "> ") {
					marked++
				}
			}
			if want := 1; !v.ranks && rows >= 4 && columns > 3 && len(v.st.Jobs) > 0 && marked != want {
				t.Fatalf("%d jobs are marked in %d rows:\n%s", marked, rows, strings.Join(lines, "\n"))
			}
		}
	})
}
