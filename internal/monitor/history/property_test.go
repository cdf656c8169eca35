// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// TestAnySnapshots adds arbitrary snapshots. The history stays within its bounds, times ascend, and no
// phase follows itself.
func TestAnySnapshots(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{Jobs: 3, Spans: 40, Points: 8, Events: 12}
		f := newFeed(cfg)
		for range rapid.IntRange(1, 60).Draw(t, "snapshots") {
			f.step(func(s *protocol.ServerStatus) { *s = anyStatus(t, f.now) })
			checkBounds(t, f.h, cfg)
		}
	})
}

// anyStatus draws a status.
func anyStatus(t *rapid.T, now time.Time) protocol.ServerStatus {
	var s protocol.ServerStatus
	for id := range uint64(rapid.IntRange(0, 4).Draw(t, "jobs")) {
		total := int(id) + 1
		j := protocol.JobStatus{
			UniqueID: id, Total: total, Seconds: rapid.Float64Range(0, 100).Draw(t, "seconds"), Epoch: rapid.SampledFrom([]string{"", "1.1", "1.2"}).Draw(t, "epoch"),
			State: rapid.SampledFrom([]string{"filling", "wired", "recovering", "ending"}).Draw(t, "state"),
		}
		for r := range total + 1 {
			if rapid.Bool().Draw(t, "present") {
				j.Joined++
				w := rapid.IntRange(-3, total+2).Draw(t, "waits for")
				j.Ranks = append(j.Ranks, protocol.RankStatus{
					Rank: r - 1, Attempt: uint64(rapid.IntRange(0, 3).Draw(t, "attempt")), WaitsFor: &w, Collective: uint64(rapid.IntRange(0, 2).Draw(t, "collective")),
					State:    rapid.SampledFrom([]string{"joined", "ready", "complete", "standby", "spare"}).Draw(t, "rank state"),
					Examples: rapid.Uint64Range(0, 1000).Draw(t, "examples"), Steps: rapid.Uint64Range(0, 5).Draw(t, "steps"), Loss: rapid.Float64().Draw(t, "loss"),
				})
			} else if r > 0 && rapid.Bool().Draw(t, "removed") {
				j.Removed = append(j.Removed, r-1)
			}
		}
		s.Jobs = append(s.Jobs, j)
	}
	if rapid.Bool().Draw(t, "ends") {
		s.Ended = append(s.Ended, protocol.EndedJob{UniqueID: uint64(rapid.IntRange(0, 6).Draw(t, "ended")), Outcome: "finished", Rank: -1, Ended: now})
	}
	return s
}

func checkBounds(t *rapid.T, h *History, cfg Config) {
	if len(h.Jobs()) > cfg.Jobs {
		t.Fatalf("%d jobs, limit %d", len(h.Jobs()), cfg.Jobs)
	}
	for i, j := range h.Jobs() {
		if h.Job(j.Number) != j || i > 0 && j.Number <= h.Jobs()[i-1].Number {
			t.Fatalf("job %d is not found by its number", j.Number)
		}
		if len(j.Events) > cfg.Events || len(j.Loss.Points) > cfg.Points {
			t.Fatalf("%d events, %d points", len(j.Events), len(j.Loss.Points))
		}
		if !slices.IsSortedFunc(j.Events, func(a, b Event) int { return int(a.At - b.At) }) || !slices.IsSortedFunc(j.Loss.Points, func(a, b Point) int { return int(a.At - b.At) }) {
			t.Fatalf("times do not ascend: %v, %v", j.Events, j.Loss.Points)
		}
		for _, w := range j.Waits() {
			if slices.Contains(w.Ranks, w.On) || len(w.Ranks) == 0 {
				t.Fatalf("a rank waits for itself: %+v", w)
			}
		}
		for r := range j.Ranks {
			spans := j.Ranks[r].Spans
			if len(spans) > share(cfg.Spans, len(j.Ranks), 8, 1024) || len(j.Ranks[r].Marks) > maxMarks {
				t.Fatalf("rank %d: %d spans, %d marks", r, len(spans), len(j.Ranks[r].Marks))
			}
			for k := 1; k < len(spans); k++ {
				if a, b := spans[k-1], spans[k]; b.At < a.At || a.Phase == b.Phase && a.For == b.For {
					t.Fatalf("rank %d: span %+v follows %+v", r, b, a)
				}
			}
			if chain := j.Chain(r); len(chain) == 0 || chain[0] != r || len(chain) > len(j.Ranks) {
				t.Fatalf("chain %v of rank %d", chain, r)
			}
		}
	}
}

// TestCurveCoversTheJob adds points to a curve with a small limit. It keeps the first and the last one,
// and no gap is much larger than the others.
func TestCurveCoversTheJob(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3000).Draw(t, "points")
		c := Curve{limit: rapid.IntRange(3, 64).Draw(t, "limit")}
		for i := range n {
			c.add(Point{At: time.Duration(i) * time.Second, Examples: uint64(i + 1)})
		}
		p := c.Points
		if len(p) > c.limit || p[0].At != 0 || p[len(p)-1].Examples != uint64(n) {
			t.Fatalf("%d points of %d, limit %d: %v", len(p), n, c.limit, p)
		}
		widest := time.Duration(0)
		for i := 1; i < len(p); i++ {
			widest = max(widest, p[i].At-p[i-1].At)
		}
		if most := max(time.Second, 8*time.Duration(n)*time.Second/time.Duration(c.limit)); widest > most {
			t.Fatalf("gap of %v in %d points over %d s", widest, len(p), n)
		}
	})
}
