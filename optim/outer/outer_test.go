// SPDX-License-Identifier: Apache-2.0

package outer

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The numbers are computed by hand from the formulas of the package, with η = 0.5 and μ = 0.5.
//
//	round 1: start 8, mean 4: δ = 4, v = 4, w = 8 − 0.5·(4 + 2) = 5
//	round 2: start 5, mean 3: δ = 2, v = 4, w = 5 − 0.5·(2 + 2) = 3
//	round 3: start 3, mean 3: δ = 0, v = 2, w = 3 − 0.5·(0 + 1) = 2.5
func TestStepComputesNesterovMomentum(t *testing.T) {
	o, err := New(Config{Rate: 0.5, Momentum: 0.5}, []float32{8})
	if err != nil {
		t.Fatal(err)
	}
	for round, c := range []struct{ mean, want float32 }{{4, 5}, {3, 3}, {3, 2.5}} {
		w := []float32{c.mean}
		if o.Step(w); w[0] != c.want {
			t.Errorf("round %d: got %v, want %v", round+1, w[0], c.want)
		}
	}
}

func TestPlainStepEndsAtTheMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Whole numbers, so that start − (start − mean) has no rounding error.
		weights := rapid.SliceOfN(rapid.Map(rapid.IntRange(-1000, 1000), func(i int) float32 { return float32(i) }), 1, 20)
		start := weights.Draw(t, "start")
		o, err := New(Config{Rate: float64(rapid.IntRange(0, 1).Draw(t, "rate"))}, start)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			mean := make([]float32, len(start))
			copy(mean, weights.Draw(t, "mean"))
			got := slices.Clone(mean)
			if o.Step(got); !slices.Equal(got, mean) {
				t.Fatalf("got %v, want the mean %v", got, mean)
			}
		}
	})
}

// Peek returns what Next returns afterwards, however often it is called before.
func TestPeekReturnsWhatNextReturns(t *testing.T) {
	o, err := New(Config{Rate: 0.5, Momentum: 0.5}, []float32{8})
	if err != nil {
		t.Fatal(err)
	}
	for round, c := range []struct{ mean, want float32 }{{4, 5}, {3, 3}, {3, 2.5}} {
		for range 2 {
			if got := o.Peek(0, c.mean); got != c.want {
				t.Errorf("round %d: Peek: got %v, want %v", round+1, got, c.want)
			}
		}
		if got := o.Next(0, c.mean); got != c.want {
			t.Errorf("round %d: Next: got %v, want %v", round+1, got, c.want)
		}
	}
}

// Weights that a round does not exchange keep their velocity.
func TestNextLeavesOtherWeights(t *testing.T) {
	o, err := New(Config{Momentum: 0.5}, []float32{1, 8})
	if err != nil {
		t.Fatal(err)
	}
	o.Next(1, 4)
	if got, want := o.Next(0, 1), float32(1); got != want {
		t.Errorf("weight 0: got %v, want %v: it has not moved", got, want)
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	err := Config{Rate: -1, Momentum: 1}.Validate()
	if err == nil || !strings.Contains(err.Error(), "Rate: got -1") || !strings.Contains(err.Error(), "Momentum: got 1") {
		t.Errorf("got %v, want faults of Rate and Momentum", err)
	}
	if _, err := New(Config{Rate: math.NaN()}, nil); err == nil {
		t.Error("a rate of NaN was accepted")
	}
	for _, c := range []Config{{}, {Rate: 1}} {
		if !c.Plain() {
			t.Errorf("%+v is not plain", c)
		}
	}
	if (Config{Rate: 0.5}).Plain() || (Config{Momentum: 0.5}).Plain() {
		t.Error("a rate of 0.5 or a momentum is plain")
	}
}

func TestStepPanicsOnAnotherLength(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	o, _ := New(Config{}, []float32{1})
	o.Step(nil)
}

func TestStepAllocatesNothing(t *testing.T) {
	w := make([]float32, 1000)
	o, err := New(Config{Rate: 0.7, Momentum: 0.9}, w)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() { o.Step(w) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
