// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/hdfsio/remote"
	"github.com/gvw-project/gvw/internal/webtest"
)

// server is a web server of one file with faults.
type server struct {
	mu       sync.Mutex
	text     string
	tag      string
	fail     []int  // status codes of the next responses
	cut      []int  // numbers of bytes after which the next bodies end
	noHead   bool   // HEAD is refused, as for a URL that is signed for GET
	noRange  bool   // ranges are ignored
	lying    string // Content-Range of every partial response; empty: the right one
	requests []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Range"))
	if len(s.fail) > 0 {
		code := s.fail[0]
		s.fail = s.fail[1:]
		if code != 0 {
			w.WriteHeader(code)
			return
		}
	}
	switch {
	case !strings.HasPrefix(r.URL.Path, "/data/"):
		w.WriteHeader(http.StatusNotFound)
		return
	case s.noHead && r.Method == http.MethodHead:
		w.WriteHeader(http.StatusForbidden)
		return
	case s.noRange:
		r.Header.Del("Range")
	}
	var out http.ResponseWriter = w
	if s.lying != "" && r.Header.Get("Range") != "" && r.Method == http.MethodGet {
		out = &liar{w, s.lying}
	}
	if len(s.cut) > 0 && r.Method == http.MethodGet {
		out = &webtest.CutBody{ResponseWriter: out, Left: s.cut[0]}
		s.cut = s.cut[1:]
	}
	w.Header().Set("ETag", s.tag)
	http.ServeContent(out, r, "train.vw", time.Unix(1e9, 0), bytes.NewReader([]byte(s.text)))
}

// liar changes the range of a response.
type liar struct {
	http.ResponseWriter
	text string
}

func (l *liar) WriteHeader(code int) {
	l.Header().Set("Content-Range", l.text)
	l.ResponseWriter.WriteHeader(code)
}

func (l *liar) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// start returns the file system of the server, and the URL of its file.
func start(t *testing.T, s *server) (*remote.FS, string) {
	t.Helper()
	if s.text == "" {
		s.text = webtest.Lines(1000)
	}
	if s.tag == "" {
		s.tag = `"one"`
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	b, err := New(Config{Base: h.URL})
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := remote.New(b, remote.Config{Prefix: h.URL, Verbatim: true, Host: "here", Patience: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys, h.URL + "/data/train.vw?part=1//2"
}

// A file is read from any offset, through faults of the server.
func TestFaultsAreOvercome(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*server{
		"no fault":               {},
		"503, then 429":          {fail: []int{503, 429}},
		"503 at the first range": {fail: []int{0, 503}},
		"truncated bodies":       {cut: []int{1, 100, 5000}},
		"truncated, then 500":    {cut: []int{2000}, fail: []int{0, 0, 500, 500}},
		"no HEAD":                {noHead: true},
		"no ranges":              {noRange: true},
		"no ranges, truncated":   {noRange: true, cut: []int{3000}},
		"no ranges, no HEAD":     {noRange: true, noHead: true},
		"no HEAD, truncated":     {noHead: true, cut: []int{1 << 20, 1 << 20, 100}},
		"weak tags":              {tag: `W/"x"`},
		"weak tags, truncated":   {tag: `W/"x"`, cut: []int{10, 10}},
		"one byte at a time":     {cut: []int{1, 1, 1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys, url := start(t, s)
			for _, offset := range []int64{0, 1, 777, int64(len(s.text)) - 1, int64(len(s.text))} {
				got, err := webtest.Read(t, fsys, url, offset)
				if err != nil || got != s.text[offset:] {
					t.Fatalf("from %d on: %d bytes, want %d (%v)", offset, len(got), len(s.text)-int(offset), err)
				}
			}
			if !strings.Contains(s.requests[0], "/data/train.vw?part=1//2") {
				t.Errorf("the URL is not as given: %s", s.requests[0])
			}
		})
	}
}

// Errors name the URL, the reason and a remedy, and come without retries where these do not help.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, url string
		s         *server
		want      []string
		is        error
	}{
		{"missing", "/none?x=1", &server{}, []string{"404 Not Found", "check the URL"}, fs.ErrNotExist},
		{"forbidden", "", &server{fail: []int{403, 403}}, []string{"403 Forbidden", "signed URL"}, fs.ErrPermission},
		{"a range that begins elsewhere", "", &server{lying: "bytes 3-9/%d"}, []string{"sent the bytes from 3 on, want those from 10 on"}, nil},
		{"a range without a meaning", "", &server{lying: "bytes all"}, []string{`Content-Range "bytes all"`}, nil},
		{"a range of another file", "", &server{lying: "bytes 10-99/100"}, []string{"replaced while it was read"}, remote.ErrChanged},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			fsys, url := start(t, test.s)
			test.s.lying = strings.Replace(test.s.lying, "%d", fmt.Sprint(len(test.s.text)), 1)
			if test.url != "" {
				url = url[:strings.Index(url, "/data/")] + test.url
			}
			_, err := webtest.Read(t, fsys, url, 10)
			if err == nil || test.is != nil && !errors.Is(err, test.is) {
				t.Fatalf("got %v, want %v", err, test.is)
			}
			for _, want := range append(test.want, url) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
		})
	}
}

// A file that is replaced while it is read is an error, also if its length stays.
func TestChange(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{`"one"`, `W/"one"`} {
		s := &server{tag: tag, cut: []int{500}}
		fsys, url := start(t, s)
		r, err := fsys.Open(t.Context(), url, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		s.tag = strings.Replace(tag, "one", "two", 1)
		s.mu.Unlock()
		_, err = io.ReadAll(r)
		if err == nil || !strings.Contains(err.Error(), "replaced while it was read") {
			t.Errorf("%s: %v", tag, err)
		}
		r.Close()
	}
}

// The ranks' parts are the lines of the file, and their identity changes with the ETag.
func TestShards(t *testing.T) {
	t.Parallel()
	s := &server{cut: []int{1 << 20, 1000}}
	fsys, url := start(t, s)
	for _, kind := range []hdfsio.Kind{hdfsio.Bytes, hdfsio.Lines} {
		got := map[string]int{}
		for rank := range 3 {
			for _, p := range split(t, fsys, url, hdfsio.Shard{Kind: kind, Rank: rank, Total: 3}) {
				r, err := p.Open(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				b, err := io.ReadAll(r)
				if err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(string(b)) {
					got[line]++
				}
				r.Close()
			}
		}
		if len(got) != 1000 {
			t.Errorf("%v: %d lines, want 1000", kind, len(got))
		}
	}
	before := split(t, fsys, url, hdfsio.Shard{})[0].Identity
	s.mu.Lock()
	s.tag = `"two"`
	s.mu.Unlock()
	if after := split(t, fsys, url, hdfsio.Shard{})[0].Identity; before == after || before == "" {
		t.Errorf("the identity stays %q", after)
	}
}

func split(t *testing.T, fsys hdfsio.FS, name string, s hdfsio.Shard) []hdfsio.Part {
	t.Helper()
	parts, err := hdfsio.Split(t.Context(), fsys, []string{name}, s)
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

// A name with ? is no pattern here, and nothing is written.
func TestPatternsAndWrites(t *testing.T) {
	t.Parallel()
	fsys, url := start(t, &server{})
	if got, err := hdfsio.Expand(t.Context(), fsys, []string{url}); err != nil || len(got) != 1 || got[0] != url {
		t.Errorf("got %q, %v", got, err)
	}
	none := url[:strings.Index(url, "/data/")] + "/none-*"
	if _, err := hdfsio.Expand(t.Context(), fsys, []string{none}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "patterns do not work here") {
		t.Errorf("a pattern: %v", err)
	}
	if _, err := fsys.Create(t.Context(), url); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "can only be read") {
		t.Errorf("a write: %v", err)
	}
	for base, want := range map[string]string{"http://": "want http://HOST", "ftp://h": "want http://HOST", "http://u:p@h": "would appear in logs"} {
		if _, err := New(Config{Base: base}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", base, err)
		}
	}
}
