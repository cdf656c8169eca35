// SPDX-License-Identifier: Apache-2.0

package strategy

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// lossOf returns a loss that depends on the job only: it falls with the resource, and some jobs fail.
func lossOf(j Job) float64 {
	r := rand.New(rand.NewPCG(uint64(j.Trial), 99))
	base := r.Float64()
	switch r.IntN(10) {
	case 0:
		return math.Inf(1)
	case 1:
		base = 0.5 // equal losses
	}
	return base + 1/float64(1+j.Resource)
}

// simulate runs a strategy with jobs that end in a random order, and returns all jobs in the order
// of their numbers.
func simulate(t interface{ Fatalf(string, ...any) }, s Strategy, parallel int, order *rand.Rand) []Job {
	q := NewSequencer(s, parallel)
	var jobs []Job
	running := map[int]Job{}
	for {
		number, j, state := 0, Job{}, Wait
		if len(running) < parallel {
			number, j, state = q.Next()
		}
		switch state {
		case Start:
			if number != len(jobs) {
				t.Fatalf("job %d after %d jobs", number, len(jobs))
			}
			jobs = append(jobs, j)
			running[number] = j
		case End:
			if len(running) > 0 {
				t.Fatalf("the end, while %d jobs run", len(running))
			}
			return jobs
		case Wait:
			if len(running) == 0 {
				t.Fatalf("after %d jobs the strategy waits, and nothing runs", len(jobs))
			}
			keys := slices.Sorted(maps.Keys(running))
			k := keys[order.IntN(len(keys))]
			q.Finish(k, lossOf(running[k]))
			delete(running, k)
		}
	}
}

// draw draws a configuration.
func draw(t *rapid.T) Config {
	most := rapid.IntRange(1, 100).Draw(t, "most")
	eta := rapid.IntRange(2, 5).Draw(t, "eta")
	return Config{
		Space: Space{{Name: "l", Scale: Log, Low: 0.01, High: 10}, {Name: "b", Scale: LogInteger, Low: 10, High: 24}, {Name: "p", Choices: []string{"0", "0.5"}}},
		Seed:  rapid.Uint64().Draw(t, "seed"), Trials: rapid.IntRange(1, 80).Draw(t, "trials"), Eta: eta,
		Rungs: Rungs(rapid.IntRange(1, most).Draw(t, "least"), most, eta),
	}
}

// strategies are the searches of any space.
var strategies = map[string]func(Config) Strategy{
	"random":    func(c Config) Strategy { return NewRandom(c) },
	"asha":      func(c Config) Strategy { return NewASHA(c) },
	"hyperband": func(c Config) Strategy { return NewHyperband(c) },
}

// Jobs do not depend on the order in which they end; every trial begins once, at a rung, and
// goes on rung by rung.
func TestJobsDependOnTheSeedOnly(t *testing.T) {
	for name, make := range strategies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				cfg := draw(t)
				parallel := rapid.IntRange(1, 8).Draw(t, "parallel")
				order := func() *rand.Rand { return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0)) }
				jobs := simulate(t, make(cfg), parallel, order())
				if diff := cmp.Diff(jobs, simulate(t, make(cfg), parallel, order())); diff != "" {
					t.Fatalf("another order of ends gives other jobs:\n%s", diff)
				}
				trials := map[int]int{} // the rung of each trial's last job
				reached, failed := false, 0
				for i, j := range jobs {
					k := slices.Index(cfg.Rungs, j.Resource)
					before, begun := trials[j.Trial]
					if k < 0 || begun && k != before+1 {
						t.Fatalf("job %d: trial %d has rung %d after rung %d", i, j.Trial, k, before)
					}
					if !begun && j.Trial != len(trials) {
						t.Fatalf("job %d: trial %d begins after %d trials", i, j.Trial, len(trials))
					}
					if !slices.Equal(j.Values, cfg.Space.Sample(cfg.Seed, j.Trial)) {
						t.Fatalf("job %d: trial %d has the values %q", i, j.Trial, j.Values)
					}
					trials[j.Trial] = k
					if math.IsInf(lossOf(j), 1) {
						failed++
					} else if k == len(cfg.Rungs)-1 {
						reached = true
					}
				}
				if len(trials) != cfg.Trials {
					t.Fatalf("%d trials, want %d", len(trials), cfg.Trials)
				}
				if !reached && failed < len(trials) {
					t.Fatalf("no trial has the whole resource, though %d of %d have not failed", len(trials)-failed, len(trials))
				}
			})
		})
	}
}

// With one job at a time, ASHA and Hyperband promote exactly the best of each rung.
func TestRungsPromoteTheBest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := draw(t)
		for name, make := range map[string]func(Config) Strategy{"asha": strategies["asha"], "hyperband": strategies["hyperband"]} {
			rungs := map[int][]finished{}
			for i, j := range simulate(t, make(cfg), 1, rand.New(rand.NewPCG(1, 1))) {
				k := slices.Index(cfg.Rungs, j.Resource)
				if below := rungs[k-1]; name == "asha" && k > 0 && len(rungs[k]) < len(below)/cfg.Eta {
					at := slices.IndexFunc(below, func(f finished) bool { return f.Trial == j.Trial })
					if at < 0 || at >= len(below)/cfg.Eta {
						t.Fatalf("%s: job %d: trial %d is number %d of %d in its rung", name, i, j.Trial, at, len(below))
					}
				}
				rungs[k] = insert(rungs[k], finished{Job: j, loss: lossOf(j)})
			}
			if name != "asha" {
				continue
			}
			for k := 1; k < len(cfg.Rungs); k++ {
				// The last promotion may be one of too few trials. Trials that were promoted early and
				// that later ones surpass may exceed the share, as in the paper.
				if n, share := len(rungs[k]), len(rungs[k-1])/cfg.Eta; n < min(share, succeeded(rungs[k-1])) {
					t.Fatalf("rung %d has %d trials, want at least %d", k, n, share)
				}
			}
		}
	})
}

// Brackets have the sizes of the paper's table for R = 81 and η = 3.
func TestBrackets(t *testing.T) {
	t.Parallel()
	cfg := Config{Space: Space{{Name: "x", Scale: Linear, High: 1}}, Trials: 81 + 34 + 15 + 8 + 5, Eta: 3, Rungs: Rungs(1, 81, 3)}
	h := NewHyperband(cfg)
	counts := map[string]int{}
	for j, ok := h.Next(); ok; j, ok = h.Next() { // all losses are known at once, and one bracket runs at a time
		at, before := 0, 0
		for j.Trial >= before+h.brackets[at].trials() {
			before += h.brackets[at].trials()
			at++
		}
		counts[fmt.Sprintf("bracket %d, %d", at, j.Resource)]++
		h.Report(j, float64(j.Trial))
	}
	want := map[string]int{
		"bracket 0, 1": 81, "bracket 0, 3": 27, "bracket 0, 9": 9, "bracket 0, 27": 3, "bracket 0, 81": 1,
		"bracket 1, 3": 34, "bracket 1, 9": 11, "bracket 1, 27": 3, "bracket 1, 81": 1,
		"bracket 2, 9": 15, "bracket 2, 27": 5, "bracket 2, 81": 1,
		"bracket 3, 27": 8, "bracket 3, 81": 2,
		"bracket 4, 81": 5,
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Error(diff)
	}
}

// Golden-section search finds the minimum of a function with one valley within its tolerance, at
// the points of vw-hypersearch, and with few evaluations.
func TestGoldenFindsTheValley(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.SampledFrom([]Scale{Linear, Log}).Draw(t, "scale")
		d := Dimension{Name: "x", Scale: scale, Low: 0.01, High: 10}
		valley := rapid.Float64Range(0, 1).Draw(t, "valley")
		cfg := Config{Space: Space{d}, Trials: 100, Eta: 3, Rungs: []int{0}}
		g := NewGolden(cfg, 0.01)
		best, bestLoss, n := 0.0, math.Inf(1), 0
		for j, ok := g.Next(); ok; j, ok = g.Next() {
			var x float64
			if _, err := fmt.Sscan(j.Values[0], &x); err != nil {
				t.Fatal(err)
			}
			loss := math.Abs(x - d.value(valley))
			if loss < bestLoss {
				best, bestLoss = x, loss
			}
			n++
			g.Report(j, loss)
		}
		if n > 25 {
			t.Fatalf("%d points", n)
		}
		if want := d.value(valley); math.Abs(best-want) > 0.025*want+1e-4 {
			t.Fatalf("best %v after %d points, want %v", best, n, want)
		}
	})
	// The first two points divide the range by the golden ratio.
	g := NewGolden(Config{Space: Space{{Name: "x", Scale: Linear, Low: 1, High: 2}}, Trials: 2, Rungs: []int{0}}, 0.01)
	first, _ := g.Next()
	g.Report(first, 1)
	second, _ := g.Next()
	if diff := cmp.Diff([]string{"1.382", "1.618"}, append(first.Values, second.Values...)); diff != "" {
		t.Error(diff)
	}
}

// Rungs grow by eta up to the whole resource, without repetition.
func TestRungs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		least, most, eta int
		want             []int
	}{
		{1, 81, 3, []int{1, 3, 9, 27, 81}},
		{1, 20, 3, []int{3, 7, 20}},
		{2, 9, 3, []int{3, 9}},
		{5, 5, 2, []int{5}},
		{1, 2, 2, []int{1, 2}},
		{1000, 32561, 4, []int{2036, 8141, 32561}},
	} {
		if diff := cmp.Diff(c.want, Rungs(c.least, c.most, c.eta)); diff != "" {
			t.Errorf("Rungs(%d, %d, %d): %s", c.least, c.most, c.eta, diff)
		}
	}
}

// Values are in their range, whole where they must be, and the limits can be drawn.
func TestSamplesAreInTheirRanges(t *testing.T) {
	t.Parallel()
	space, err := ParseSpace("learning-rate=log:1e-9..1e-3 --bits=int:1..3 c=logint:1..4 l=-1..1 p=0,0.5")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for trial := range 2000 {
		for i, v := range space.Sample(7, trial) {
			d := space[i]
			if d.whole() || d.Scale == Choice {
				seen[d.Name+"="+v]++
				continue
			}
			var x float64
			if _, err := fmt.Sscan(v, &x); err != nil || x < d.Low || x > d.High {
				t.Fatalf("%s = %s: %v", d.Name, v, err)
			}
		}
	}
	want := []string{"bits=1", "bits=2", "bits=3", "c=1", "c=2", "c=3", "c=4", "p=0", "p=0.5"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(seen))); diff != "" {
		t.Error(diff)
	}
	for value, n := range seen {
		if n < 200 {
			t.Errorf("%s was drawn %d times of 2000", value, n)
		}
	}
}

// Faulty spaces are refused with the reason.
func TestParseSpaceFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                  "the space is empty: write it like learning_rate=log:0.01..10",
		"l":                 `"l" is no part of a space: write it like learning_rate=log:0.01..10 or power_t=0,0.5`,
		"l=log:0..1":        "l=log:0..1: a logarithmic range begins above 0",
		"l=2..1":            "l=2..1: the range is empty: write the smaller limit first",
		"l=a..1":            "l=a..1: the limits of a range are finite numbers",
		"l=1..inf":          "l=1..inf: the limits of a range are finite numbers",
		"b=int:1..2.5":      "b=int:1..2.5: the limits of this range are whole numbers",
		"l=exp:1..2":        `l=exp:1..2: the scale "exp" is unknown: use log, int, logint or none`,
		"p=0,0":             `p=0,0: the value "0" is empty or repeated`,
		"l=0..1 l=log:1..2": "l is twice in the space",
	} {
		if _, err := ParseSpace(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// FuzzParseSpace checks that an accepted space has values for each trial.
func FuzzParseSpace(f *testing.F) {
	f.Add("learning_rate=log:0.01..10 b=int:1..3 power_t=0,0.5")
	f.Add("a=logint:1..9007199254740991")
	f.Add("l=-1e308..1e308")
	f.Fuzz(func(t *testing.T, text string) {
		space, err := ParseSpace(text)
		if err != nil {
			return
		}
		for _, v := range space.Sample(1, 2) {
			if v == "" {
				t.Fatalf("%q has an empty value", text)
			}
		}
	})
}
