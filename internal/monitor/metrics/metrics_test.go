// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// status is a server with two jobs.
func status() protocol.ServerStatus {
	return protocol.ServerStatus{
		Version: "spanning_tree v1", Term: 3, Journal: "disk full",
		Jobs: []protocol.JobStatus{{
			UniqueID: 7, RunKey: "nightly", State: "wired", Total: 3, Joined: 2, Vacant: []int{2}, Seconds: 12.5,
			Traffic: &traffic.Counts{
				Times:   [traffic.Phases]time.Duration{traffic.Loading: 2 * time.Second, traffic.Waiting: 1500 * time.Millisecond},
				Calls:   []traffic.Calls{{Call: traffic.AllReduce, Count: 6, Took: 3 * time.Second, Bytes: 4096, Buckets: [traffic.Buckets]uint64{0: 1, 4: 3, traffic.Buckets - 1: 2}}},
				Classes: []traffic.Class{{Via: traffic.Memory, Local: true, Sent: 10, Received: 11}, {Via: traffic.Verbs, Sent: 12, Received: 13}},
			},
			Ranks: []protocol.RankStatus{
				{Rank: 0, State: "ready", Steps: 5, Examples: 100, Loss: 0.5, Silent: 0.5},
				{Rank: 1, State: "ready", Steps: 3, Examples: 300, Loss: 0.1, Silent: 2.5, Waits: "all-reduce #17"},
				{Rank: 1, State: "standby", Steps: 0, Silent: 60},
			},
		}, {UniqueID: 8, State: "filling", Total: 2}},
		Ended: []protocol.EndedJob{{Outcome: "failed"}, {Outcome: "finished"}, {Outcome: "failed"}},
	}
}

func TestMetrics(t *testing.T) {
	w := httptest.NewRecorder()
	Handler(status).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	got := w.Body.String()
	for _, line := range []string{
		`gvw_server_info{version="spanning_tree v1"} 1`, "gvw_server_term 3", "gvw_server_draining 0", "gvw_server_journal_failed 1",
		`gvw_server_jobs{state="wired"} 1`, `gvw_server_jobs{state="ending"} 0`, `gvw_server_ended_jobs{outcome="failed"} 2`, "gvw_server_jobs_without_metrics 0",
		`gvw_job_ranks{job="7/nightly"} 3`, `gvw_job_vacant_ranks{job="7/nightly"} 1`, `gvw_job_steps{job="7/nightly"} 3`, `gvw_job_steps_spread{job="7/nightly"} 2`,
		`gvw_job_examples{job="7/nightly"} 400`, `gvw_job_loss{job="7/nightly"} 0.2`, `gvw_job_silence_seconds{job="7/nightly"} 2.5`, `gvw_job_waiting_ranks{job="7/nightly"} 1`,
		`gvw_job_ready_ranks{job="7/nightly"} 2`, `gvw_job_steps{job="8"} 0`,
		`gvw_job_phase_seconds_total{job="7/nightly",phase="load"} 2`, `gvw_job_phase_seconds_total{job="7/nightly",phase="wait"} 1.5`,
		`gvw_job_collective_seconds_bucket{collective="all-reduce",job="7/nightly",le="1e-05"} 1`, `gvw_job_collective_seconds_bucket{collective="all-reduce",job="7/nightly",le="0.001"} 4`,
		`gvw_job_collective_seconds_bucket{collective="all-reduce",job="7/nightly",le="10"} 4`, `gvw_job_collective_seconds_bucket{collective="all-reduce",job="7/nightly",le="+Inf"} 6`,
		`gvw_job_collective_seconds_count{collective="all-reduce",job="7/nightly"} 6`, `gvw_job_collective_seconds_sum{collective="all-reduce",job="7/nightly"} 3`,
		`gvw_job_collective_bytes_total{collective="all-reduce",job="7/nightly"} 4096`,
		`gvw_job_sent_bytes_total{edge="shared_memory",host="same",job="7/nightly"} 10`, `gvw_job_received_bytes_total{edge="verbs",host="other",job="7/nightly"} 13`,
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("%q is missing in\n%s", line, got)
		}
	}
}

// promtool's rules find no fault.
func TestLint(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(collector{status})
	problems, err := testutil.GatherAndLint(r)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// A server of many jobs has as many series as one of MaxJobs.
func TestCardinalityIsBounded(t *testing.T) {
	s := protocol.ServerStatus{}
	for i := range 1000 {
		j := protocol.JobStatus{UniqueID: uint64(i), State: "wired", Total: 100, Traffic: &traffic.Counts{}}
		all := traffic.Counts{}
		for k := range 256 { // also those that no version has
			all.Calls = append(all.Calls, traffic.Calls{Call: traffic.Call(k), Count: 1})
			all.Classes = append(all.Classes, traffic.Class{Via: traffic.Via(k)}, traffic.Class{Via: traffic.Via(k), Local: true})
		}
		j.Traffic.Add(&all, nil)
		for r := range 100 {
			j.Ranks = append(j.Ranks, protocol.RankStatus{Rank: r, State: "ready"})
		}
		s.Jobs = append(s.Jobs, j)
	}
	n := testutil.CollectAndCount(collector{func() protocol.ServerStatus { return s }})
	if want := 5 + len(states) + len(outcomes) + MaxJobs*(len(jobMetrics)+maxTrafficSeries); n != want {
		t.Errorf("%d series, want %d", n, want)
	}
	w := httptest.NewRecorder()
	Handler(func() protocol.ServerStatus { return s }).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if text := w.Body.String(); !strings.Contains(text, "gvw_server_jobs_without_metrics 936\n") || !strings.Contains(text, `job="999"`) || strings.Contains(text, `job="935"`) {
		t.Error("the newest 64 jobs do not have metrics of their own")
	}
}

var metricName = regexp.MustCompile(`\bgvw_[a-z_]+`)

// names returns the metrics of the code, with the text of their help.
func names() (all, rows []string) {
	described := make(chan *prometheus.Desc, 100)
	collector{}.Describe(described)
	close(described)
	for d := range described {
		parts := regexp.MustCompile(`fqName: "([^"]*)", help: "([^"]*)"`).FindStringSubmatch(d.String())
		all = append(all, parts[1])
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", parts[1], parts[2]))
	}
	return all, rows
}

// The table of docs/monitoring.md has every metric with its help, and no other.
func TestTableOfMetrics(t *testing.T) {
	b, err := os.ReadFile("../../../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "| `gvw_") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	_, want := names()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-code +page:\n%s", d)
	}
}

// The example alerts and the board name existing metrics only.
func TestExamplesNameExistingMetrics(t *testing.T) {
	known, _ := names()
	for _, name := range []string{"alerts.yml", "board.json"} {
		b, err := os.ReadFile("../../../docs/monitoring/" + name)
		if err != nil {
			t.Fatal(err)
		}
		found := metricName.FindAllString(string(b), -1)
		if len(found) < 5 {
			t.Errorf("%s names %d metrics", name, len(found))
		}
		for _, m := range found {
			for _, part := range []string{"_bucket", "_sum", "_count"} { // of a histogram
				m = strings.TrimSuffix(m, part)
			}
			if !slices.Contains(known, m) {
				t.Errorf("%s names %s, which does not exist", name, m)
			}
		}
	}
}

// Every panel of the board has a title and a query.
func TestBoard(t *testing.T) {
	b, err := os.ReadFile("../../../docs/monitoring/board.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Title         string
		SchemaVersion int
		Panels        []struct {
			ID      int
			Title   string
			Type    string
			GridPos struct{ H, W, X, Y int }
			Targets []struct{ Expr, RefID string }
		}
	}
	if err := json.Unmarshal(b, &board); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, p := range board.Panels {
		if p.Title == "" || p.Type == "" || seen[p.ID] || p.GridPos.W == 0 || p.GridPos.X+p.GridPos.W > 24 || len(p.Targets) == 0 {
			t.Errorf("panel %d: %+v", p.ID, p)
		}
		seen[p.ID] = true
		for _, q := range p.Targets {
			if q.Expr == "" || q.RefID == "" || !metricName.MatchString(q.Expr) || strings.Count(q.Expr, "(") != strings.Count(q.Expr, ")") {
				t.Errorf("panel %q: query %+v", p.Title, q)
			}
		}
	}
	if board.Title == "" || board.SchemaVersion == 0 || len(seen) == 0 {
		t.Errorf("got %+v", board)
	}
}
