// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/learn"
)

func TestRemainingTime(t *testing.T) {
	var out strings.Builder
	clock := time.Unix(0, 0)
	r := newRemaining(&out, func() time.Time { return clock }, 1000)
	in := r.count(learn.Input{Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(strings.Repeat("x", 500))), nil
	}})
	f, err := in.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, f); err != nil {
		t.Fatal(err)
	}
	step := func(after time.Duration, p learn.Progress, want string) {
		t.Helper()
		clock = clock.Add(after)
		out.Reset()
		r.watch(p)
		if got := out.String(); got != want {
			t.Errorf("%+v: %q, want %q", p, got, want)
		}
	}
	step(time.Millisecond, learn.Progress{Pass: 1, Passes: 4, Examples: 5}, "") // too soon
	// Half of the text of the first of four passes in 10 s: 70 s to go.
	step(10*time.Second-time.Millisecond, learn.Progress{Pass: 1, Passes: 4, Examples: 50},
		"pass 1 of at most 4, 50 examples, 12 %, about 1m10s left")
	out.Reset()
	if _, err := io.WriteString(r, "a row\n"); err != nil || out.String() != "\r\x1b[Ka row\n" {
		t.Errorf("a row of the table: %q, %v", out.String(), err)
	}
	step(10*time.Second, learn.Progress{Pass: 2, Passes: 4, Examples: 100, Of: 100}, "pass 2 of at most 4, 100 examples, 50 %, about 20s left")
	out.Reset()
	r.end()
	r.end()
	if out.String() != "\r\x1b[K" {
		t.Errorf("at the end: %q", out.String())
	}
	if _, err := io.WriteString(r, "half a row "); err != nil {
		t.Fatal(err)
	}
	step(time.Second, learn.Progress{Pass: 2, Passes: 4, Examples: 100, Of: 100}, "") // the line would overwrite the row
	if _, err := io.WriteString(r, "and the rest\n"); err != nil {
		t.Fatal(err)
	}
	r.size = 0
	step(time.Second, learn.Progress{Pass: 1, Passes: 1, Examples: 7}, "7 examples")
}
