// SPDX-License-Identifier: Apache-2.0

package masgd

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Every{
		"pass":         {},
		"1000":         {Amount: Amount{N: 1000}},
		"0.25":         {Amount: Amount{Share: 0.25}},
		"all":          {Amount: Amount{Share: 1}},
		"random:0.001": {Random: 0.001},
	} {
		if got, err := ParseEvery(text); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "1.5", "1.0", "random:", "random:0", "random:1", "random:x", "passes", "NaN", "inf"} {
		if e, err := ParseEvery(text); err == nil {
			t.Errorf("%q was accepted as %+v", text, e)
		}
	}
	if a, err := ParseAmount("pass"); err == nil {
		t.Errorf("pass is %+v examples", a)
	}
}

// The rounds of a pass divide the examples of every rank without gaps, in the same number of parts.
func TestRoundsDivideAPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.SampledFrom([]Every{{}, {Amount: Amount{N: 7}}, {Amount: Amount{Share: 0.1}}, {Random: 0.05}, {Random: 0.9}}).Draw(t, "every")
		sizes := rapid.SliceOfN(rapid.IntRange(0, 500), 1, 4).Draw(t, "sizes")
		mean := 0.0
		for _, n := range sizes {
			mean += float64(n) / float64(len(sizes))
		}
		batch := float64(rapid.IntRange(1, 9).Draw(t, "batch"))
		r := e.Rounds(mean, batch, 3, 1)
		if r.N() < 1 {
			t.Fatal("no rounds")
		}
		for _, n := range sizes {
			at := 0
			for i := range r.N() {
				end := r.End(i, n)
				if end < at {
					t.Fatalf("round %d ends at %d, before its start at %d", i, end, at)
				}
				if e.Random == 0 && end-at > n/r.N()+1 {
					t.Fatalf("round %d of %d has %d of %d examples", i, r.N(), end-at, n)
				}
				at = end
			}
			if at != n {
				t.Fatalf("the rounds end at %d of %d examples", at, n)
			}
		}
	})
}

// Coins depend on the seed and the pass, and come up with their probability.
func TestRandomRounds(t *testing.T) {
	e := Every{Random: 0.01}
	a := e.Rounds(1e6, 1, 1, 0)
	if n := a.N(); math.Abs(float64(n)-1e4) > 500 {
		t.Errorf("got %d rounds, want about 10000", n)
	}
	same, seed, pass := e.Rounds(1e6, 1, 1, 0), e.Rounds(1e6, 1, 2, 0), e.Rounds(1e6, 1, 1, 1)
	if a.N() != same.N() || a.End(5, 1e6) != same.End(5, 1e6) {
		t.Error("the same seed and pass have other rounds")
	}
	if a.End(5, 1e6) == seed.End(5, 1e6) && a.End(6, 1e6) == seed.End(6, 1e6) || a.End(5, 1e6) == pass.End(5, 1e6) && a.End(6, 1e6) == pass.End(6, 1e6) {
		t.Error("another seed or pass has the same rounds")
	}
}

// A pass whose probability is tiny has one round.
func TestRandomRoundsOfSmallProbabilities(t *testing.T) {
	for _, p := range []float64{math.SmallestNonzeroFloat64, 1e-300, 1e-17, 1e-16} {
		r := Every{Random: p}.Rounds(1000, 2, 1, 0)
		if n := r.N(); n != 1 || r.End(0, 1000) != 1000 {
			t.Errorf("P = %g: got %d rounds, the first of which ends at example %d, want one up to 1000", p, n, r.End(0, 1000))
		}
	}
}

// However many examples there are, the rounds of a pass need little memory.
func TestRandomRoundsAreLimited(t *testing.T) {
	r := Every{Random: 0.9}.Rounds(1<<60, 1, 1, 0)
	if n := r.N(); n != maxRandom || r.End(n-1, 5) != 5 {
		t.Errorf("got %d rounds up to example %d, want %d up to 5", n, r.End(n-1, 5), maxRandom)
	}
}

func TestRoundsByAmount(t *testing.T) {
	for _, c := range []struct {
		e    Every
		n    float64
		want int
	}{
		{Every{}, 1000, 1},
		{Every{Amount: Amount{N: 100}}, 1000, 10},
		{Every{Amount: Amount{N: 300}}, 1000, 4},
		{Every{Amount: Amount{Share: 0.1}}, 1000, 10},
		{Every{Amount: Amount{Share: 0.1}}, 1000.25, 10},
		{Every{Amount: Amount{Share: 0.3}}, 1000.25, 4},
		{Every{Amount: Amount{Share: 0.001}}, 10.5, 11},
		{Every{Amount: Amount{Share: 1}}, 1000.25, 1},
		{Every{Amount: Amount{Share: 0.5}}, 1, 1},
		{Every{Amount: Amount{N: 5}}, 0, 1},
	} {
		if got := c.e.Rounds(c.n, 1, 0, 0).N(); got != c.want {
			t.Errorf("%+v of %v examples: got %d rounds, want %d", c.e, c.n, got, c.want)
		}
	}
}
