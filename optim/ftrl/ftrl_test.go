// SPDX-License-Identifier: Apache-2.0

package ftrl

import (
	"math"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
)

// defaults has vw's α and β.
func defaults(rule Rule) Config {
	alpha, beta := rule.Defaults()
	return Config{Rule: rule, Bits: 8, Alpha: alpha, Beta: beta, FreeGrad: FreeGradConfig{Wealth: 1}}
}

func learner(t testing.TB, cfg Config) *Learner {
	t.Helper()
	l, err := loss.New("squared")
	if err != nil {
		t.Fatal(err)
	}
	lr, err := New(cfg, l)
	if err != nil {
		t.Fatal(err)
	}
	return lr
}

// The features of the recorded runs.
const (
	a, b, constant = 178, 3, 92
)

// TestTwoExamplesAsVW holds predictions and sums against vw 9.11.9 on
//
//	1 | a:3 b
//	-1 | a:1
//
// with -b 8.
func TestTwoExamplesAsVW(t *testing.T) {
	for _, c := range []struct {
		rule        Rule
		predictions [2]float32
		losses      [2]float32
		weights     map[int][]float32
	}{
		{Proximal, [2]float32{0, 0.761905}, [2]float32{1, 3.10431}, map[int][]float32{
			a: {0.207178, -3.29755, 48.4172}, b: {0.333333, -2, 4}, constant: {-0.0154331, 0.155931, 16.4172},
		}},
		{Pistol, [2]float32{0, 1}, [2]float32{1, 4}, map[int][]float32{
			a: {0.530106, 2, 10, 3}, b: {0, 2, 2, 1}, constant: {0.918171, -2, 6, 1},
		}},
		{Coin, [2]float32{0, 0}, [2]float32{1, 2.71804}, map[int][]float32{
			a: {0.0742723, 2.7027, 9.2973, 3, -0.503401, 3.2973}, b: {0, 2, 2, 1, 0, 2}, constant: {0.222817, -1.2973, 5.2973, 1, -1.5102, 3.2973},
		}},
		{FreeGrad, [2]float32{0, 0.464082}, [2]float32{1, 2.143537}, map[int][]float32{
			a: {0.232041, -3.07184, 80.5742, 6, 6, 0.488027}, b: {0, -2, 8, 2, 2, 0}, constant: {0.232041, 0, 12, 2, 2.92816, 1},
		}},
	} {
		t.Run(c.rule.String(), func(t *testing.T) {
			lr := learner(t, defaults(c.rule))
			for i, fs := range [][]feature.Feature{
				{{Index: a, Value: 3}, {Index: b, Value: 1}, {Index: constant, Value: 1}},
				{{Index: a, Value: 1}, {Index: constant, Value: 1}},
			} {
				ex := feature.Example{Label: float32(1 - 2*i), Weight: 1}
				lr.Shown, lr.Range = lr.Range, lr.Range.Include(ex.Label)
				_, p, l := lr.Learn(fs, &ex)
				if !near(p, c.predictions[i]) || !near(l, c.losses[i]) {
					t.Errorf("example %d: prediction %v, loss %v, want %v, %v", i+1, p, l, c.predictions[i], c.losses[i])
				}
			}
			for i, want := range c.weights {
				got := lr.Weights()[i*lr.Stride():]
				for k, v := range want {
					if !near(got[lr.Slots()[k]], v) {
						t.Errorf("weight %d: float %d is %v, want %v", i, k, got[k], v)
					}
				}
				if len(want) != len(lr.Slots()) {
					t.Errorf("%d floats are kept, want %d", len(lr.Slots()), len(want))
				}
			}
		})
	}
}

func near(got, want float32) bool {
	return math.Abs(float64(got-want)) <= 6e-6*math.Max(1, math.Abs(float64(want)))
}

// An example without label or weight changes nothing.
func TestPredictingLearnsNothing(t *testing.T) {
	for _, rule := range []Rule{Proximal, Pistol, Coin, FreeGrad} {
		lr := learner(t, defaults(rule))
		for _, ex := range []feature.Example{{Label: feature.NoLabel, Weight: 1}, {Label: 1, Weight: 0}} {
			lr.Learn([]feature.Feature{{Index: 1, Value: 2}}, &ex)
		}
		for i, v := range lr.Weights() {
			if v != 0 {
				t.Fatalf("%v: float %d is %v", rule, i, v)
			}
		}
		if lr.Sums() != (Sums{}) {
			t.Errorf("%v: sums %v", rule, lr.Sums())
		}
	}
}

// With l1, features that hardly matter keep a weight of 0.
func TestProximalIsSparse(t *testing.T) {
	cfg := defaults(Proximal)
	cfg.L1 = 3
	lr := learner(t, cfg)
	lr.Range = loss.Range{Min: -1, Max: 1}
	for i := range 200 {
		ex := feature.Example{Label: float32(1 - 2*(i%2)), Weight: 1}
		lr.Learn([]feature.Feature{{Index: 1, Value: ex.Label}, {Index: 2, Value: 0.1}}, &ex)
	}
	w := lr.Weights()
	if w[4] == 0 || w[8] != 0 {
		t.Errorf("the weights are %v of the informative feature and %v of the other", w[4], w[8])
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{
		{Bits: 8},
		{Rule: Proximal},
		{Rule: Coin, Bits: 8, L1: 1},
		{Rule: Proximal, Bits: 8, L2: -1},
		{Rule: Pistol, Bits: 8, Alpha: -1},
		{Rule: Pistol, Bits: 8, Beta: float32(math.NaN())},
		{Rule: FreeGrad, Bits: 8},
		{Rule: FreeGrad, Bits: 8, FreeGrad: FreeGradConfig{Wealth: 1, Radius: -1}},
		{Rule: 9, Bits: 8},
	} {
		if err := c.Validate(); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	for _, rule := range []Rule{Proximal, Pistol, Coin, FreeGrad} {
		if got, ok := Named(rule.String()); !ok || got != rule {
			t.Errorf("Named(%q) = %v, %v", rule.String(), got, ok)
		}
	}
	if _, ok := Named(""); ok {
		t.Error("None has no option")
	}
}

func TestLearningDoesNotAllocate(t *testing.T) {
	for _, rule := range []Rule{Proximal, Pistol, Coin, FreeGrad} {
		lr := learner(t, defaults(rule))
		fs := []feature.Feature{{Index: 1, Value: 2}, {Index: 7, Value: -1}}
		ex := feature.Example{Label: 1, Weight: 1}
		lr.Range = lr.Range.Include(1)
		if n := testing.AllocsPerRun(100, func() { lr.Learn(fs, &ex) }); n != 0 {
			t.Errorf("%v: %v allocations an example", rule, n)
		}
	}
}
