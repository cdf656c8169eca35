// SPDX-License-Identifier: Apache-2.0

package ftrl

import (
	"slices"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
)

func classes(t testing.TB, cfg Config, k int) *Classes {
	t.Helper()
	l, err := loss.New("squared")
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewClasses(cfg, l, k)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// someFeatures returns those of example i, whose weights no other feature has.
func someFeatures(i int) []feature.Feature {
	var fs []feature.Feature
	for k := range 4 {
		fs = append(fs, feature.Feature{Index: uint32((i*5 + k*3) % 16), Value: float32(i%7-3) + 0.25*float32(k)})
	}
	return fs
}

// Each class of Proximal, Pistol and FreeGrad has the weights of a learner that sees only "mine" and
// "not mine". Coin's classes share their sums.
func TestClassesAreLearnersOfTheirOwn(t *testing.T) {
	const k, width = 3, 4 // weights from one feature to the next
	for _, rule := range []Rule{Proximal, Pistol, FreeGrad} {
		all := classes(t, defaults(rule), k)
		single := make([]*Learner, k)
		for class := range single {
			single[class] = learner(t, defaults(rule))
			single[class].PredictFirst = true
		}
		r := loss.Range{}
		for i := range 60 {
			fs := someFeatures(i)
			ex := feature.Example{Label: 7, Weight: 1 + float32(i%3)}
			scores := slices.Clone(all.Learn(fs, &ex, i*7%(k+1)))
			before := r
			for class, lr := range single {
				own := ex
				own.Label = -1
				if class == i*7%(k+1) {
					own.Label = 1
				}
				r = r.Include(own.Label)
				lr.Shown, lr.Range = before, r
				if _, p, _ := lr.Learn(fs, &own); p != scores[class] {
					t.Fatalf("%v: example %d: score of class %d is %v, alone %v", rule, i, class, scores[class], p)
				}
			}
		}
		for class, lr := range single {
			for i := range 16 {
				stride := rule.Stride()
				got := all.Whole.Weights()[(i*width+class)*stride:][:stride]
				if want := lr.Weights()[i*stride:][:stride]; !slices.Equal(got, want) {
					t.Fatalf("%v: class %d: weight %d is %v, alone %v", rule, class, i, got, want)
				}
			}
		}
	}
}

// TestClassesAsVW holds scores, floats and sums against vw 9.11.9 on
//
//	1 | a:3 b
//	2 | a
//
// with --oaa 2 --noconstant. Both classes count in Coin's sums.
func TestClassesAsVW(t *testing.T) {
	const a, b = 3, 5
	for _, c := range []struct {
		rule   Rule
		scores [2]float32
		a      [2][]float32 // of each class
		sums   Sums
	}{
		{Proximal, [2]float32{0.428571, -0.428571}, [2][]float32{
			{0.241721, -3.69618, 44.1633},
			{-0.241721, 3.69618, 44.1633},
		}, Sums{}},
		{Pistol, [2]float32{0, 0}, [2][]float32{
			{0.530106, 2.93979, 9.06021, 3},
			{-0.530106, -2.93979, 9.06021, 3},
		}, Sums{}},
		{Coin, [2]float32{0, 0}, [2][]float32{
			{0.174437, 3.51351, 8.48649, 3, -0.594378, 2.48649},
			{-0.207273, -3.36842, 8.63158, 3, -0.575758, 2.63158},
		}, Sums{Norm: 4.22222, TotalWeight: 4}},
		{FreeGrad, [2]float32{0, 0}, [2][]float32{
			{0.232041, -3.53592, 78.0717, 6, 6, 0.41068},
			{-0.232041, 3.53592, 78.0717, 6, 6, 0.41068},
		}, Sums{TotalWeight: 4}},
	} {
		t.Run(c.rule.String(), func(t *testing.T) {
			lr := classes(t, defaults(c.rule), 2)
			ex := feature.Example{Label: 1, Weight: 1}
			lr.Learn([]feature.Feature{{Index: a, Value: 3}, {Index: b, Value: 1}}, &ex, 0)
			scores := lr.Learn([]feature.Feature{{Index: a, Value: 1}}, &ex, 1)
			for class, want := range c.a {
				if !near(scores[class], c.scores[class]) {
					t.Errorf("score of class %d is %v, want %v", class, scores[class], c.scores[class])
				}
				got := lr.Whole.Weights()[int(lr.Place(a, class))*lr.Whole.Stride():]
				for k, v := range want {
					if !near(got[lr.Whole.Slots()[k]], v) {
						t.Errorf("class %d: float %d is %v, want %v", class, k, got[k], v)
					}
				}
			}
			if sums := lr.Whole.Sums(); !near(float32(sums.Norm), float32(c.sums.Norm)) || sums.TotalWeight != c.sums.TotalWeight {
				t.Errorf("sums %v, want %v", sums, c.sums)
			}
		})
	}
}

// An example of weight 0 moves no weight, and raises the greatest value of its features,
// as in vw. With a sample of the classes it does neither.
func TestClassesTakeExamplesWithoutWeight(t *testing.T) {
	fs := []feature.Feature{{Index: 1, Value: -4}}
	ex := feature.Example{Label: 1}
	for _, rule := range []Rule{Pistol, Coin} {
		lr := classes(t, defaults(rule), 3)
		lr.Learn(fs, &ex, 0)
		for class := range 3 {
			w := lr.Whole.Weights()[int(lr.Place(1, class))*lr.Whole.Stride():]
			if w[0] != 0 || w[top] != 4 {
				t.Errorf("%v: class %d: weight %v, greatest value %v, want 0 and 4", rule, class, w[0], w[top])
			}
		}
		lr = classes(t, defaults(rule), 3)
		if _, err := lr.Subsample(1, 0); err != nil {
			t.Fatal(err)
		}
		lr.LearnSample(fs, &ex, 0)
		for i, v := range lr.Whole.Weights() {
			if v != 0 {
				t.Fatalf("%v: float %d is %v after a sample", rule, i, v)
			}
		}
	}
}

// Watch is called once for each class that learns, before its weights change.
func TestWatchSeesEachClass(t *testing.T) {
	for _, rule := range []Rule{Proximal, Pistol, Coin, FreeGrad} {
		lr := classes(t, defaults(rule), 3)
		var seen []int
		lr.Whole.Watch = func(class int, _ float32) {
			seen = append(seen, class)
			if z := lr.Whole.Weights()[int(lr.Place(1, class))*lr.Whole.Stride()+zeta]; z != 0 {
				t.Errorf("%v: class %d has learned already", rule, class)
			}
		}
		lr.Learn([]feature.Feature{{Index: 1, Value: 2}}, &feature.Example{Label: 1, Weight: 1}, 1)
		if !slices.Equal(seen, []int{0, 1, 2}) {
			t.Errorf("%v: saw classes %v", rule, seen)
		}
	}
}

func TestClassesMustFit(t *testing.T) {
	l, err := loss.New("squared")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{0, 257} {
		if _, err := NewClasses(defaults(Coin), l, k); err == nil {
			t.Errorf("%d classes in 2^8 weights are accepted", k)
		}
	}
	if _, err := NewClasses(Config{}, l, 1); err == nil {
		t.Error("an empty configuration is accepted")
	}
}

func TestClassesDoNotAllocate(t *testing.T) {
	for _, rule := range []Rule{Proximal, Pistol, Coin, FreeGrad} {
		lr := classes(t, defaults(rule), 5)
		fs, ex := someFeatures(1), feature.Example{Label: 1, Weight: 1}
		lr.Learn(fs, &ex, 2)
		if n := testing.AllocsPerRun(100, func() { lr.Learn(fs, &ex, 2) }); n != 0 {
			t.Errorf("%v: %v allocations an example", rule, n)
		}
	}
}

func BenchmarkLearn(b *testing.B) {
	for _, rule := range []Rule{Proximal, Pistol, Coin, FreeGrad} {
		fs := make([]feature.Feature, 75)
		for i := range fs {
			fs[i] = feature.Feature{Index: uint32(i * 3), Value: 0.5}
		}
		ex := feature.Example{Label: 1, Weight: 1}
		b.Run(rule.String(), func(b *testing.B) {
			lr := learner(b, defaults(rule))
			lr.Range = loss.Range{Min: -1, Max: 1}
			for b.Loop() {
				ex.Label = -ex.Label
				lr.Learn(fs, &ex)
			}
		})
		b.Run(rule.String()+"/classes", func(b *testing.B) {
			cfg := defaults(rule)
			cfg.Bits = 14
			lr := classes(b, cfg, 10)
			i := 0
			for b.Loop() {
				lr.Learn(fs, &ex, i%10)
				i++
			}
		})
	}
}
