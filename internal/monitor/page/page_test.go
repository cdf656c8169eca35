// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/history"
	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// source is a server whose status a test changes.
type source struct {
	mu sync.Mutex
	st protocol.ServerStatus
}

func (s *source) status() protocol.ServerStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.st
	st.Jobs = nil
	for _, j := range s.st.Jobs {
		j.Ranks = append([]protocol.RankStatus(nil), j.Ranks...)
		st.Jobs = append(st.Jobs, j)
	}
	return st
}

func (s *source) change(f func(st *protocol.ServerStatus)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.st)
}

// running returns a source with one wired job of total ranks.
func running(total int) *source {
	j := protocol.JobStatus{UniqueID: 7, RunKey: "<b>run</b>", State: "wired", Epoch: "1.1", Total: total, Joined: total, Options: "method=sgd passes=20"}
	for r := range total {
		j.Ranks = append(j.Ranks, protocol.RankStatus{Rank: r, Attempt: uint64(100 + r), Host: fmt.Sprintf("h%d", r), State: "ready", Steps: 1, Examples: 10, Loss: 0.5})
	}
	return &source{st: protocol.ServerStatus{Version: "test", Jobs: []protocol.JobStatus{j}}}
}

// serve serves a page that the test ticks.
func serve(t *testing.T, cfg Config) (*Page, *httptest.Server) {
	t.Helper()
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p.Tick(time.Now())
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	t.Cleanup(func() { p.mu.Lock(); p.hub.close(); p.mu.Unlock() })
	return p, s
}

// stream is a client of events.
type stream struct {
	t  *testing.T
	in *bufio.Scanner
}

func open(t *testing.T, s *httptest.Server, query string) *stream {
	t.Helper()
	resp, err := s.Client().Get(s.URL + "/events" + query)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("status %v, %s", resp.Status, resp.Header.Get("Content-Type"))
	}
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 64<<20)
	return &stream{t, in}
}

// message is a message of the stream.
type message struct {
	Now  int64
	Full bool
	Jobs []summary
	Gone []int
	Job  *struct {
		N       int
		Full    bool
		Rows    [][]any
		Spans   [][4]int64
		Marks   [][3]int64
		Events  [][]any
		From    int
		Points  [][6]float64
		Parents []int
		Waits   []string
		Options string

		Traffic *struct {
			Times   []int64
			Classes [][4]int64
			Edges   [][6]int64
		}
		Previous *struct {
			Name   string
			Points [][6]float64
		}
	}
}

// next returns the next message.
func (s *stream) next() (m message) {
	s.t.Helper()
	for s.in.Scan() {
		if text, ok := strings.CutPrefix(s.in.Text(), "data: "); ok {
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				s.t.Fatalf("%v in %s", err, text)
			}
			return m
		}
	}
	s.t.Fatalf("the stream has ended: %v", s.in.Err())
	return m
}

// TestStream sends the whole history first, and then only what has changed.
func TestStream(t *testing.T) {
	t.Parallel()
	src := running(3)
	p, s := serve(t, Config{Source: src.status})
	c := open(t, s, "?job=1")
	m := c.next()
	if !m.Full || len(m.Jobs) != 1 || m.Jobs[0].Name != "<b>run</b>" || m.Jobs[0].Passes != 20 {
		t.Fatalf("list %+v", m)
	}
	j := m.Job
	if j == nil || !j.Full || len(j.Rows) != 3 || len(j.Spans) != 3 || len(j.Points) != 1 || len(j.Events) != 3 || fmt.Sprint(j.Parents) != "[1 -1 1]" {
		t.Fatalf("job %+v", j)
	}
	p.Tick(time.Now())
	if m = c.next(); len(m.Jobs) != 0 || len(m.Job.Rows) != 0 || len(m.Job.Spans) != 0 || len(m.Job.Points) != 0 || m.Job.Full {
		t.Errorf("nothing has changed, got %+v %+v", m, m.Job)
	}
	src.change(func(st *protocol.ServerStatus) {
		one := 1
		r := &st.Jobs[0].Ranks[2]
		r.WaitsFor, r.Collective, r.WaitsSeconds, r.Examples = &one, 3, 1, 20
	})
	p.Tick(time.Now())
	m = c.next()
	if len(m.Job.Rows) != 1 || m.Job.Rows[0][0] != 2.0 || len(m.Job.Spans) != 1 || m.Job.Spans[0][0] != 2 || len(m.Job.Points) != 1 || len(m.Job.Waits) != 1 {
		t.Errorf("got %+v", m.Job)
	}
	src.change(func(st *protocol.ServerStatus) { st.Jobs = nil })
	p.Tick(time.Now())
	if m = c.next(); len(m.Jobs) != 1 || m.Jobs[0].Outcome != "unknown" {
		t.Errorf("the job has ended: got %+v", m.Jobs)
	}
	late := open(t, s, "?job=1").next()
	if late.Job == nil || len(late.Job.Spans) != 7 || len(late.Job.Events) != 4 {
		t.Errorf("a later client got %+v", late.Job)
	}
}

// TestPrevious sends the curve of the last run of the same name, once.
func TestPrevious(t *testing.T) {
	t.Parallel()
	src := running(2)
	p, s := serve(t, Config{Source: src.status})
	first := src.status().Jobs[0]
	src.change(func(st *protocol.ServerStatus) {
		st.Jobs = nil
		st.Ended = []protocol.EndedJob{{UniqueID: 7, RunKey: first.RunKey, Outcome: "finished", Rank: -1, Total: 2, Ended: time.Now()}}
	})
	p.Tick(time.Now())
	src.change(func(st *protocol.ServerStatus) {
		first.Ranks[0].Loss, first.Ranks[1].Loss = 0.4, 0.4
		st.Jobs = append(st.Jobs, first)
	})
	p.Tick(time.Now())
	c := open(t, s, "?job=2")
	m := c.next()
	if b := m.Job.Previous; b == nil || b.Name != "<b>run</b>" || len(b.Points) != 1 || b.Points[0][2] != 0.5 || m.Job.Points[0][2] != 0.4 {
		t.Errorf("got %+v", m.Job)
	}
	p.Tick(time.Now())
	if m = c.next(); m.Job.Previous != nil {
		t.Errorf("the curve is sent again: %+v", m.Job.Previous)
	}
}

// TestHeaders checks the headers of every answer, and that the page is complete.
func TestHeaders(t *testing.T) {
	t.Parallel()
	_, s := serve(t, Config{Source: running(1).status})
	for path, want := range map[string]string{"/": "text/html", "/page.js": "text/javascript", "/page.css": "text/css", "/status.json": "application/json", "/none": "text/plain"} {
		resp, err := s.Client().Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		csp := resp.Header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", path, resp.Header)
		}
		if !strings.HasPrefix(resp.Header.Get("Content-Type"), want) {
			t.Errorf("%s: type %s, want %s", path, resp.Header.Get("Content-Type"), want)
		}
		if text := string(body); strings.Contains(text, "http://") && !strings.Contains(text, "http://www.w3.org/") || strings.Contains(text, "https://") || strings.Contains(text, "style=\"") {
			t.Errorf("%s loads something from elsewhere, or has an inline style", path)
		}
	}
}

// TestBounds refuses a client above the limit, and ends the stream of one that does not read.
func TestBounds(t *testing.T) {
	t.Parallel()
	p, s := serve(t, Config{Source: running(1).status, MaxClients: 2})
	a := open(t, s, "?job=1")
	a.next()
	slow, err := p.add(1)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Client().Get(s.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("third client: %s", resp.Status)
	}
	for range queued + 1 {
		p.Tick(time.Now())
		a.next()
	}
	ended := 0
	for range slow.out {
		ended++
	}
	if ended != queued {
		t.Errorf("the slow client got %d messages, want %d", ended, queued)
	}
	open(t, s, "").next() // its place is free
}

// add adds a client that does not read.
func (p *Page) add(n int) (*client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hub.add(p, n)
}

// TestControl changes a job only with a confirmation, from the page itself, and if that is permitted.
func TestControl(t *testing.T) {
	t.Parallel()
	var done []string
	control := &Control{
		Cancel: func(j history.ID) error { done = append(done, "cancel "+j.Name()); return nil },
		Kill: func(_ history.ID, rank int) error {
			done = append(done, fmt.Sprint("kill ", rank))
			return fmt.Errorf("rank %d has ended", rank)
		},
	}
	_, open := serve(t, Config{Source: running(3).status, Control: control})
	_, closed := serve(t, Config{Source: running(3).status})
	for _, test := range []struct {
		server *httptest.Server
		form   url.Values
		site   string
		status int
		text   string
	}{
		{closed, url.Values{"job": {"1"}, "action": {"cancel"}, "confirm": {"<b>run</b>"}}, "same-origin", 403, "read-only"},
		{open, url.Values{"job": {"1"}, "action": {"cancel"}, "confirm": {"<b>run</b>"}}, "cross-site", 403, "another site"},
		{open, url.Values{"job": {"1"}, "action": {"cancel"}}, "same-origin", 400, "not confirmed"},
		{open, url.Values{"job": {"2"}, "action": {"cancel"}}, "same-origin", 404, "no such job"},
		{open, url.Values{"job": {"1"}, "action": {"kill"}, "rank": {"3"}, "confirm": {"<b>run</b>"}}, "same-origin", 404, "no such job or rank"},
		{open, url.Values{"job": {"1"}, "action": {"kill"}, "confirm": {"<b>run</b>"}}, "same-origin", 400, "cannot do that"},
		{open, url.Values{"job": {"1"}, "action": {"kill"}, "rank": {"2"}, "confirm": {"<b>run</b>"}}, "same-origin", 409, "rank 2 has ended"},
		{open, url.Values{"job": {"1"}, "action": {"cancel"}, "confirm": {"<b>run</b>"}}, "same-origin", 204, ""},
	} {
		r, err := http.NewRequest(http.MethodPost, test.server.URL+"/control", strings.NewReader(test.form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", test.site)
		resp, err := test.server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != test.status || !strings.Contains(string(body), test.text) {
			t.Errorf("%v: %s, %s", test.form, resp.Status, body)
		}
	}
	if got := fmt.Sprint(done); got != "[kill 2 cancel <b>run</b>]" {
		t.Errorf("done %s", got)
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	_, s := serve(t, Config{Source: running(2).status, Log: func(j history.ID, rank int) []string {
		return []string{"a", fmt.Sprint("job ", j.UniqueID, " rank ", rank, " \xff")}
	}})
	for query, want := range map[string]string{"?job=1&rank=1": "a\njob 7 rank 1 \ufffd\n", "?job=1&rank=2": "error: there is no such job or rank\n", "?job=x": "error: there is no such job or rank\n"} {
		resp, err := s.Client().Get(s.URL + "/log" + query)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(body) != want {
			t.Errorf("%s: got %q, want %q", query, body, want)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	_, err := New(Config{Interval: -1, MaxClients: -1, History: history.Config{Jobs: -1}})
	for _, want := range []string{"Config.Source is nil", "Config.Interval is -1ns", "Config.MaxClients is -1", "Config.Jobs is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// The options of a job give the number of its passes, and whether it may end earlier.
func TestPassesOf(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]struct {
		passes int
		early  bool
	}{
		"method=sgd bits=18 passes=20": {20, false}, "method=bfgs passes=30 l2=1": {30, true}, "method=conjugate_gradient passes=7": {7, true},
		"method=hybrid:2:18 passes=1": {20, true}, "method=hybrid:x passes=3": {0, false}, "method=test passes=3": {0, false}, "library=malt passes=5": {5, false}, "library=malt": {0, false}, "": {0, false},
	} {
		if passes, early := passesOf(options); passes != want.passes || early != want.early {
			t.Errorf("%q: got %d and %v, want %+v", options, passes, early, want)
		}
	}
}

// A message has the rates of ranks and edges, once a rank has sent its counts twice.
func TestTraffic(t *testing.T) {
	t.Parallel()
	src := running(2)
	counts := func(seconds int, bytes uint64) func(st *protocol.ServerStatus) {
		return func(st *protocol.ServerStatus) {
			c := &traffic.Counts{
				Times: [traffic.Phases]time.Duration{traffic.Loading: time.Second, traffic.Waiting: time.Duration(seconds-1) * time.Second}, Rounds: traffic.Rounds{Sent: bytes, Behind: 2},
				Classes: []traffic.Class{{Via: traffic.Verbs, Sent: bytes, Received: 2 * bytes}}, Edges: []traffic.Edge{{Rank: 1, Via: traffic.Verbs, Sent: bytes, Received: 2 * bytes}},
			}
			st.Jobs[0].Ranks[0].Traffic, st.Jobs[0].Traffic = c, c
		}
	}
	src.change(counts(2, 1000))
	p, s := serve(t, Config{Source: src.status})
	c := open(t, s, "?job=1")
	if m := c.next(); m.Job.Rows[0][13] != -1.0 || !slices.Equal(m.Job.Traffic.Edges, [][6]int64{{1, 0, 2, 0, 0, 2000}, {0, 1, 2, 0, 0, 1000}}) {
		t.Errorf("got %v and %+v", m.Job.Rows[0], m.Job.Traffic)
	}
	src.change(counts(4, 5000))
	p.Tick(time.Now().Add(2 * time.Second))
	m := c.next()
	if r := m.Job.Rows[0]; r[10-1] != "round 5000, slowest sender 2 behind" || r[13] != 2000.0 || r[14] != 4000.0 || r[17] != 75.0 {
		t.Errorf("got the row %v", r)
	}
	if !slices.Equal(m.Job.Traffic.Times, []int64{1000, 0, 0, 3000}) || !slices.Equal(m.Job.Traffic.Classes, [][4]int64{{2, 0, 5000, 10000}}) ||
		!slices.Equal(m.Job.Traffic.Edges, [][6]int64{{1, 0, 2, 0, 4000, 10000}, {0, 1, 2, 0, 2000, 5000}}) {
		t.Errorf("got %+v", m.Job.Traffic)
	}
}
