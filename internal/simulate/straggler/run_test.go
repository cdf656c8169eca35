// SPDX-License-Identifier: Apache-2.0

package straggler

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func run(t *testing.T, cfg Config) *Result {
	t.Helper()
	r, err := Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// On usual hosts each rank takes its share, and the speed-up is bounded by the exchange.
func TestUsualHosts(t *testing.T) {
	r := run(t, Config{Ranks: 100, Passes: 10, Work: 100 * time.Second, Exchange: time.Second, Speculate: 1})
	if r.First != time.Second || r.Quantile(0) != time.Second || r.Quantile(1) != time.Second || r.Total != 20*time.Second || r.SpeedUp() != 50 || r.Attempts != 0 {
		t.Errorf("got first %v, %v to %v, total %v, speed-up %g, %d attempts", r.First, r.Quantile(0), r.Quantile(1), r.Total, r.SpeedUp(), r.Attempts)
	}
}

// Drawn hosts have the quantiles of the table.
func TestQuantilesOfTheTable(t *testing.T) {
	r := run(t, Config{Ranks: MaxRanks, Passes: 2, Work: MaxRanks * time.Second, Hosts: Published})
	for share, want := range map[float64]float64{0.05: 29.0 / 34, 0.5: 1, 0.94: Published.at(0.94)} {
		if got := r.Quantile(share).Seconds(); math.Abs(got/want-1) > 0.05 {
			t.Errorf("quantile %g: got %.3f, want %.3f within 5 %%", share, got, want)
		}
	}
	if got := r.Quantile(1).Seconds(); got < 20 || got > 758.0/34 {
		t.Errorf("slowest: got %g, want nearly %g", got, 758.0/34)
	}
}

// With second attempts, the slowest of 1,000 ranks takes about twice the median in the end, and the job is much faster.
// Without them it takes twenty times the median.
func TestSecondAttempts(t *testing.T) {
	cfg := Config{Ranks: 1000, Passes: 20, Work: 34_000 * time.Second, Hosts: Published, Seed: 1}
	without := run(t, cfg)
	cfg.Speculate = 1.5
	with := run(t, cfg)
	if ratio := without.Quantile(1).Seconds() / without.Quantile(0.5).Seconds(); ratio < 15 {
		t.Errorf("without: the slowest takes %.1f medians, want above 15", ratio)
	}
	if p := with.Quantile(0.99).Seconds() / with.Quantile(0.5).Seconds(); p > 2 {
		t.Errorf("with: 99 %% take up to %.2f medians, want at most 2", p)
	}
	if ratio := with.Last.Seconds() / with.Quantile(0.5).Seconds(); ratio > 2.1 {
		t.Errorf("with: the slowest of the last pass takes %.2f medians, want at most 2.1", ratio)
	}
	if with.SpeedUp() < 3*without.SpeedUp() || with.Attempts < 30 || with.Attempts > 300 {
		t.Errorf("speed-up %.0f without and %.0f with %d second attempts", without.SpeedUp(), with.SpeedUp(), with.Attempts)
	}
}

// The holder of a rank is handed over at the end of its second slow pass.
func TestHandOver(t *testing.T) {
	const limit = 1.5
	hosts := []float64{4, 1} // of the attempts that are started
	next := func() float64 {
		h := hosts[0]
		hosts = hosts[1:]
		return h
	}
	k, r := rank{holder: 5}, &Result{}
	var got []float64
	for pass := range 8 {
		got = append(got, k.pass(Config{Speculate: limit, SlowFactor: 2}, pass, 1, next, r))
	}
	// The first attempt is not ready sooner in pass 0 (5 < 1.5 + 4). It gets the rank after pass 1. The next one is
	// started in pass 2 and gets it after pass 3.
	if d := cmp.Diff([]float64{5, 5, 4, 4, 1, 1, 1, 1}, got); d != "" || r.Attempts != 2 {
		t.Errorf("%d attempts, -want +got:\n%s", r.Attempts, d)
	}
}

// No second attempt makes a pass of a rank longer, results are ascending and depend only on the configuration.
func TestResults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			Ranks: rapid.IntRange(1, 50).Draw(t, "ranks"), Passes: rapid.IntRange(2, 9).Draw(t, "passes"), Work: time.Hour,
			Hosts: Table{{0.5, 1}, {1, rapid.Float64Range(1, 50).Draw(t, "slowest")}}, Seed: rapid.Uint64().Draw(t, "seed"),
		}
		without, err := Run(cfg)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Speculate = rapid.Float64Range(1, 5).Draw(t, "speculate")
		with, err := Run(cfg)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Run(cfg)
		if d := cmp.Diff(with, again, cmp.AllowUnexported(Result{})); d != "" {
			t.Fatalf("the same configuration gives another result:\n%s", d)
		}
		if with.Total > without.Total || with.First > without.First || with.Quantile(1) > without.Quantile(1) {
			t.Fatalf("second attempts cost time: %v and %v, first %v and %v", with.Total, without.Total, with.First, without.First)
		}
		if !slices.IsSorted(with.Later) || len(with.Later) != cfg.Ranks*(cfg.Passes-1) {
			t.Fatalf("got %d times, want %d in order", len(with.Later), cfg.Ranks*(cfg.Passes-1))
		}
	})
}

// A table parses, and a wrong one is refused with its row.
func TestTable(t *testing.T) {
	got, err := ParseTable("50:1, 100:4")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Table{{0.5, 1}, {1, 4}}, got); d != "" {
		t.Error(d)
	}
	if f := got.at(0.75); math.Abs(f-2) > 1e-12 {
		t.Errorf("factor between two rows: got %g, want 2", f)
	}
	for text, want := range map[string]string{
		"50": "PERCENT:FACTOR", "50:x": "PERCENT:FACTOR", "50:1,40:2": "row 2", "50:2,100:1": "row 2", "50:1": "want 100", "0:1": "row 1", "50:NaN,100:2": "row 1", "110:1": "row 1",
	} {
		if _, err := ParseTable(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", text, err, want)
		}
	}
}

// All faults of a configuration are reported at once.
func TestFaults(t *testing.T) {
	_, err := Run(Config{Ranks: 0, Passes: 1, Work: -1, Speculate: 0.5, SlowFactor: 1, Hosts: Table{{2, 1}}})
	for _, want := range []string{"Ranks", "Passes", "Work", "Speculate", "SlowFactor", "row 1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
