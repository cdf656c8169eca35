// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gvw-project/gvw/internal/webtest"
)

// scriptWeb serves the script's directory at $WEB, with faults: the first GET of each file is
// answered by 503, and the second body ends after 40 bytes.
func scriptWeb(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: web")
	}
	var mu sync.Mutex
	gets := map[string]int{}
	files := http.FileServer(http.Dir(ts.MkAbs(".")))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := 0
		if r.Method == http.MethodGet {
			mu.Lock()
			gets[r.URL.Path]++
			n = gets[r.URL.Path]
			mu.Unlock()
		}
		switch n {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			files.ServeHTTP(&webtest.CutBody{ResponseWriter: w, Left: 40}, r)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	ts.Defer(s.Close)
	ts.Setenv("WEB", s.URL)
}

// scriptS3 starts a server of S3 with files as objects of the bucket data, and sets the variables of
// its clients: s3 FILE...
func scriptS3(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: s3 file...")
	}
	b := s3mem.New()
	ts.Check(b.CreateBucket("data"))
	for _, name := range args {
		text := ts.ReadFile(name)
		_, err := b.PutObject("data", filepath.ToSlash(name), map[string]string{}, strings.NewReader(text), int64(len(text)), nil)
		ts.Check(err)
	}
	s := httptest.NewServer(gofakes3.New(b).Server())
	ts.Defer(s.Close)
	ts.Setenv("S3", s.URL)
	ts.Setenv("AWS_ACCESS_KEY_ID", "id")
	ts.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
}
