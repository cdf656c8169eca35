// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/serve/engine"
	"github.com/gvw-project/gvw/learn"
)

// newModel returns a model that predicts a value for every example.
func newModel(t testing.TB, name string, value *float32) Model {
	t.Helper()
	e, err := engine.New(t.Context(), engine.Config{Load: func(ctx context.Context) (*learn.Live, error) {
		c := learn.Config{TestOnly: true, Features: learn.FeatureConfig{Bits: 8, Constant: *value}}
		c.Loss.Function = "logistic" // its range does not cut the prediction
		return learn.Open(ctx, c)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return Model{Name: name, Engine: e}
}

// server starts a server of two models, which predict 1 and 2.
func server(t testing.TB, cfg Config) string {
	t.Helper()
	one, two := float32(1), float32(2)
	cfg.Models = []Model{newModel(t, "one", &one), newModel(t, "two", &two)}
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// do sends a request, and returns the status and the body.
func do(t testing.TB, method, url, contentType, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// Each line of a body has a line in the answer, in its format, by the model that the request names.
func TestPredict(t *testing.T) {
	t.Parallel()
	url := server(t, Config{Limits: engine.Limits{MaxLine: 200}, MaxBody: 1000})
	const ndjson = "application/x-ndjson"
	for _, c := range []struct {
		path, contentType, body string
		status                  int
		want                    string
	}{
		{"/predict", "", "|a x\n't|b y", 200, "1\n1 t\n"},
		{"/predict?model=two", "text/plain", "|a x\n\n", 200, "2\n"},
		{"/predict?model=three", "", "|a x\n", 404, "no such model: have one, two"},
		{"/predict", "image/png", "|a x\n", 415, "neither"},
		{"/predict", "application/json", `{"a":{"x":1},"_tag":"t"}`, 200, `{"prediction":1,"tag":"t"}` + "\n"},
		{"/predict", ndjson, "{\"a\":{\"x\":1}}\n{\"a\":\n{\"b\":2}\n", 200, "error"},
		{"/predict", "application/json", `{"a":`, 400, "error"},
		{"/predict", "", "1 |a x:1:2", 400, "error: line 1"},
		{"/predict", "", "bogus |a x", 400, "error: line 1: malformed line; this recovery is not used: \"bogus\" is not a good float"},
		{"/predict", "", "1 2 3 4 |a x", 400, "4 is too many tokens for a simple label"},
		{"/predict", "", "|a x\n1 |a x:1:2\n't|a", 200, "1\nerror: line 2"},
		{"/predict", "", "|a " + strings.Repeat("x", 300), 413, "longer than 200 bytes"},
		{"/predict", "", strings.Repeat("|a x\n", 300), 413, "longer than 1000 bytes"},
		{"/predict", "", "save_model|", 400, "saves no models"},
		{"/predict", "", "", 200, ""},
	} {
		status, got := do(t, "POST", url+c.path, c.contentType, c.body)
		if status != c.status || !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s %q: %d %q, want %d %q", c.path, c.body, status, got, c.status, c.want)
		}
	}
	if status, _ := do(t, "GET", url+"/predict", "", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("GET /predict: %d", status)
	}
}

// A client gets the answers to the lines that it has sent before it ends its body.
func TestStreaming(t *testing.T) {
	t.Parallel()
	url := server(t, Config{})
	body, lines := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url+"/predict", body)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(lines, "'a|x\n'b|x\n") }()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answers := bufio.NewScanner(resp.Body)
	for i := range 3 {
		for _, tag := range []string{"a", "b"} {
			if !answers.Scan() || answers.Text() != "1 "+tag {
				t.Fatalf("round %d: %q, %v", i, answers.Text(), answers.Err())
			}
		}
		if _, text := do(t, "GET", url+"/metrics", "", ""); !strings.Contains(text, fmt.Sprintf("gvw_predictions_total{model=\"one\"} %d\n", 2*(i+1))) {
			t.Errorf("round %d: the metrics lack answers that a client has:\n%s", i, text)
		}
		if i < 2 {
			if _, err := io.WriteString(lines, "'a|x\n'b|x\n"); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = lines.Close()
	if answers.Scan() {
		t.Errorf("a further answer: %q", answers.Text())
	}
}

// Without the token only the health can be asked for.
func TestToken(t *testing.T) {
	t.Parallel()
	url := server(t, Config{Token: "secret"})
	for _, c := range []struct {
		method, path, header string
		status               int
	}{
		{"GET", "/healthz", "", 200},
		{"GET", "/model", "", 401},
		{"GET", "/metrics", "Bearer wrong", 401},
		{"POST", "/predict", "Bearer", 401},
		{"POST", "/predict", "Bearer secret", 200},
		{"GET", "/metrics", "Bearer secret", 200},
	} {
		if status, got := do(t, c.method, url+c.path, "", "|a x\n", "Authorization", c.header); status != c.status {
			t.Errorf("%s %s with %q: %d %s", c.method, c.path, c.header, status, got)
		}
	}
}

// A page of another site cannot make a browser send lines, and neither can one whose name resolves to this machine.
func TestOtherSites(t *testing.T) {
	t.Parallel()
	value := float32(1)
	models := []Model{newModel(t, "one", &value)}
	const fetch, site = "Sec-Fetch-Site", "Origin"
	for _, c := range []struct {
		cfg                       Config
		method, path, host        string
		header, value, wantInBody string
		status                    int
	}{
		{Config{}, "POST", "/predict", "localhost", fetch, "cross-site", "another site", 403},
		{Config{}, "POST", "/predict", "localhost", fetch, "same-site", "another site", 403},
		{Config{}, "POST", "/predict", "localhost", site, "https://other.example", "another site", 403},
		{Config{Token: "t"}, "POST", "/predict", "localhost", fetch, "cross-site", "another site", 403},
		{Config{}, "POST", "/predict", "localhost", fetch, "same-origin", "1\n", 200},
		{Config{}, "POST", "/predict", "host.example", "", "", "1\n", 200},
		{Config{Local: true}, "POST", "/predict", "other.example:8080", site, "http://other.example:8080", `"other.example:8080", want localhost`, 403},
		{Config{Local: true}, "GET", "/model", "other.example", "", "", "want localhost", 403},
		{Config{Local: true, Token: "t"}, "POST", "/predict", "host.example", "", "", "1\n", 200},
		{Config{Local: true}, "POST", "/predict", "LocalHost:8080", site, "http://LocalHost:8080", "1\n", 200},
		{Config{Local: true}, "POST", "/predict", "127.0.0.1:8080", "", "", "1\n", 200},
		{Config{Local: true}, "POST", "/predict", "[::1]", "", "", "1\n", 200},
		{Config{Local: true}, "POST", "/predict", "[::1]:8080", "", "", "1\n", 200},
		{Config{Local: true}, "POST", "/predict", "", "", "", "1\n", 200},
		{Config{Local: true}, "GET", "/healthz", "other.example", "", "", "ok\n", 200},
	} {
		c.cfg.Models = models
		h, err := New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(c.method, c.path, strings.NewReader("|a x\n"))
		r.Host = c.host
		r.Header.Set("Authorization", "Bearer "+c.cfg.Token)
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Body.String(); w.Code != c.status || !strings.Contains(got, c.wantInBody) {
			t.Errorf("%s %s of %q with %s %q: %d %q, want %d %q", c.method, c.path, c.host, c.header, c.value, w.Code, got, c.status, c.wantInBody)
		}
	}
}

// A client that does not end its line, or does not read its answers, is disconnected. It harms no other client.
func TestSlowClientsAreDropped(t *testing.T) {
	t.Parallel()
	lines := server(t, Config{Limits: engine.Limits{LineTimeout: 2 * time.Second}})
	answers := server(t, Config{Limits: engine.Limits{WriteTimeout: 2 * time.Second}})
	const request = "POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n"
	for _, c := range []struct{ sent, status, want string }{
		{"|a x", "408", "error: the next line has not arrived within 2s"},
		{"'one|a x\n'two|a x\n|a", "200", "1 one\n1 two\n"},
	} {
		nc := dial(t, lines)
		if _, err := io.WriteString(nc, request+c.sent); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(nc)
		if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 "+c.status) || !strings.Contains(strings.ReplaceAll(string(got), "\r\n", ""), c.want) {
			t.Errorf("%q: got %q, %v, want %q", c.sent, got, err, c.want)
		}
	}
	reads := dial(t, answers)
	if _, err := io.WriteString(reads, request); err != nil {
		t.Fatal(err)
	}
	many := bytes.Repeat([]byte("'"+strings.Repeat("t", 1000)+"|\n"), 1000)
	for { // until the buffers of the system are full and the server has given up
		if _, err := reads.Write(many); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("a client that reads nothing is still connected")
			}
			break
		}
	}
	for _, url := range []string{lines, answers} {
		if status, got := do(t, "POST", url+"/predict", "", "|a x\n"); status != 200 || got != "1\n" {
			t.Errorf("another client: %d %q", status, got)
		}
	}
}

// dial connects a client, whose reads and writes must not take long.
func dial(t *testing.T, url string) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	if err := nc.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return nc
}

// The model and the counters can be read.
func TestModelAndMetrics(t *testing.T) {
	t.Parallel()
	url := server(t, Config{})
	do(t, "POST", url+"/predict", "", "|a x\n|b y\n|a x:1:2\n")
	_, text := do(t, "GET", url+"/model", "", "")
	var got map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if got["name"] != "one" || got["bits"] != 8.0 || got["predictions"] != 2.0 || got["errors"] != 1.0 || got["loss_function"] != "logistic" || got["learns"] != false {
		t.Errorf("model: %s", text)
	}
	_, text = do(t, "GET", url+"/metrics", "", "")
	for _, want := range []string{
		`gvw_predictions_total{model="one"} 2`, `gvw_predictions_total{model="two"} 0`, `gvw_errors_total{model="one"} 1`,
		`gvw_request_seconds_bucket{le="+Inf"} 1`, "gvw_request_seconds_count 1",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}

// All answers of a request come from one model, while reloads replace it.
func TestRequestHasOneModel(t *testing.T) {
	t.Parallel()
	value := float32(1)
	m := newModel(t, "m", &value)
	h, err := New(Config{Models: []Model{m}})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	defer s.Close()
	body := strings.Repeat("|a x\n", 2000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20 {
			if _, got := do(t, "POST", s.URL+"/predict", "", body); strings.Count(got, got[:2]) != 2000 {
				t.Errorf("answers of two models, or %d bytes", len(got))
			}
		}
	}()
	for i := 0; ; i++ {
		select {
		case <-done:
			return
		default:
		}
		value = float32(1 + i%9)
		if err := m.Engine.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// An answer is JSON, whatever the prediction and the tag are.
func TestAnswersAreJSON(t *testing.T) {
	for answer, want := range map[string]string{
		"0.5\n":               `{"prediction":0.5}`,
		"-3 tag\n":            `{"prediction":-3,"tag":"tag"}`,
		"spam\n":              `{"prediction":"spam"}`,
		"1:0.25 2:0.75 tag\n": `{"prediction":{"1":0.25,"2":0.75},"tag":"tag"}`,
		"inf\n":               `{"prediction":"inf"}`,
	} {
		tag := ""
		if strings.Contains(answer, " tag") {
			tag = "tag"
		}
		got := strings.TrimSpace(string(appendJSON(nil, []byte(answer), []byte(tag))))
		if diff := cmp.Diff(want, got); diff != "" || !json.Valid([]byte(got)) {
			t.Errorf("%q (-want +got):\n%s", answer, diff)
		}
	}
}

// Validate reports all faults.
func TestConfigFaults(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want []string
	}{
		{Config{}, []string{"Models is empty"}},
		{Config{Limits: engine.Limits{MaxLine: -1}, MaxBody: -1}, []string{"Limits.MaxLine", "MaxBody"}},
		{Config{Models: []Model{{Name: "a"}, {Name: "a"}, {}}}, []string{"Models[0].Engine", `Models has "a" twice`, "Models[2].Name"}},
	} {
		err := c.cfg.Validate()
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), "web: Config."+want) {
				t.Errorf("%q is missing in %v", want, err)
			}
		}
	}
}

// Whatever a client sends, each line of the answer is complete, and JSON where JSON was asked for.
func FuzzPredict(f *testing.F) {
	for _, s := range []string{"|a x\n", "{\"a\":1}\n{", "\x00\xff\n", `{"_tag":"a b\u0000"}`, "1 |a x:1:2\n|b"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	one := float32(1)
	h, err := New(Config{Models: []Model{newModel(f, "one", &one)}, Limits: engine.Limits{MaxLine: 300}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string, asJSON bool) {
		r := httptest.NewRequest("POST", "/predict", strings.NewReader(body))
		if asJSON {
			r.Header.Set("Content-Type", "application/json")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		got := w.Body.String()
		if got != "" && !strings.HasSuffix(got, "\n") {
			t.Errorf("%d %q is no line", w.Code, got)
		}
		for line := range strings.Lines(got) {
			if asJSON && !json.Valid([]byte(line)) {
				t.Errorf("%q is no JSON", fmt.Sprint(line))
			}
		}
	})
}
