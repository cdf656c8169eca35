// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const tick = time.Second

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newMonitor() *Monitor { return New(Config{Silence: 10 * tick, Again: 5 * tick}) }

func TestSilenceIsReported(t *testing.T) {
	m := newMonitor()
	for i := range 20 {
		now := start.Add(time.Duration(i) * tick)
		m.Observe(1, int64(i), false, now) // speaks all the time
		m.Observe(2, int64(min(i, 3)), false, now)
		m.Observe(3, 7, true, now) // this rank does not read
		r, due := m.Report(now)
		if want := i == 13 || i == 18; due != want {
			t.Errorf("tick %d: report %v, want %v", i, due, want)
		}
		if due && (r.Rank != 2 || !strings.Contains(r.Err.Error(), "nothing has arrived from rank 2 for 10s")) {
			t.Errorf("tick %d: got %+v, want rank 2 and its silence", i, r)
		}
	}
}

func TestFirstFailureIsReportedFirst(t *testing.T) {
	m := newMonitor()
	first := errors.New("reset")
	m.Failed(4, first)
	m.Failed(1, errors.New("end of file"))
	m.Failed(4, errors.New("closed"))
	var got []int
	for i := range 16 {
		if r, due := m.Report(start.Add(time.Duration(i) * tick)); due {
			got = append(got, r.Rank)
			if r.Rank == 4 && r.Err != first {
				t.Errorf("got %v, want the first failure", r.Err)
			}
		}
	}
	if want := []int{4, 1, 4, 1}; len(got) != 4 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("got reports of %v, want %v", got, want)
	}
}

// TestOnlySilentConnectionsAreReported draws what arrives, and compares with the longest gaps.
func TestOnlySilentConnectionsAreReported(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMonitor()
		ranks := rapid.IntRange(1, 5).Draw(rt, "ranks")
		bytes, gap, silent := make([]int64, ranks), make([]int, ranks), make([]bool, ranks)
		for i := range rapid.IntRange(1, 60).Draw(rt, "ticks") {
			now := start.Add(time.Duration(i) * tick)
			for rank := range ranks {
				arrives := rapid.IntRange(0, 7).Draw(rt, "arrives") == 0
				stopped := rapid.IntRange(0, 30).Draw(rt, "stopped") == 0
				if gap[rank]++; arrives || stopped || i == 0 {
					gap[rank] = 0
				}
				if arrives {
					bytes[rank]++
				}
				silent[rank] = silent[rank] || gap[rank] >= 10
				m.Observe(rank, bytes[rank], stopped, now)
			}
			if r, due := m.Report(now); due && !silent[r.Rank] {
				rt.Fatalf("tick %d: rank %d is reported and was not silent", i, r.Rank)
			}
		}
		for rank := range ranks {
			found := false
			for _, r := range m.faults {
				found = found || r.Rank == rank
			}
			if found != silent[rank] {
				rt.Fatalf("rank %d: reported %v, silent %v", rank, found, silent[rank])
			}
		}
	})
}
