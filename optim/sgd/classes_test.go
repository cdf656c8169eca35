// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"math"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
)

func classLearner(t testing.TB, cfg Config, k int) *Classes {
	t.Helper()
	l, err := loss.New("logistic")
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewClasses(cfg, l, k)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Each class is a separate learner: its weights and sums have the bits of a learner that sees
// only "mine" and "not mine". (With l1 and l2 the classes share the pending regularisation, so
// this does not hold.)
func TestClassesAreLearnersOfTheirOwn(t *testing.T) {
	const k, width = 5, 8
	for name, cfg := range rules() {
		if cfg.L1 != 0 {
			continue
		}
		all := classLearner(t, cfg, k)
		b := batch(200, 20, cfg.Bits-3) // the weights of no two features overlap
		single := make([]*Learner, k)
		for class := range single {
			single[class] = learner(t, cfg, "logistic")
			if class > 0 { // only the first class counts the examples of InitialT
				sc := single[class].Scalars()
				sc.Nsx, sc.TotalWeight = 0, 0
				single[class].SetScalars(sc)
			}
		}
		for i := range b.Examples {
			ex := &b.Examples[i]
			fs := b.FeaturesOf(ex)
			right := i * 7 % (k + 1) // k: no class
			scores := slices.Clone(all.Learn(fs, ex, right))
			for class, lr := range single {
				own := *ex
				own.Label = -1
				if class == right {
					own.Label = 1
				}
				if _, p, _ := lr.Learn(fs, &own); p != scores[class] {
					t.Fatalf("%s: example %d: score of class %d is %v, by itself %v", name, i, class, scores[class], p)
				}
			}
		}
		stride := all.Whole.Stride()
		for class, lr := range single {
			sc := lr.Scalars()
			if got := all.Sums()[class]; got != (ClassSums{sc.Nsx, sc.TotalWeight}) {
				t.Errorf("%s: sums of class %d are %v, by itself %v and %v", name, class, got, sc.Nsx, sc.TotalWeight)
			}
			for i := range 1 << (cfg.Bits - 3) {
				got := all.Whole.Weights()[(i*width+class)*stride:][:stride]
				if want := lr.Weights()[i*stride:][:stride]; !slices.Equal(got, want) {
					t.Fatalf("%s: class %d: weight %d is %v, by itself %v", name, class, i, got, want)
				}
			}
		}
	}
}

// With more classes than weights per feature, the features share weights, as their hashes do.
func TestClassesShareTheTable(t *testing.T) {
	cfg := Flags{Bits: 3}.Config()
	c := classLearner(t, cfg, 5)
	ex := feature.Example{Label: 1, Weight: 1}
	c.Learn([]feature.Feature{{Index: 6, Value: 1}}, &ex, 0)
	for i := range 8 {
		if w := c.Whole.Weights()[4*i]; (w != 0) != (i < 5) {
			t.Errorf("weight %d is %v", i, w)
		}
	}
	for _, k := range []int{0, 9} {
		if _, err := NewClasses(cfg, c.Whole.loss, k); err == nil {
			t.Errorf("%d classes in 8 weights are accepted", k)
		}
	}
}

// A sample visits every class as often as any other, except the right one, with a factor that
// keeps the sum of weights.
func TestSubsampleGoesRound(t *testing.T) {
	const k, n = 6, 2
	c := classLearner(t, Flags{Bits: 6, Normalized: true, Invariant: true}.Config(), k)
	if _, err := c.Subsample(k, 0); err == nil {
		t.Error("a sample of all classes is accepted")
	}
	if _, err := c.Subsample(n, 0); err != nil {
		t.Fatal(err)
	}
	ex := feature.Example{Label: 1, Weight: 1}
	for range 30 {
		c.LearnSample([]feature.Feature{{Index: 1, Value: 1}}, &ex, -1)
	}
	for class, s := range c.Sums() {
		if math.Abs(s.TotalWeight-30) > 1e-3 { // 10 visits of weight k/n
			t.Errorf("class %d learned a weight of %v, want 30", class, s.TotalWeight)
		}
	}
}

// An example without weight uses its turns and changes no weight.
func TestSubsampleTurnsWithoutWeight(t *testing.T) {
	const k, n = 4, 1
	c := classLearner(t, Flags{Bits: 6, Normalized: true, Invariant: true}.Config(), k)
	if _, err := c.Subsample(n, 0); err != nil {
		t.Fatal(err)
	}
	fs := []feature.Feature{{Index: 1, Value: 1}}
	for i := range 3 * k {
		ex := feature.Example{Label: 1, Weight: 1}
		if i%k != 0 {
			ex.Weight = 0
		}
		c.LearnSample(fs, &ex, -1)
	}
	learned := 0
	for _, s := range c.Sums() {
		if s.TotalWeight > 0 {
			learned++
		}
	}
	if learned != 1 {
		t.Errorf("%d classes learned, want the one whose turn falls on every example with weight", learned)
	}
	if sc := c.Whole.Scalars(); sc.T != 0 {
		t.Errorf("time is %v, want 0: to vw these examples have no label", sc.T)
	}
}

func TestClassesDoNotAllocate(t *testing.T) {
	cfg := Flags{Bits: 12}.Config()
	c := classLearner(t, cfg, 10)
	b := batch(50, 30, 8)
	i := 0
	if n := testing.AllocsPerRun(200, func() {
		ex := &b.Examples[i%len(b.Examples)]
		c.Learn(b.FeaturesOf(ex), ex, i%10)
		i++
	}); n != 0 {
		t.Errorf("%v allocations an example", n)
	}
}

func BenchmarkClasses(b *testing.B) {
	cfg := Flags{Bits: 20}.Config()
	c := classLearner(b, cfg, 10)
	data := batch(2000, 75, 16)
	i := 0
	for b.Loop() {
		ex := &data.Examples[i%len(data.Examples)]
		c.Learn(data.FeaturesOf(ex), ex, i%10)
		i++
	}
}

// Weights, scalars, sums and the turn are the whole state of the classes: a copy with its own
// memory continues as the original would, and does not change the original's memory.
func TestCopiedClassesGoOn(t *testing.T) {
	for name, cfg := range rules() {
		make := func() *Classes {
			c := classLearner(t, cfg, 5)
			if _, err := c.Subsample(2, 7); err != nil {
				t.Fatal(err)
			}
			return c
		}
		b := batch(200, 20, cfg.Bits-3)
		teach := func(c *Classes, lo, hi int) {
			for i := lo; i < hi; i++ {
				c.LearnSample(b.FeaturesOf(&b.Examples[i]), &b.Examples[i], i%6)
			}
		}
		whole, part := make(), make()
		teach(whole, 0, 101)
		part.Use(slices.Clone(whole.Whole.Weights()))
		part.Whole.SetScalars(whole.Whole.Scalars())
		copy(part.Sums(), whole.Sums())
		if err := part.SetTurn(whole.Turn()); err != nil {
			t.Fatal(err)
		}
		teach(part, 101, 200)
		teach(whole, 101, 200)
		if whole.Whole.Scalars() != part.Whole.Scalars() || !slices.Equal(whole.Whole.Weights(), part.Whole.Weights()) || !slices.Equal(whole.Sums(), part.Sums()) {
			t.Errorf("%s: the copy went another way", name)
		}
	}
	if err := classLearner(t, Flags{Bits: 5}.Config(), 3).SetTurn(1); err == nil {
		t.Error("a turn was taken where classes are not sampled")
	}
}
