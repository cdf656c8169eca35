// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce/spantree"
)

// call runs a command in this process.
func call(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	p := &program{args: args, stdout: &out, stderr: &errs}
	code = 0
	if err := p.run(t.Context()); err != nil {
		code = p.fail(err)
	}
	return out.String(), errs.String(), code
}

// A job is listed while it fills, with who is missing; cancelled, its ranks hear why,
// and it is gone.
func TestJobsAndCancel(t *testing.T) {
	server, err := startServer(t.Context(), 0, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.stop(); err != nil {
			t.Error(err)
		}
	}()
	at := []string{"--span_server_port", strconv.Itoa(server.port)}
	if out, _, code := call(t, append([]string{"jobs"}, at...)...); out != "no jobs\n" || code != 0 {
		t.Errorf("code %d, %q", code, out)
	}
	m, err := spantree.Join(t.Context(), spantree.JoinConfig{
		Server: fmt.Sprintf("127.0.0.1:%d", server.port), Job: spantree.Job{UniqueID: 7, RunKey: "run"},
		Rank: 1, Total: 3, Advertise: "127.0.0.1:9", StartTimeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	out, _, _ := call(t, append([]string{"jobs"}, at...)...)
	lines := strings.Split(out, "\n")
	if want := []string{"7/run", "filling", "1/3", "0", "-", "0s", "0,2"}; !cmp.Equal(want, strings.Fields(lines[1])) {
		t.Errorf("got %q, want %q", lines[1], want)
	}
	if out, _, _ := call(t, append([]string{"jobs", "--json"}, at...)...); !strings.Contains(out, `"run_key": "run"`) {
		t.Errorf("JSON: %s", out)
	}

	ready := make(chan error, 1)
	go func() {
		_, err := m.Ready(t.Context(), spantree.Shard{})
		ready <- err
	}()
	if _, stderr, code := call(t, append([]string{"cancel", "8"}, at...)...); code != exitRefused || !strings.Contains(stderr, "there is no job 8") {
		t.Errorf("code %d, %q", code, stderr)
	}
	if _, stderr, code := call(t, append([]string{"cancel", "7", "--reason", "wrong data"}, at...)...); code != 0 || stderr != "" {
		t.Errorf("code %d, %q", code, stderr)
	}
	err = <-ready
	if no, ok := errors.AsType[*spantree.RefusedError](err); !ok || no.Code != spantree.Cancelled || !strings.Contains(no.Reason, "wrong data") {
		t.Errorf("the rank hears %v", err)
	}
	if out, _, _ := call(t, append([]string{"jobs"}, at...)...); out != "no jobs\n" {
		t.Errorf("it is still there: %q", out)
	}
}

func TestJobsTable(t *testing.T) {
	st := &spantree.ServerStatus{Jobs: []spantree.JobStatus{
		{
			UniqueID: 1, State: "wired", Total: 2, Joined: 2, Seconds: 62.4,
			Ranks: []spantree.RankStatus{
				{Rank: 0, Pass: 2, Examples: 100, Loss: 0.5, Waits: "rank 0: barrier #3: 12 s, waiting for rank 1"},
				{Rank: 1, Pass: 3, Examples: 300, Loss: 0.1},
			},
		},
		{UniqueID: 2, RunKey: "k", State: "filling", Total: 20},
		{
			UniqueID: 4, State: "recovering", Total: 2, Joined: 1, Seconds: 5, Report: "epoch 1.1 ended 2s ago; rank 1 (h1) was lost 2s ago",
			Ranks: []spantree.RankStatus{{Rank: 0, Pass: 2, Examples: 10, Loss: 1}, {Rank: 1, State: "standby"}},
		},
		{UniqueID: 3, State: "wired", VW: true, Total: 2, Joined: 1, Ranks: []spantree.RankStatus{{Rank: 1}}},
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
