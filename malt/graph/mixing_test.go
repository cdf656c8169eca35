// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func mustMetropolis(t *testing.T, g *Graph) *Graph {
	t.Helper()
	m, err := g.Metropolis()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestSpectralGaps compares gaps with closed forms.
func TestSpectralGaps(t *testing.T) {
	for n := 3; n <= 64; n++ {
		for _, c := range []struct {
			g    *Graph
			want float64
		}{
			{All(n), 1},
			{OnePeer(n), 1},
			// The eigenvalues of a ring are (1 + 2 cos(2πk/n)) / 3; for k = 1 or, in small rings, k = ⌊n/2⌋.
			{Ring(n), 1 - max((1+2*math.Cos(2*math.Pi/float64(n)))/3, math.Abs(1+2*math.Cos(2*math.Pi*float64(n/2)/float64(n)))/3)},
		} {
			gap, err := c.g.Gap()
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(gap-c.want) > 1e-6 {
				t.Errorf("%s of %d ranks: got gap %v, want %v", c.g.Name(), n, gap, c.want)
			}
		}
	}
	// Ying et al., "Exponential graph is provably efficient", 2021: 2/(1+log2 n).
	for n := 4; n <= 128; n *= 2 {
		gap, err := Exponential(n).Gap()
		if err != nil {
			t.Fatal(err)
		}
		if want := 2 / (1 + math.Log2(float64(n))); math.Abs(gap-want) > 1e-6 {
			t.Errorf("exponential of %d ranks: got gap %v, want %v", n, gap, want)
		}
	}
	if _, err := Ring(maxGap + 1).Gap(); err == nil {
		t.Errorf("the gap of %d ranks was computed, want an error", maxGap+1)
	}
}

// TestGapPredictsConvergence compares the gap with the decay of the ranks' distance.
func TestGapPredictsConvergence(t *testing.T) {
	for _, name := range []string{"halton", "ring", "tree", "exponential"} {
		g, err := New(name, 24)
		if err != nil {
			t.Fatal(err)
		}
		gap, err := g.Gap()
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(5, 5))
		x := make([]float64, g.Size())
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		const warm, measured = 200, 100
		var before float64
		for round := range warm + measured {
			if round == warm {
				before = spread(x)
			}
			x = average(g, round, x)
			if s := spread(x); s > 0 { // keep it in range of float64
				for i := range x {
					x[i] /= s
				}
				before /= s
			}
		}
		got := math.Pow(spread(x)/before, 1.0/measured)
		if math.Abs(got-(1-gap)) > 0.02 {
			t.Errorf("%s: distances shrink by %v a round, want %v", name, got, 1-gap)
		}
	}
}

// spread returns the distance of the values from their mean, and centres them on it.
func spread(x []float64) float64 {
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	sum := 0.0
	for i := range x {
		x[i] -= mean
		sum += x[i] * x[i]
	}
	return math.Sqrt(sum)
}

func TestMetropolisKeepsTheMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		m, err := g.Metropolis()
		if !g.Undirected() {
			if err == nil {
				t.Fatal("a directed graph got Metropolis-Hastings weights, want an error")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		if !m.KeepsMean() {
			t.Fatalf("the weights do not keep the mean:\n%v", m)
		}
		gap, err := m.Gap()
		if err != nil || m.Size() > 1 && gap <= 0 {
			t.Fatalf("got gap %v and error %v, want a positive gap", gap, err)
		}
	})
}

func TestKeepsMean(t *testing.T) {
	for name, want := range map[string]bool{"all": true, "halton": true, "ring": true, "exponential": true, "one_peer": true, "tree": false, "star": false} {
		g, err := New(name, 7)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.KeepsMean(); got != want {
			t.Errorf("%s: KeepsMean is %v, want %v", name, got, want)
		}
	}
}
