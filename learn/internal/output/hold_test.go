// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// TestHoldKeepsRecordsUntilTheTableEnds holds the order of records and their
// attributes.
func TestHoldKeepsRecordsUntilTheTableEnds(t *testing.T) {
	var out bytes.Buffer
	text := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	var h Hold
	log := h.Logger(text)
	log.Info("before")
	h.begin()
	log.With("rank", 3).Info("held")
	log.WithGroup("g").Info("held, too", "n", 1)
	log.Warn("held as well")
	log.Debug("not of interest")
	out.WriteString("row\n")
	h.Release()
	h.Release()
	log.Info("after")
	const want = `level=INFO msg=before
row
level=INFO msg=held rank=3
level=INFO msg="held, too" g.n=1
level=WARN msg="held as well"
level=INFO msg=after
`
	if got := out.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	out.Reset()
	job := Hold{Job: true}
	job.begin()
	job.Logger(text).Info("waiting for rank 3")
	if got, want := out.String(), "level=INFO msg=\"waiting for rank 3\"\n"; got != want {
		t.Errorf("in a job: got %q before the table ends, want %q", got, want)
	}
	out.Reset()
	h.begin()
	for range maxHeld + 2 {
		log.Info("many")
	}
	if n := strings.Count(out.String(), "many"); n != 2 {
		t.Errorf("%d records are written at once, want 2: the ones after %d", n, maxHeld)
	}
}
