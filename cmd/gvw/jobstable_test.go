// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

func TestEndedTable(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	st := &protocol.ServerStatus{Ended: []protocol.EndedJob{
		{UniqueID: 1, RunKey: "k", Outcome: "finished", Rank: -1, Total: 4, Seconds: 62.4, Ended: at, Model: "9372c470eead00112233"},
		{UniqueID: 2, Outcome: "failed", Cause: "silent for 10.2s", Rank: 3, Host: "h3", Total: 8, Seconds: 5, Ended: at},
		{UniqueID: 3, Outcome: "finished", Rank: -1, Total: 2, Ended: at},
	}}
	want := `
ENDED JOB  OUTCOME   RANKS  TOOK  ENDED                CAUSE
3          finished  2      -     2026-01-02 03:04:05  
2          failed    8      5s    2026-01-02 03:04:05  rank 3 (h3): silent for 10.2s
1/k        finished  4      1m2s  2026-01-02 03:04:05  model 9372c470eead
`
	if d := cmp.Diff(want, string(appendEnded(nil, st))); d != "" {
		t.Error(d)
	}
}

// --watch shows a server that is away, asks again, and ends with the context or a refusal.
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

// Text that a rank or another person has chosen reaches no terminal as it is: not by gvw
// jobs, the server's log, or the errors of ranks.
func TestForeignTextIsEscaped(t *testing.T) {
	const nasty = "run\x1b]0;title\a\nforged\u202e\u009b31m"
	printable := func(from, text string) {
		t.Helper()
		if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 || !utf8.ValidString(text) {
			t.Errorf("%s is not printable at byte %d: %q", from, i, text)
		}
		if strings.Contains(text, "\nforged") {
			t.Errorf("%s has a forged line: %q", from, text)
		}
	}
	var log bytes.Buffer
	server, err := server.StartLocal(t.Context(), 0, nil, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	defer stop()
	job := protocol.Job{UniqueID: 7, RunKey: nasty}
	m, err := client.Join(t.Context(), client.JoinConfig{
		Server: fmt.Sprintf("127.0.0.1:%d", server.Port), Job: job, Rank: 0, Total: 2, Advertise: "127.0.0.1:9", StartTimeout: time.Minute,
		Host: nasty, Version: nasty, Options: nasty, Heartbeat: time.Millisecond,
		Waiting: func() client.Waits { return client.Waits{Text: nasty, Rank: -1} },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	at := []string{"--span_server_port", strconv.Itoa(server.Port)}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		out, _, _ := call(t, append([]string{"jobs"}, at...)...)
		printable("gvw jobs", out)
		if strings.Count(out, "title") > 1 { // the first is the job's, the second what the rank waits for
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("gvw jobs does not show what the rank waits for: %q", out)
		}
	}
	out, _, _ := call(t, append([]string{"jobs", "--json"}, at...)...)
	printable("gvw jobs --json", out)
	var st protocol.ServerStatus
	if err := json.Unmarshal([]byte(out), &st); err != nil || st.Jobs[0].RunKey != nasty {
		t.Errorf("%v; the JSON has run key %q", err, st.Jobs[0].RunKey)
	}
	if _, stderr, code := call(t, append([]string{"cancel", "7", "--reason", nasty}, at...)...); code != 0 {
		t.Errorf("code %d, %q", code, stderr)
	}
	<-m.Over()
	printable("the rank's error", m.Cause().Error())
	printable("an error of another rank", (&protocol.LostError{Job: job, Host: nasty, Why: nasty}).Error())
	printable("an error in collectives", (&allreduce.LostError{Host: nasty, Why: nasty}).Error())
	_, stderr, _ := call(t, append([]string{"cancel", "8/" + nasty}, at...)...)
	printable("gvw cancel", stderr)
	stop()
	printable("the server's log", log.String())
}

// FuzzJobsTable: whatever the texts of a status are, the table is printable, and has as many lines.
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
			return // nothing to show has no line
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
