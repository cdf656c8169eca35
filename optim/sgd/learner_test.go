// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/option"
)

// rules returns all combinations of the properties that select the loops.
func rules() map[string]Config {
	out := map[string]Config{}
	for _, adaptive := range []bool{false, true} {
		for _, normalized := range []bool{false, true} {
			for _, powerT := range []float32{0.5, 0.3} {
				for _, l1 := range []float64{0, 1e-4} {
					out[fmt.Sprintf("adaptive=%t,normalized=%t,power_t=%v,l1=%v", adaptive, normalized, powerT, l1)] = Config{
						Bits: 10, Adaptive: adaptive, Normalized: normalized, Invariant: true,
						LearningRate: 0.2, PowerT: powerT, InitialT: 1, DecayLearningRate: 0.9, L1: l1, L2: l1,
					}
				}
			}
		}
	}
	return out
}

func learner(t testing.TB, cfg Config, lossName string) *Learner {
	t.Helper()
	l, err := loss.New(lossName)
	if err != nil {
		t.Fatal(err)
	}
	lr, err := New(cfg, l)
	if err != nil {
		t.Fatal(err)
	}
	return lr
}

// batch returns n examples of about k features over 2^bits names, head-heavy, half of
// them without a value, with labels -1 and 1 from a hidden linear model.
func batch(n, k int, bits uint) *feature.Batch {
	const names = 1_000_000
	rng := rand.New(rand.NewPCG(11, 12))
	b := &feature.Batch{}
	for range n {
		ex := feature.Example{Weight: 1, FeatLo: uint32(len(b.Features))}
		m := k*2/3 + rng.IntN(k*2/3+1)
		score := 0.0
		for i := range m {
			r := rng.Float64()
			id := uint32(names * r * r * r)
			hash := id * 0x9e3779b1
			hash ^= hash >> 15
			x := float32(1)
			if i > m/2 {
				x = float32(rng.IntN(9999)+1) / 10000
			}
			index := hash & (1<<bits - 1)
			b.Features = append(b.Features, feature.Feature{Index: index, Value: x})
			score += float64(x) * float64(int32((index+1)*0x85ebca6b)) / (1 << 31)
		}
		b.Features = append(b.Features, feature.Feature{Index: feature.ConstantIndex & (1<<bits - 1), Value: 1})
		ex.Label = -1
		if rng.Float64() < 1/(1+math.Exp(-4*score/math.Sqrt(float64(m)))) {
			ex.Label = 1
		}
		ex.FeatHi = uint32(len(b.Features))
		b.Examples = append(b.Examples, ex)
	}
	return b
}

func learn(l *Learner, b *feature.Batch, lo, hi int) (sum float64) {
	for i := range b.Examples[lo:hi] {
		ex := &b.Examples[lo+i]
		_, _, loss := l.Learn(b.FeaturesOf(ex), ex)
		sum += float64(loss)
	}
	return sum
}

// Every rule learns: its loss on the second half of the data is below that of a constant
// prediction of 0.
func TestEveryRuleLearns(t *testing.T) {
	b := batch(4000, 15, 10)
	for name, cfg := range rules() {
		lr := learner(t, cfg, "logistic")
		learn(lr, b, 0, 2000)
		if mean := learn(lr, b, 2000, 4000) / 2000; !(mean < math.Ln2) {
			t.Errorf("%s: mean loss %.4f, a constant has %.4f", name, mean, math.Ln2)
		}
	}
}

// Weights and Scalars are the whole state of a learner: a copy continues as the original would.
func TestWeightsAndScalarsAreTheWholeState(t *testing.T) {
	b := batch(600, 15, 10)
	for name, cfg := range rules() {
		for _, lossName := range []string{"squared", "logistic", "hinge"} {
			if lossName == "hinge" { // an example without loss then moves by the factor of the last update
				cfg.SparseL2 = 0.01
			}
			whole := learner(t, cfg, lossName)
			learn(whole, b, 0, 300)
			whole.EndPass()
			part := learner(t, cfg, lossName)
			part.Use(slices.Clone(whole.Weights()))
			part.SetScalars(whole.Scalars())
			learn(whole, b, 300, 600)
			learn(part, b, 300, 600)
			if whole.Scalars() != part.Scalars() || !slices.Equal(whole.Weights(), part.Weights()) {
				t.Errorf("%s, %s: the copy went another way", name, lossName)
			}
		}
	}
}

// The fast loops are cases of the loop for every power_t, except the normalised rule without
// others: for it vw takes 1/N² there and N**(2·power_t-2) = 1/N here.
func TestFastLoopsAgreeWithTheGeneralOne(t *testing.T) {
	b := batch(500, 15, 10)
	for name, cfg := range rules() {
		if !cfg.squareRoot() || !cfg.Adaptive {
			continue
		}
		fast, general := learner(t, cfg, "squared"), learner(t, cfg, "squared")
		general.rule.sense, general.rule.both = sensePower, false
		for i := range b.Examples {
			ex := &b.Examples[i]
			fs := b.FeaturesOf(ex)
			_, p, _ := fast.Learn(fs, ex)
			_, q, _ := general.Learn(fs, ex)
			if math.Abs(float64(p-q)) > 2e-4 {
				t.Fatalf("%s: example %d: prediction %v, the general loop says %v", name, i, p, q)
			}
		}
	}
}

func TestExamplesWithoutLabelOrWeight(t *testing.T) {
	fs := []feature.Feature{{Index: 1, Value: 2}, {Index: 3, Value: -1}}
	taught := &feature.Example{Label: 1, Weight: 1}
	for name, cfg := range rules() {
		for _, c := range []struct {
			name string
			ex   feature.Example
			seen Scalars // the values that change even so
		}{
			{"no label", feature.Example{Label: feature.NoLabel, Weight: 1}, Scalars{}},
			{"no weight", feature.Example{Label: 0.5}, Scalars{}},
			{"no weight, a new label", feature.Example{Label: 7}, Scalars{Range: loss.Range{Max: 7}}},
		} {
			lr := learner(t, cfg, "squared")
			lr.Learn(fs, taught)
			weights, want := slices.Clone(lr.Weights()), lr.Scalars()
			want.Range.Max = max(want.Range.Max, c.seen.Range.Max)
			lr.Learn(fs, &c.ex)
			if got := lr.Scalars(); got != want || !slices.Equal(weights, lr.Weights()) {
				t.Errorf("%s: %s: learned from it: %+v, want %+v", name, c.name, got, want)
			}
		}
		// Without loss only t changes.
		lr := learner(t, cfg, "squared")
		before := slices.Clone(lr.Weights())
		want := lr.Scalars()
		want.T += 3
		lr.Learn(fs, &feature.Example{Label: 0, Weight: 3})
		if got := lr.Scalars(); got != want || !slices.Equal(before, lr.Weights()) {
			t.Errorf("%s: no loss: %+v, want %+v", name, got, want)
		}
	}
}

func TestNothingMakesWeightsNaN(t *testing.T) {
	inf := float32(math.Inf(1))
	for name, cfg := range rules() {
		lr := learner(t, cfg, "squared")
		for i, fs := range [][]feature.Feature{
			{{Index: 1, Value: 1}, {Index: 2, Value: inf}},
			{{Index: 1, Value: 1}, {Index: 2, Value: -inf}},
			{{Index: 1, Value: 1}, {Index: 2, Value: math.MaxFloat32}},
			{{Index: 1, Value: 1e-45}, {Index: 3, Value: 1e30}},
			{},
			{{Index: 1, Value: 1}, {Index: 2, Value: 3}},
		} {
			lr.Learn(fs, &feature.Example{Label: 1, Weight: 1})
			for k, w := range column(lr, weight) {
				if !finite(w) {
					t.Fatalf("%s: example %d makes weight %d %v", name, i, k, w)
				}
			}
		}
	}
}

func TestRangeFollowsLabelsUnlessFixed(t *testing.T) {
	fs := []feature.Feature{{Index: 1, Value: 1}}
	cfg := Flags{Bits: 3}.Config()
	lr := learner(t, cfg, "squared")
	for _, y := range []float32{2, -1, 1} {
		lr.Learn(fs, &feature.Example{Label: y, Weight: 1})
	}
	if want := (loss.Range{Min: -1, Max: 2}); lr.Range != want {
		t.Errorf("range %v, want %v", lr.Range, want)
	}
	cfg.FixedRange = true
	lr = learner(t, cfg, "squared")
	lr.Range = loss.Range{Min: 0.5, Max: 0.75}
	for range 20 {
		lr.Learn(fs, &feature.Example{Label: 2, Weight: 1})
	}
	raw, clipped := lr.Predict(fs, 0)
	if lr.Range.Max != 0.75 || clipped != 0.75 || raw <= 0.75 {
		t.Errorf("range %v, prediction %v clipped to %v", lr.Range, raw, clipped)
	}
	lr = learner(t, Flags{Bits: 3}.Config(), "logistic")
	lr.Learn(fs, &feature.Example{Label: 60, Weight: 1})
	if want := (loss.Range{Min: -50, Max: 50}); lr.Range != want {
		t.Errorf("logistic: range %v, want %v", lr.Range, want)
	}
}

// Predictions include pending regularisation, so applying it does not change them.
func TestMaterializeChangesNoPrediction(t *testing.T) {
	b := batch(400, 15, 10)
	for name, cfg := range rules() {
		cfg.L2 = 2e-3
		lr := learner(t, cfg, "logistic")
		learn(lr, b, 0, 400)
		if sc := lr.Scalars(); sc.Contraction >= 1 || (cfg.L1 > 0) != (sc.Gravity > 0) {
			t.Errorf("%s: gravity %v, contraction %v", name, sc.Gravity, sc.Contraction)
		}
		var before []float32
		for i := range b.Examples {
			p, _ := lr.Predict(b.FeaturesOf(&b.Examples[i]), 0)
			before = append(before, p)
		}
		lr.Materialize()
		if sc := lr.Scalars(); sc.Gravity != 0 || sc.Contraction != 1 {
			t.Errorf("%s: still due: gravity %v, contraction %v", name, sc.Gravity, sc.Contraction)
		}
		for i := range b.Examples {
			p, _ := lr.Predict(b.FeaturesOf(&b.Examples[i]), 0)
			if math.Abs(float64(p-before[i])) > 1e-5 {
				t.Fatalf("%s: prediction %v became %v", name, before[i], p)
			}
		}
	}
}

// Pending regularisation is applied before it exceeds the range of float32.
func TestDuesStayWithinTheirLimits(t *testing.T) {
	b := batch(3000, 15, 10)
	cfg := Flags{Bits: 10, L1: 20, L2: 0.5}.Config()
	lr := learner(t, cfg, "squared")
	for i := range b.Examples {
		ex := &b.Examples[i]
		lr.Learn(b.FeaturesOf(ex), ex)
		if sc := lr.Scalars(); sc.Contraction < minContraction || sc.Gravity > maxGravity {
			t.Fatalf("example %d: gravity %v, contraction %v", i, sc.Gravity, sc.Contraction)
		}
	}
}

func TestEndPassDecaysTheRate(t *testing.T) {
	lr := learner(t, Flags{Bits: 3, LearningRate: option.Some[float32](0.5), DecayLearningRate: 0.5}.Config(), "squared")
	lr.EndPass()
	lr.EndPass()
	if got := lr.Scalars().LearningRate; got != 0.125 {
		t.Errorf("learning rate %v after two passes at 0.5, want 0.125", got)
	}
}

func TestNoAllocationPerExample(t *testing.T) {
	b := batch(50, 15, 10)
	for name, cfg := range rules() {
		for _, lossName := range []string{"squared", "logistic"} {
			lr := learner(t, cfg, lossName)
			if n := testing.AllocsPerRun(5, func() { learn(lr, b, 0, 50) }); n != 0 {
				t.Errorf("%s, %s: Learn allocates %v times in 50 examples", name, lossName, n)
			}
			if n := testing.AllocsPerRun(5, func() {
				for i := range b.Examples {
					lr.Predict(b.FeaturesOf(&b.Examples[i]), 0)
				}
			}); n != 0 {
				t.Errorf("%s, %s: Predict allocates %v times in 50 examples", name, lossName, n)
			}
		}
	}
}

// BenchmarkLearn passes over 40,000 examples of 75 features in 2^22 weights, as
// text gives them; an operation is one example.
func BenchmarkLearn(b *testing.B) {
	data := batch(40_000, 75, 22)
	for _, c := range []struct {
		name  string
		flags Flags
	}{
		{"default", Flags{}},
		{"sgd", Flags{SGD: true, LearningRate: option.Some[float32](0.5)}},
		{"adaptive", Flags{Adaptive: true, LearningRate: option.Some[float32](0.5)}},
		{"normalized", Flags{Normalized: true, LearningRate: option.Some[float32](0.5)}},
		{"power_t=0.45", Flags{PowerT: option.Some[float32](0.45)}},
		{"l2", Flags{L2: 1e-6}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.flags.Bits = 22
			lr := learner(b, c.flags.Config(), "logistic")
			learn(lr, data, 0, len(data.Examples)) // fresh memory has other costs
			i, features := 0, 0
			for b.Loop() {
				ex := &data.Examples[i]
				fs := data.FeaturesOf(ex)
				lr.Learn(fs, ex)
				features += len(fs)
				if i++; i == len(data.Examples) {
					i = 0
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(features), "ns/feature")
		})
	}
}

// Prefetching changes only the speed of the learner.
func TestExpectAndPrefetchChangeNoResult(t *testing.T) {
	cfg := Config{Adaptive: true, Normalized: true, Invariant: true, LearningRate: 0.5, PowerT: 0.5, Bits: 18, DecayLearningRate: 1}
	rng := rand.New(rand.NewPCG(9, 9))
	var all []feature.Feature
	for range 40_000 {
		all = append(all, feature.Feature{Index: rng.Uint32N(1 << 18), Value: rng.Float32()})
	}
	var weights [2][]float32
	for told := range weights {
		l := learner(t, cfg, "squared")
		if told == 1 {
			l.Expect(all)
		}
		for i := 0; i+40 <= len(all); i += 40 {
			if told == 1 {
				l.Prefetch(all[i+40 : min(i+40+i%90, len(all))])
			}
			l.Learn(all[i:i+40], &feature.Example{Label: float32(i % 3), Weight: 1})
		}
		weights[told] = l.Weights()
	}
	if !slices.Equal(weights[0], weights[1]) {
		t.Error("weights differ")
	}
}
