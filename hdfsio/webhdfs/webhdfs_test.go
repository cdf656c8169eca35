// SPDX-License-Identifier: Apache-2.0

package webhdfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/hdfsio/fstest"
	"github.com/gvw-project/gvw/hdfsio/remote"
)

func newFS(t *testing.T, cfg Config, log io.Writer) *remote.FS {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := remote.New(c, remote.Config{
		Prefix: "webhdfs://fake", Host: "here", Pid: 7, Spool: t.TempDir(), Patience: time.Second,
		Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

func TestConformance(t *testing.T) {
	f := newFake(t)
	fsys := newFS(t, Config{Nodes: []string{f.node()}, User: "ada"}, t.Output())
	fstest.Run(t, fstest.Config{FS: fsys, Dir: "webhdfs://fake"})
}

// A failed read continues at its offset, a failed write starts again.
func TestBrokenTransfersAreTriedAgain(t *testing.T) {
	f := newFake(t)
	var log bytes.Buffer
	fsys := newFS(t, Config{Nodes: []string{f.node()}, User: "ada"}, &log)
	name := "webhdfs://fake/file"
	want := strings.Repeat("0123456789", 30_000)
	out, err := fsys.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(out, want); err != nil {
		t.Fatal(err)
	}
	f.breaks = 2
	if err := out.Commit(); err != nil {
		t.Fatal(err)
	}
	f.breaks = 3
	in, err := fsys.Open(t.Context(), name, 10)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(in)
	if err := errors.Join(err, in.Close()); err != nil {
		t.Fatal(err)
	}
	if string(got) != want[10:] {
		t.Errorf("read %d bytes, want %d, or not the same ones", len(got), len(want)-10)
	}
	if n := strings.Count(log.String(), "retrying"); n != 5 {
		t.Errorf("%d log lines about retries, want 5:\n%s", n, log.String())
	}
}

func TestTheActiveNameNodeIsFound(t *testing.T) {
	standby, active := newFake(t), newFake(t)
	standby.standby = true
	dead := newFake(t)
	dead.name.Close()
	fsys := newFS(t, Config{Nodes: []string{dead.node(), standby.node(), active.node()}, User: "ada"}, t.Output())
	for range 3 {
		if _, err := fsys.Stat(t.Context(), "webhdfs://fake/"); err != nil {
			t.Fatal(err)
		}
	}
	if n := standby.calls["GETFILESTATUS"]; n != 1 {
		t.Errorf("the one on standby was asked %d times, want once", n)
	}
}

// While a name node starts up, requests go to the next one without a pause. If all of them start up, the requests
// are tried again.
func TestNameNodesThatStartUp(t *testing.T) {
	for _, gateway := range []bool{false, true} {
		starting, active := newFake(t), newFake(t)
		starting.gateway = gateway
		active.gateway = gateway
		cfg := Config{Nodes: []string{starting.node(), active.node()}, User: "ada"}
		use := func(left int) (retries int) {
			t.Helper()
			var log bytes.Buffer
			fsys := newFS(t, cfg, &log) // begins with the first node
			starting.startup, active.startup = 1<<30, left
			if _, err := fsys.Stat(t.Context(), "webhdfs://fake/"); err != nil {
				t.Fatalf("503 %v: %v", gateway, err)
			}
			return strings.Count(log.String(), "retrying")
		}
		if n := use(0); n != 0 {
			t.Errorf("503 %v: %d retries of Stat, want none", gateway, n)
		}
		if n := use(2); n != 2 {
			t.Errorf("503 %v: %d retries while both start up, want 2", gateway, n)
		}
		for op, call := range map[string]func(c *Client) error{
			"Put": func(c *Client) error { return c.Put("/file", strings.NewReader("x"), 0o600) },
			"Open": func(c *Client) error {
				r, err := c.Open("/old", 0)
				if err != nil {
					return err
				}
				b, err := io.ReadAll(r)
				if err == nil && string(b) != "old" {
					err = fmt.Errorf("read %q", b)
				}
				return errors.Join(err, r.Close())
			},
		} {
			if err := os.WriteFile(filepath.Join(active.dir, "old"), []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := call(c); err != nil {
				t.Errorf("503 %v: %s: %v", gateway, op, err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestRequestsNameTheUser(t *testing.T) {
	f := newFake(t)
	f.user = "ada"
	if _, err := newFS(t, Config{Nodes: []string{f.node()}, User: "ada"}, t.Output()).Stat(t.Context(), "webhdfs://fake/"); err != nil {
		t.Error(err)
	}
	_, err := newFS(t, Config{Nodes: []string{f.node()}, User: "eve"}, t.Output()).Stat(t.Context(), "webhdfs://fake/")
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "user=eve") || !strings.Contains(err.Error(), "HADOOP_USER_NAME") {
		t.Errorf("another user: %v", err)
	}
	f.user, f.token = "", "secret"
	if _, err := newFS(t, Config{Nodes: []string{f.node()}, Token: "secret"}, t.Output()).Stat(t.Context(), "webhdfs://fake/"); err != nil {
		t.Error(err)
	}
	_, err = newFS(t, Config{Nodes: []string{f.node()}, User: "ada"}, t.Output()).Stat(t.Context(), "webhdfs://fake/")
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "hdfs fetchdt") {
		t.Errorf("without a token: %v", err)
	}
}

// The error has the response and the address of a server that is not a name node, but never a token.
func TestStrangeServers(t *testing.T) {
	f := newFake(t)
	f.data.Close()
	if _, err := newFS(t, Config{Nodes: []string{f.node()}, User: "ada"}, t.Output()).Create(t.Context(), "webhdfs://fake/x"); err == nil || !strings.Contains(err.Error(), "data node 127.0.0.1") {
		t.Errorf("a dead data node: %v", err)
	}
	f.name.Close()
	_, err := newFS(t, Config{Nodes: []string{f.node()}, Token: "c2VjcmV0"}, t.Output()).Stat(t.Context(), "webhdfs://fake/")
	if err == nil || strings.Contains(err.Error(), "c2VjcmV0") || !strings.Contains(err.Error(), f.node()) {
		t.Errorf("a dead name node: %v", err)
	}
}

// No error has the token, whatever the address of the name node or that of a redirect.
func TestInvalidAddresses(t *testing.T) {
	const token = "c2VjcmV0"
	for node, want := range map[string]string{"nn:http": "nn:http", "nn nn:9870": "nn nn:9870"} {
		_, err := newFS(t, Config{Nodes: []string{node}, Token: token}, t.Output()).Stat(t.Context(), "webhdfs://fake/")
		if err == nil || strings.Contains(err.Error(), token) || !strings.Contains(err.Error(), want) {
			t.Errorf("a name node %q: got %v, want the address without the token", node, err)
		}
		if remote.Transient(err) {
			t.Errorf("a name node %q: got a transient error: %v", node, err)
		}
	}
	dead := newFake(t)
	dead.data.Close()
	for to, test := range map[string]struct {
		want  string
		later bool // a retry may succeed
	}{
		"http://dn:x/file?op=OPEN&delegation=": {want: "http://dn:x/file"},
		"ftp://dn/file?op=OPEN&delegation=":    {want: "ftp://dn/file"},
		"http://dn\x7f/?delegation=":           {"malformed header", true},
		dead.data.URL + "?delegation=":         {"data node 127.0.0.1", true},
	} {
		for _, status := range []int{http.StatusTemporaryRedirect, http.StatusMultipleChoices} {
			name := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", to+token)
				w.WriteHeader(status)
			}))
			t.Cleanup(name.Close)
			c, err := New(Config{Nodes: []string{name.Listener.Addr().String()}, Token: token})
			if err != nil {
				t.Fatal(err)
			}
			_, read := c.Open("/file", 0)
			write := c.Put("/file", strings.NewReader("x"), 0o600)
			for _, err := range []error{read, write} {
				if err == nil || strings.Contains(err.Error(), token) || !strings.Contains(err.Error(), test.want) || remote.Transient(err) != test.later {
					t.Errorf("%d, a redirect to %q: got %v, want %q without the token, transient: %v", status, to, err, test.want, test.later)
				}
			}
		}
	}
}

// With TLS, every connection uses it: a redirect to a data node without TLS is not followed,
// and a data node with an unknown authority gets no request.
func TestTLS(t *testing.T) {
	f := newFakeOf(t, httptest.NewTLSServer, httptest.NewTLSServer)
	roots := f.name.Client().Transport.(*http.Transport).TLSClientConfig
	fsys := newFS(t, Config{Nodes: []string{f.node()}, TLS: true, Roots: roots, User: "ada"}, t.Output())
	out, err := fsys.Create(t.Context(), "webhdfs://fake/x")
	if err == nil {
		_, err = io.WriteString(out, "secret")
	}
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	in, err := fsys.Open(t.Context(), "webhdfs://fake/x", 0)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(in); err != nil || string(b) != "secret" || in.Close() != nil {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := newFS(t, Config{Nodes: []string{f.node()}, TLS: true, User: "ada"}, t.Output()).Stat(t.Context(), "webhdfs://fake/"); err == nil || remote.Transient(err) || !strings.Contains(err.Error(), "SSL_CERT_FILE") {
		t.Errorf("a name node with an unknown authority: %v", err)
	}
	half := newFakeOf(t, httptest.NewTLSServer, httptest.NewServer)
	fsys = newFS(t, Config{Nodes: []string{half.node()}, TLS: true, Roots: roots, User: "ada"}, t.Output())
	if _, err := fsys.Create(t.Context(), "webhdfs://fake/x"); err == nil || !strings.Contains(err.Error(), "without it") {
		t.Errorf("a data node without TLS: %v", err)
	}
}

func TestValidate(t *testing.T) {
	if _, err := New(Config{}); err == nil || !strings.Contains(err.Error(), "Nodes") || !strings.Contains(err.Error(), "User") {
		t.Errorf("%v does not name all faults", err)
	}
}
