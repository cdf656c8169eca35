// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/gvw-project/gvw/internal/spantree/server"
)

// The ranks of a real job send one trace to a collector. A failure is the status of the spans.
func TestTracesOfAJob(t *testing.T) {
	var mu sync.Mutex
	spans := map[string][]*tracepb.Span{}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		var data tracepb.TracesData
		if err == nil {
			err = proto.Unmarshal(body, &data)
		}
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, rs := range data.GetResourceSpans() {
			for _, ss := range rs.GetScopeSpans() {
				for _, s := range ss.GetSpans() {
					spans[s.GetName()] = append(spans[s.GetName()], s)
				}
			}
		}
	}))
	defer collector.Close()
	srv, err := server.StartLocal(t.Context(), 0, server.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := srv.Stop(); err != nil {
			t.Error(err)
		}
	}()
	data := filepath.Join(t.TempDir(), "x.vw")
	if err := os.WriteFile(data, []byte("1 | a b\n-1 | c\n1 | a c\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(id string, more ...string) (codes [2]int, texts [2]string) {
		clear(spans)
		var ranks sync.WaitGroup
		for rank := range 2 {
			ranks.Go(func() {
				_, texts[rank], codes[rank] = call(t, append([]string{
					"-d", data, "--passes", "2", "--holdout_off", "--quiet", "--otlp", collector.URL, "--span_server", "127.0.0.1", "--span_server_port", strconv.Itoa(srv.Port),
					"--bind", "127.0.0.1", "--unique_id", id, "--total", "2", "--node", strconv.Itoa(rank), "-k", "--cache_file", data + id + strconv.Itoa(rank),
				}, more...)...)
			})
		}
		ranks.Wait()
		return codes, texts
	}
	if codes, texts := run("1"); codes != [2]int{} {
		t.Fatal(codes, texts)
	}
	var trace string
	for name, n := range map[string]int{"job": 1, "rank 0": 1, "rank 1": 1, "pass 1": 1, "pass 2": 1, "step 1": 2, "step 2": 2} {
		if len(spans[name]) != n {
			t.Errorf("got %d spans %q, want %d", len(spans[name]), name, n)
		}
		for _, s := range spans[name] {
			if trace == "" {
				trace = string(s.GetTraceId())
			}
			if string(s.GetTraceId()) != trace || s.GetStatus().GetCode() != 0 {
				t.Errorf("%s is in another trace, or has an error: %v", name, s)
			}
		}
	}
	sums := 0
	for name, all := range spans {
		if strings.HasPrefix(name, "all-reduce ") {
			sums += len(all)
		}
	}
	if sums < 4 {
		t.Errorf("got %d all-reduces, want those of 2 ranks in 2 passes", sums)
	}
	if codes, _ := run("2", "-i", "missing.model"); codes[0] == 0 {
		t.Fatal("a job without its model succeeds")
	}
	for _, name := range []string{"job", "rank 0", "rank 1"} {
		if got := spans[name]; len(got) != 1 || got[0].GetStatus().GetCode() != tracepb.Status_STATUS_CODE_ERROR || !strings.Contains(got[0].GetStatus().GetMessage(), "missing.model") {
			t.Errorf("%s: %v, want the error as its status", name, got)
		}
	}
	if _, text, code := call(t, "-d", data, "--quiet", "--otlp", "localhost:4318"); code != 1 || !strings.Contains(text, "--otlp: got") {
		t.Errorf("code %d, %s", code, text)
	}
	// A collector that is missing costs a warning.
	collector.Close()
	if _, text, code := call(t, "-d", data, "--otlp", collector.URL); code != 0 || !strings.Contains(text, "the trace is incomplete") {
		t.Errorf("code %d, %s", code, text)
	}
}
