// SPDX-License-Identifier: Apache-2.0

package site

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/monitor/page"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

func status() protocol.ServerStatus {
	return protocol.ServerStatus{Version: "test", Jobs: []protocol.JobStatus{{UniqueID: 7, State: "filling", Total: 2}}}
}

// TestSite follows the link as a browser does, and adds a path.
func TestSite(t *testing.T) {
	t.Parallel()
	s, err := Start(Config{Page: page.Config{Source: status}}, func(p *page.Page) {
		p.Handle("GET /metrics", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "metrics") }))
	})
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	browser, stranger := &http.Client{Jar: jar, Transport: transport}, &http.Client{Transport: transport}
	get := func(c *http.Client, url string) (int, string) {
		resp, err := c.Get(url)
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
	base, _, _ := strings.Cut(s.URL, "/login")
	if !strings.HasPrefix(base, "http://127.0.0.1:") {
		t.Errorf("URL %s is not on the loopback interface", s.URL)
	}
	if code, text := get(browser, s.URL); code != 200 || !strings.Contains(text, "page.js") {
		t.Errorf("the link: %d, %s", code, text)
	}
	if code, text := get(browser, base+"/metrics"); code != 200 || text != "metrics" {
		t.Errorf("another path: %d, %s", code, text)
	}
	if code, text := get(browser, base+"/status.json"); code != 200 || !strings.Contains(text, `"unique_id":7`) {
		t.Errorf("the status: %d, %s", code, text)
	}
	if code, _ := get(stranger, base+"/status.json"); code != 401 {
		t.Errorf("without a cookie: %d", code)
	}
	if code, text := get(stranger, base+"/healthz"); code != 200 || text != "ok\n" {
		t.Errorf("a probe: %d, %s", code, text)
	}
	resp, err := browser.Get(base + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := s.Close(); err != nil {
		t.Errorf("Close with an open stream: %v", err)
	}
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Errorf("the stream does not end cleanly: %v", err)
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"": "127.0.0.1 0", "8090": "127.0.0.1 8090", ":8090": "127.0.0.1 8090", "h": "h 0", "h:1": "h 1", "0.0.0.0": "0.0.0.0 0", "::1": "::1 0", "[::1]:2": "::1 2", "[::]": ":: 0",
		"h:x": "fault", "a:b:c": "fault", "h:99999": "fault",
	} {
		host, port, err := split(addr)
		got := host + " " + port
		if err != nil {
			got = "fault"
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: -want +got:\n%s", addr, d)
		}
	}
}

// TestOpenToTheWorld refuses an address that other machines can reach, without a token and TLS.
func TestOpenToTheWorld(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cfg Config
		ok  bool
	}{
		{Config{Address: "0.0.0.0:0"}, false},
		{Config{Address: "[::]:0"}, false},
		{Config{Address: "gateway"}, false},
		{Config{Address: "localhost:0"}, true},
		{Config{Address: "127.1.2.3"}, true},
		{Config{Address: "0.0.0.0:0", Token: "x"}, true},
		{Config{Address: "0.0.0.0:0", TLS: &tls.Config{}}, true},
	} {
		test.cfg.Page.Source = status
		err := test.cfg.Validate()
		if (err == nil) != test.ok || err != nil && !strings.Contains(err.Error(), "set Config.Token or Config.TLS") {
			t.Errorf("%s: %v", test.cfg.Address, err)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("a token of enough bytes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var c Config
	if err := c.Read(file, "", ""); err != nil || c.Token != "a token of enough bytes" {
		t.Errorf("token %q, %v", c.Token, err)
	}
	if err := c.Read(file+"x", "", ""); err == nil || !strings.Contains(err.Error(), "token of the page") {
		t.Errorf("a missing file: %v", err)
	}
}
