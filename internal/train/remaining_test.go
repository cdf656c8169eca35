// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/statusline"
	"github.com/gvw-project/gvw/learn"
)

func TestRemainingTime(t *testing.T) {
	var out strings.Builder
	clock := time.Unix(0, 0)
	r := newRemaining(statusline.New(&out, func() int { return 80 }), func() time.Time { return clock }, 1000)
	r.ranks = "rank 1 of 2  "
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
	nan := math.NaN()
	step(time.Millisecond, learn.Progress{Pass: 1, Passes: 4, Examples: 5, Loss: nan}, "") // too soon
	// Half of the text of the first of four passes in 10 s: 70 s to go.
	step(10*time.Second-time.Millisecond, learn.Progress{Pass: 1, Passes: 4, Examples: 50, Loss: nan},
		"rank 1 of 2  pass 1/4  12% [===                  ]  ETA 1m10s  5/s  50 examples\n")
	out.Reset()
	if _, err := io.WriteString(r, "a row\n"); err != nil || out.String() != "\r\x1b[1A\x1b[Ja row\n" {
		t.Errorf("a row of the table: %q, %v", out.String(), err)
	}
	// 100 examples in the first pass, and 100 in the second.
	r.watch(learn.Progress{Pass: 1, Passes: 4, Examples: 100, Of: 100, Loss: 0.25})
	step(10*time.Second, learn.Progress{Pass: 2, Passes: 4, Examples: 100, Of: 100, Loss: 0.25},
		"rank 1 of 2  pass 2/4  50% [=====     ]  ETA 20s  loss 0.25  15/s  100 examples\n")
	out.Reset()
	r.End()
	r.End()
	if out.String() != "\r\x1b[1A\x1b[J" {
		t.Errorf("at the end: %q", out.String())
	}
	r = newRemaining(statusline.New(&out, func() int { return 80 }), func() time.Time { return clock }, 0)
	step(time.Second, learn.Progress{Pass: 1, Passes: 1, Examples: 7, Loss: nan}, "pass 1  7/s  7 examples\n")
}
