// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/gvw-project/gvw/internal/timeline"
)

// receiver is a collector.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	spans  []*tracepb.Span
	attrs  map[string]string // of the newest resource
	answer []int             // statuses of the next answers; then 200
	calls  int
}

func receive(t *testing.T, answer ...int) *receiver {
	t.Helper()
	r := &receiver{attrs: map[string]string{}, answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.calls++
		if len(r.answer) > 0 {
			status := r.answer[0]
			r.answer = r.answer[1:]
			w.WriteHeader(status)
			return
		}
		body, err := io.ReadAll(q.Body)
		var data tracepb.TracesData
		if err = errors.Join(err, proto.Unmarshal(body, &data)); err != nil || q.URL.Path != "/v1/traces" || q.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s, %v: %v", q.URL, q.Header, err)
		}
		for _, rs := range data.GetResourceSpans() {
			for _, a := range rs.GetResource().GetAttributes() {
				r.attrs[a.GetKey()] = a.GetValue().GetStringValue()
			}
			for _, ss := range rs.GetScopeSpans() {
				r.spans = append(r.spans, ss.GetSpans()...)
			}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// span returns the only span of a name whose parent has another name; "" is no parent.
func (r *receiver) span(t *testing.T, name string) *tracepb.Span {
	t.Helper()
	var found *tracepb.Span
	for _, s := range r.spans {
		if s.GetName() == name {
			if found != nil {
				t.Errorf("there are two spans %q", name)
			}
			found = s
		}
	}
	if found == nil {
		t.Fatalf("there is no span %q", name)
	}
	return found
}

func start(t *testing.T, c Config) *Tracer {
	t.Helper()
	tr, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// The ranks of a job make one trace: the job, its attempts, their steps and passes, and the collectives of the steps.
func TestTrace(t *testing.T) {
	r := receive(t)
	at := func(s int64) time.Time { return time.Unix(1000+s, 0) }
	ranks := []*Tracer{
		start(t, Config{URL: r.URL, Job: "7/run", Rank: 0, Ranks: 2, Host: "h0", Version: "v9"}),
		start(t, Config{URL: r.URL, Job: "7/run", Rank: 1, Ranks: 2, Attempt: 2, Host: "h0", Version: "v9"}),
	}
	tr := ranks[1]
	tr.Span(timeline.Steps, timeline.Work, at(0), at(1), 0)
	tr.Span(timeline.Sends, "0", at(1), at(2), 9)
	tr.Span(timeline.Collectives, "all-reduce weights", at(1), at(3), 400)
	tr.Span(timeline.Steps, timeline.Commit, at(3), at(4), 0)
	tr.Span(timeline.Steps, timeline.Work, at(5), at(6), 0)
	if _, err := io.WriteString(ranks[0], `{"pass":1,"method":"sgd","examples":70,"loss":0.5,"holdout_loss":null}`+"\n"); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("rank 1 is lost")
	for i, err := range []error{nil, failure} {
		if err := ranks[i].End(t.Context(), err); err != nil {
			t.Fatal(err)
		}
	}
	job, attempt := r.span(t, "job"), r.span(t, "rank 1")
	for name, parent := range map[string]*tracepb.Span{
		"job": {}, "rank 0": job, "rank 1": job, "pass 1": r.span(t, "rank 0"),
		"step 1": attempt, "step 2": attempt, "all-reduce weights": r.span(t, "step 1"),
	} {
		s := r.span(t, name)
		if d := cmp.Diff(parent.GetSpanId(), s.GetParentSpanId()); d != "" || string(s.GetTraceId()) != string(job.GetTraceId()) || len(s.GetTraceId()) != 16 {
			t.Errorf("%s: parent, -want +got:\n%s", name, d)
		}
	}
	if got := r.span(t, "all-reduce weights"); got.GetStartTimeUnixNano() != uint64(at(1).UnixNano()) || got.GetEndTimeUnixNano() != uint64(at(3).UnixNano()) || got.GetAttributes()[0].GetValue().GetIntValue() != 400 {
		t.Errorf("the all-reduce is %v", got)
	}
	// The second step begins where the first has ended.
	if got := r.span(t, "step 2").GetStartTimeUnixNano(); got != uint64(at(4).UnixNano()) {
		t.Errorf("step 2 begins at %d", got)
	}
	for name, want := range map[string]tracepb.Status_StatusCode{"job": 0, "rank 0": 0, "step 1": 0, "rank 1": tracepb.Status_STATUS_CODE_ERROR, "step 2": tracepb.Status_STATUS_CODE_ERROR} {
		got := r.span(t, name).GetStatus()
		if got.GetCode() != want || want != 0 && got.GetMessage() != failure.Error() {
			t.Errorf("the status of %s is %v", name, got)
		}
	}
	pass := map[string]string{}
	for _, a := range r.span(t, "pass 1").GetAttributes() {
		pass[a.GetKey()] = a.GetValue().String()
	}
	if len(pass) != 3 || pass["gvw.loss"] != "double_value:0.5" {
		t.Errorf("the pass has %v", pass)
	}
	if d := cmp.Diff(map[string]string{"service.name": "gvw", "service.version": "v9", "host.name": "h0"}, r.attrs); d != "" {
		t.Errorf("resource, -want +got:\n%s", d)
	}
}

// A later attempt of rank 0 has a span of the job of its own, below that of the first attempt.
func TestAttemptsHaveSpansOfTheirOwn(t *testing.T) {
	r := receive(t)
	for attempt := range uint64(3) {
		if err := start(t, Config{URL: r.URL, Job: "1/a", Attempt: attempt + 1}).End(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	var root []byte
	ids := map[string]string{} // parents
	for _, s := range r.spans {
		ids[string(s.GetSpanId())] = string(s.GetParentSpanId())
		if s.GetName() == "job" && len(s.GetParentSpanId()) == 0 {
			root = s.GetSpanId()
		}
	}
	below := 0
	for _, parent := range ids {
		if parent == string(root) {
			below++
		}
	}
	// The attempt of the first, and the jobs of the others.
	if len(ids) != 6 || below != 3 {
		t.Errorf("got %d identities, %d of them below the first job, want 6 and 3", len(ids), below)
	}
}

// Jobs with different keys have different traces.
func TestJobsHaveTracesOfTheirOwn(t *testing.T) {
	r := receive(t)
	for _, job := range []string{"1/a", "1/b"} {
		if err := start(t, Config{URL: r.URL, Job: job}).End(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	traces := map[string]bool{}
	for _, s := range r.spans {
		traces[string(s.GetTraceId())] = true
	}
	if len(r.spans) != 4 || len(traces) != 2 {
		t.Errorf("got %d spans in %d traces, want 4 in 2", len(r.spans), len(traces))
	}
}

// A collector that is busy is asked again. One that refuses is not, and End returns its answer.
func TestUpload(t *testing.T) {
	for _, c := range []struct {
		answer []int
		calls  int
		want   string // "": no error
	}{
		{[]int{503, 429}, 3, ""},
		{[]int{503, 503, 503}, 3, "503 Service Unavailable"},
		{[]int{400}, 1, "400 Bad Request"},
	} {
		r := receive(t, c.answer...)
		err := start(t, Config{URL: r.URL + "/", Job: "1/"}).End(t.Context(), nil)
		if (err == nil) != (c.want == "") || err != nil && !strings.HasSuffix(err.Error(), c.want) || r.calls != c.calls {
			t.Errorf("%v: %v after %d calls, want %q after %d", c.answer, err, r.calls, c.want, c.calls)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, u := range []string{"", "localhost:4318", "ftp://h", "http://", "http://h:x", "://"} {
		if err := (Config{URL: u}).Validate(); err == nil {
			t.Errorf("%q is valid", u)
		}
	}
	if got, err := (Config{URL: "https://h/own/path"}).endpoint(); got != "https://h/own/path" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// Without a tracer nothing happens, and a span after the end is ignored.
func TestNoTracer(t *testing.T) {
	var none *Tracer
	none.Span(timeline.Steps, "work", time.Now(), time.Now(), 0)
	if _, err := none.Write([]byte("{}")); err != nil {
		t.Error(err)
	}
	if err := none.End(t.Context(), nil); err != nil {
		t.Error(err)
	}
	r := receive(t)
	tr := start(t, Config{URL: r.URL, Job: "1/"})
	for range 2 {
		if err := tr.End(t.Context(), nil); err != nil {
			t.Error(err)
		}
		tr.Span(timeline.Steps, "work", time.Now(), time.Now(), 0)
	}
	if len(r.spans) != 2 {
		t.Errorf("got %d spans, want 2", len(r.spans))
	}
}
