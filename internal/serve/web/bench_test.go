// SPDX-License-Identifier: Apache-2.0

package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// discard is a client that ignores the answer.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkPredict measures the handler of one line, without connections.
func BenchmarkPredict(b *testing.B) {
	one := float32(1)
	h, err := New(Config{Models: []Model{newModel(b, "one", &one)}})
	if err != nil {
		b.Fatal(err)
	}
	body := strings.NewReader("")
	r := httptest.NewRequest("POST", "/predict", io.NopCloser(body))
	w := &discard{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		body.Reset("|a x:1 y:0.5 z\n")
		r.Body = io.NopCloser(body)
		h.ServeHTTP(w, r)
	}
}
