// SPDX-License-Identifier: Apache-2.0

package mapper

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/internal/hadoop"
	"github.com/gvw-project/gvw/learn"
)

// taskReport keeps the status of a map task: its progress, the loss of the last pass, and what
// it waits for. A line for each change, and one at intervals without a change, keeps the task
// alive.
type taskReport struct {
	task     hadoop.Task
	out      *lineWriter
	examples atomic.Int64 // examples of the first pass

	mu    sync.Mutex
	text  string // progress
	loss  string // loss of the last pass, with a leading comma
	waits string // the newest line of the log, until there is progress
	over  bool   // the last status has been written
}

// run writes the status until stop is closed: once a second if it changes, and otherwise after
// the time every.
func (r *taskReport) run(stop <-chan struct{}, every time.Duration) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var said string
	var at time.Time
	for {
		if s, over := r.status(); !over && (s != said || time.Since(at) >= every) {
			said, at = s, time.Now()
			r.out.line(r.task.AppendStatus(nil, s))
		}
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
	}
}

// status returns the text of the status, and whether the final one has been written.
func (r *taskReport) status() (text string, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text = r.text + r.loss
	if r.waits != "" {
		text += " | " + r.waits
	}
	return text, r.over
}

// set changes the progress.
func (r *taskReport) set(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text, r.waits = text, ""
}

// last writes the final status.
func (r *taskReport) last(text string) {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	r.out.line(r.task.AppendStatus(nil, text))
}

// counter adds to a counter of the job.
func (r *taskReport) counter(name string, n int64) {
	r.out.line(r.task.AppendCounter(nil, "gvw", name, n))
}

// watch is the learner's Diagnostics.Watch: it puts the progress into the status.
func (r *taskReport) watch(p learn.Progress) {
	if p.Pass == 1 {
		r.examples.Store(int64(p.Examples))
	}
	text := fmt.Sprintf("pass %d", p.Pass)
	if p.Passes > 1 {
		text += fmt.Sprintf("/%d", p.Passes)
	}
	if p.Of > 0 {
		text += fmt.Sprintf(", %d of %d examples", p.Examples, p.Of)
	} else {
		text += fmt.Sprintf(", %d examples", p.Examples)
	}
	r.set(text)
}

// Write reads the loss from a line of the log of passes.
func (r *taskReport) Write(line []byte) (int, error) {
	var pass struct {
		Pass    int
		Loss    *float64
		Holdout *float64 `json:"holdout_loss"`
	}
	if err := json.Unmarshal(line, &pass); err != nil {
		return 0, fmt.Errorf("BUG: the log of passes has no JSON: %w", err)
	}
	text := ""
	switch {
	case pass.Holdout != nil:
		text = fmt.Sprintf(", loss %.6f held out", *pass.Holdout)
	case pass.Loss != nil:
		text = fmt.Sprintf(", loss %.6f", *pass.Loss)
	}
	if text != "" {
		text += fmt.Sprintf(" in pass %d", pass.Pass)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loss = text
	return len(line), nil
}

// logStatus is a handler that shows the newest line of the log in the status.
type logStatus struct {
	report *taskReport
	attrs  []slog.Attr
}

func (h *logStatus) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (h *logStatus) Handle(_ context.Context, rec slog.Record) error {
	var b strings.Builder
	b.WriteString(rec.Message)
	add := func(a slog.Attr) bool {
		if a.Key != "rank" && a.Key != "job" { // the page of the task shows them
			fmt.Fprintf(&b, ", %s %v", a.Key, a.Value)
		}
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	rec.Attrs(add)
	h.report.mu.Lock()
	defer h.report.mu.Unlock()
	h.report.waits = b.String()
	return nil
}

func (h *logStatus) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logStatus{h.report, append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

func (h *logStatus) WithGroup(string) slog.Handler { return h }
