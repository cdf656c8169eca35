// SPDX-License-Identifier: Apache-2.0

package masgd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
)

// example is an example with its features.
type example struct {
	fs []feature.Feature
	ex feature.Example
}

// lossOf returns a loss function.
func lossOf(t testing.TB, name string) loss.Loss {
	t.Helper()
	l, err := loss.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// draw returns examples with labels -1 and 1 over n weights. Features are different within an example.
func draw(rng *rand.Rand, examples, n, features int) []example {
	all := make([]example, examples)
	for i := range all {
		e := &all[i]
		for _, at := range rng.Perm(n)[:features] {
			e.fs = append(e.fs, feature.Feature{Index: uint32(at), Value: float32(rng.NormFloat64())})
		}
		e.ex = feature.Example{Label: float32(2*rng.IntN(2) - 1), Weight: 1}
	}
	return all
}

// dense is the definition of a step: it changes every weight at once.
func (c *Config) dense(w, control []float64, batch []example, rate float64, r loss.Range) {
	g, weight := make([]float64, len(w)), 0.0
	for _, e := range batch {
		p := float64(e.ex.Initial)
		for _, f := range e.fs {
			p += w[f.Index] * float64(f.Value)
		}
		u := -float64(c.Loss.First(r, r.Clip(float32(p)), e.ex.Label)) * float64(e.ex.Weight)
		for _, f := range e.fs {
			g[f.Index] += u * float64(f.Value)
		}
		weight += float64(e.ex.Weight)
	}
	length := rate
	if c.Batch <= 1 {
		length, weight = rate*weight, weight*weight/weight
		for i := range g {
			g[i] /= weight
		}
		weight = 1
	}
	for i := range w {
		w[i] = (1-length*c.L2)*w[i] + length*g[i]/weight
		if control != nil {
			w[i] += length * control[i]
		}
		w[i] = truncate(w[i], length*c.L1)
	}
}

// The learner, which writes only the weights of the example, computes the same weights as the definition, which
// writes all of them, for all kinds of steps.
func TestLazyStepsAreThoseOfTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"squared", "logistic", "hinge"}).Draw(t, "loss")
		f, err := loss.New(name)
		if err != nil {
			t.Fatal(err)
		}
		regular := rapid.SampledFrom([]float64{0, 1e-3, 0.05, 1.5})
		c := Config{
			Loss: f, Rate: 0.1, PowerT: rapid.SampledFrom([]float64{0, 0.5, 0.3}).Draw(t, "power"),
			L2: regular.Draw(t, "L2"), Batch: rapid.IntRange(0, 4).Draw(t, "batch"),
		}
		var control []float32
		var control64 []float64
		const n = 12
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		if rapid.Bool().Draw(t, "control") {
			c.ConstantRate = true
			for range n {
				control = append(control, float32(rng.NormFloat64()))
				control64 = append(control64, float64(control[len(control)-1]))
			}
		} else {
			c.L1 = regular.Draw(t, "L1") / 10
		}
		w, want := make([]float32, n), make([]float64, n)
		l, err := New(c, w)
		if err != nil {
			t.Fatal(err)
		}
		l.Range = loss.Range{Min: -50, Max: 50}
		steps := 0.0
		for range 3 { // rounds
			examples := draw(rng, rapid.IntRange(0, 20).Draw(t, "examples"), n, 3)
			began := steps
			l.Begin(w, control, steps)
			for _, e := range examples {
				l.Learn(e.fs, &e.ex)
			}
			l.End()
			for batch := range slices.Chunk(examples, max(c.Batch, 1)) {
				at := steps
				if c.ConstantRate {
					at = began
				}
				c.dense(want, control64, batch, c.RateAt(at), l.Range)
				steps++
			}
			if l.Steps() != steps-began || l.Weight() != float64(len(examples)) {
				t.Fatalf("got %v steps and weight %v, want %v and %v", l.Steps(), l.Weight(), steps-began, len(examples))
			}
		}
		for i := range w {
			if d := math.Abs(float64(w[i]) - want[i]); !(d <= 1e-4*(1+math.Abs(want[i]))) {
				t.Fatalf("weight %d: got %v, want %v", i, w[i], want[i])
			}
		}
	})
}

// Regularisation writes no weight except those of the example: as many writes as without it.
func TestRegularisationCostsNoWrites(t *testing.T) {
	const n = 1000
	examples := draw(rand.New(rand.NewPCG(1, 2)), 500, n, 10)
	// writes returns how many weights differ after each step from before, in all.
	writes := func(c Config, control []float32) (count int) {
		w := make([]float32, n)
		for i := range w {
			w[i] = 1
		}
		l, err := New(c, w)
		if err != nil {
			t.Fatal(err)
		}
		l.Begin(w, control, 0)
		before := make([]float32, n)
		for _, e := range examples {
			copy(before, w)
			l.Learn(e.fs, &e.ex)
			for i := range w {
				if w[i] != before[i] {
					count++
				}
			}
		}
		l.End()
		return count
	}
	plain := Config{Loss: lossOf(t, "logistic"), Rate: 0.1, ConstantRate: true}
	l1, l2 := plain, plain
	l1.L1, l2.L2 = 1e-4, 1e-2
	control := make([]float32, n)
	for i := range control {
		control[i] = 1e-3
	}
	want := writes(plain, nil)
	if want > 10*len(examples) || want < 9*len(examples) {
		t.Fatalf("without regularisation %d writes, want about %d", want, 10*len(examples))
	}
	for name, got := range map[string]int{"L1": writes(l1, nil), "L2": writes(l2, nil), "a control variate": writes(l2, control)} {
		if got > want+want/100 { // rounding can hide or show a write
			t.Errorf("with %s %d writes, without %d", name, got, want)
		}
	}
}

// The scale is multiplied into the weights before it underflows, and the weights stay exact.
func TestScaleIsFolded(t *testing.T) {
	w := []float32{1, 1}
	l, err := New(Config{Loss: lossOf(t, "squared"), Rate: 0.5, L2: 1, ConstantRate: true}, w)
	if err != nil {
		t.Fatal(err)
	}
	l.Begin(w, nil, 0)
	e := feature.Example{Label: 0, Weight: 1} // no features: only the shrinkage
	for range 100 {
		if l.Learn(nil, &e); l.scale < minScale {
			t.Fatalf("the scale is %v", l.scale)
		}
	}
	l.End()
	if want := float32(math.Pow(0.5, 100)); w[0] != want || w[1] != want {
		t.Errorf("got %v, want %v", w, want)
	}
}

// Examples without a label or a weight change nothing, and predictions are those of the weights.
func TestExamplesWithoutLabelOrWeight(t *testing.T) {
	for _, c := range []Config{{L1: 0.1}, {L2: 0.1}} {
		c.Loss, c.Rate = lossOf(t, "squared"), 1
		w := []float32{2}
		l, err := New(c, w)
		if err != nil {
			t.Fatal(err)
		}
		l.Range = loss.Range{Min: -9, Max: 9}
		l.Begin(w, nil, 0)
		fs := []feature.Feature{{Index: 0, Value: 3}}
		nan := feature.Example{Label: feature.NoLabel, Weight: 1}
		none := feature.Example{Label: 1}
		for _, e := range []feature.Example{nan, none} {
			if raw, clipped, _ := l.Learn(fs, &e); raw != 6 || clipped != 6 {
				t.Errorf("got predictions %v and %v, want 6", raw, clipped)
			}
		}
		if l.End(); w[0] != 2 || l.Steps() != 0 {
			t.Errorf("got weight %v after %v steps, want 2 after none", w[0], l.Steps())
		}
	}
}

// Between Begin and End the learner predicts by the weights that End would leave.
func TestPredictionsSeePendingSteps(t *testing.T) {
	for _, c := range []Config{{L1: 1e-2}, {L2: 1e-1}, {L1: 1e-3, L2: 1e-2}} {
		c.Loss, c.Rate = lossOf(t, "squared"), 0.1
		w := make([]float32, 20)
		l, err := New(c, w)
		if err != nil {
			t.Fatal(err)
		}
		l.Range = loss.Range{Min: -9, Max: 9}
		l.Begin(w, nil, 0)
		rng := rand.New(rand.NewPCG(3, 3))
		for _, e := range draw(rng, 50, 20, 3) {
			l.Learn(e.fs, &e.ex)
		}
		last := draw(rng, 1, 20, 5)[0]
		before, _ := l.Predict(last.fs, 1)
		at := l.At(last.fs[0].Index)
		l.End()
		after, _ := Score(w, last.fs, 1, l.Range)
		if math.Abs(float64(before-after)) > 1e-5 || math.Abs(float64(at-w[last.fs[0].Index])) > 1e-6 {
			t.Errorf("%+v: got %v and %v, want %v and %v", c, before, at, after, w[last.fs[0].Index])
		}
	}
}

// An invariant step does not pass the label, however large the rate.
func TestInvariantStepsDoNotOvershoot(t *testing.T) {
	w := []float32{0}
	l, err := New(Config{Loss: lossOf(t, "squared"), Rate: 1e6, Invariant: true}, w)
	if err != nil {
		t.Fatal(err)
	}
	l.Range = loss.Range{Min: -9, Max: 9}
	l.Begin(w, nil, 0)
	fs := []feature.Feature{{Index: 0, Value: 3}}
	l.Learn(fs, &feature.Example{Label: 1, Weight: 1})
	if p, _ := l.Predict(fs, 0); math.Abs(float64(p)-1) > 1e-5 {
		t.Errorf("got prediction %v, want 1", p)
	}
}

func TestLearnAllocatesNothing(t *testing.T) {
	examples := draw(rand.New(rand.NewPCG(1, 2)), 100, 100, 10)
	for _, c := range []Config{{L2: 1e-3}, {L1: 1e-3}, {Batch: 10}} {
		c.Loss, c.Rate = lossOf(t, "logistic"), 0.1
		w := make([]float32, 100)
		l, err := New(c, w)
		if err != nil {
			t.Fatal(err)
		}
		round := func() {
			l.Begin(w, nil, 0)
			for i := range examples {
				l.Learn(examples[i].fs, &examples[i].ex)
			}
			l.End()
		}
		round() // makes room for the weights that a batch touches
		if n := testing.AllocsPerRun(5, round); n != 0 {
			t.Errorf("%+v: got %v allocations, want 0", c, n)
		}
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	err := Config{Rate: -1, PowerT: math.NaN(), L1: -1, L2: math.Inf(1), Batch: 2, Invariant: true}.Validate()
	for _, field := range []string{"Loss", "Rate", "PowerT", "L1", "L2", "Invariant"} {
		if err == nil || !strings.Contains(err.Error(), "masgd: "+field+": got ") {
			t.Errorf("%v lacks %s", err, field)
		}
	}
	if _, err := New(Config{Loss: lossOf(t, "squared")}, nil); err == nil {
		t.Error("a rate of 0 was accepted")
	}
}

func TestBeginPanicsOnMisuse(t *testing.T) {
	for name, f := range map[string]func(l *Learner){
		"another length":    func(l *Learner) { l.Begin(make([]float32, 3), nil, 0) },
		"a decaying rate":   func(l *Learner) { l.Begin(make([]float32, 2), make([]float32, 2), 0) },
		"a shorter control": func(l *Learner) { l.Begin(make([]float32, 2), make([]float32, 1), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if r := recover(); r == nil || !strings.HasPrefix(fmt.Sprint(r), "BUG: masgd: ") {
					t.Errorf("recovered %v", r)
				}
			}()
			l, err := New(Config{Loss: lossOf(t, "squared"), Rate: 1}, make([]float32, 2))
			if err != nil {
				t.Fatal(err)
			}
			f(l)
		})
	}
}
