// SPDX-License-Identifier: Apache-2.0

package svm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/modeltest"
)

// drawn returns examples of a noisy linear rule over size features, some of which are missing.
func drawn(seed uint64, n, size int) []Example {
	r := rand.New(rand.NewPCG(seed, 1))
	rule := make([]float64, size)
	for i := range rule {
		rule[i] = r.NormFloat64()
	}
	out := make([]Example, n)
	for i := range out {
		ex := Example{Label: -1, Weight: 1}
		sum := 0.3 * r.NormFloat64()
		for j := range size {
			if r.IntN(3) > 0 {
				x := float32(r.NormFloat64())
				ex.Features = append(ex.Features, feature.Feature{Index: uint32(j), Value: x})
				sum += rule[j] * float64(x)
			}
		}
		if sum > 0 {
			ex.Label = 1
		}
		out[i] = ex
	}
	return out
}

// plain is the definition of the method: all weights in float64, without scale, and the mean of all.
type plain struct {
	w, sum []float64
	t, n   int
}

func (p *plain) update(c Config, ex Example) {
	margin := 0.0
	for _, f := range ex.Features {
		margin += p.w[f.Index] * float64(f.Value)
	}
	rate := 1 / (c.Lambda * (float64(p.t) + c.T0))
	p.t++
	for i := range p.w {
		p.w[i] *= 1 - rate*c.Lambda
	}
	if y := ex.sign(); y*margin < 1 {
		for _, f := range ex.Features {
			p.w[f.Index] += rate * y * float64(ex.Weight) * float64(f.Value)
		}
	}
	if p.t > c.AverageFrom {
		p.n++
		for i, w := range p.w {
			p.sum[i] += w
		}
	}
}

func TestUpdateIsTheDefinitionWithoutTheScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 8).Draw(t, "size")
		c := Config{
			Size: size, Lambda: rapid.SampledFrom([]float64{1e-3, 0.01, 0.3}).Draw(t, "lambda"),
			T0:      rapid.SampledFrom([]float64{1.5, 10, 1000}).Draw(t, "t0"),
			Average: rapid.Bool().Draw(t, "average"),
		}
		if c.Average {
			c.AverageFrom = rapid.IntRange(0, 20).Draw(t, "from")
		}
		m, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		p := plain{w: make([]float64, size), sum: make([]float64, size)}
		for i, ex := range drawn(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 100).Draw(t, "n"), size) {
			ex.Weight = float32(i%3) / 2 * 2
			if ex.Weight == 0 {
				ex.Weight = 0.5
			}
			m.Update(ex)
			p.update(c, ex)
			if i%7 == 0 {
				m.Detach() // changes no prediction
			}
		}
		for i := range size {
			want := p.w[i]
			if c.Average && p.n > 0 {
				want = p.sum[i] / float64(p.n)
			}
			got := m.Predict([]feature.Feature{{Index: uint32(i), Value: 1}})
			if math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
				t.Fatalf("weight %d: got %v, want %v", i, got, want)
			}
		}
	})
}

// TestTheStepIsTheGradient compares a step of Update with finite differences of the objective of one example.
func TestTheStepIsTheGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 4
		weights := make([]float32, size)
		for i := range weights {
			weights[i] = float32(rapid.IntRange(-8, 8).Draw(t, "w")) / 8
		}
		ex := drawn(rapid.Uint64().Draw(t, "seed"), 1, size)[0]
		c := Config{Size: size, Lambda: 0.5, T0: 1e5, Weights: slices.Clone(weights)}
		objective := func(w []float32) float64 {
			c := c
			c.Weights = w
			m, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			return m.Evaluate([]Example{ex}).Value()
		}
		m, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		if margin := ex.sign() * m.Update(ex); math.Abs(margin-1) < 0.05 {
			t.Skip("the hinge has no gradient at its corner")
		}
		m.Rescale()
		rate := 1 / (c.Lambda * c.T0)
		for i := range weights {
			const h = 1.0 / 64
			up, down := slices.Clone(weights), slices.Clone(weights)
			up[i] += h
			down[i] -= h
			slope := (objective(up) - objective(down)) / (2 * h)
			got := (float64(weights[i]) - float64(m.v[i])) / rate
			if math.Abs(got-slope) > 0.02 {
				t.Fatalf("weight %d: the step has slope %v, finite differences %v", i, got, slope)
			}
		}
	})
}

func TestRescaleKeepsPredictions(t *testing.T) {
	for _, average := range []bool{false, true} {
		m, err := New(Config{Size: 4, T0: 10, Average: average})
		if err != nil {
			t.Fatal(err)
		}
		examples := drawn(7, 20, 4)
		for _, ex := range examples {
			m.Update(ex)
		}
		before, was := m.Predict(examples[0].Features), m.Scale()
		m.Rescale()
		if after := m.Predict(examples[0].Features); math.Abs(after-before) > 1e-4*(1+math.Abs(before)) || m.Scale() != 1 || was == 1 {
			t.Errorf("average %v: prediction before %v, after %v, scale %v, then %v", average, before, after, was, m.Scale())
		}
	}
}

func TestKnownSteps(t *testing.T) {
	m, err := New(Config{Size: 2, Lambda: 0.5, T0: 2})
	if err != nil {
		t.Fatal(err)
	}
	x := []feature.Feature{{Index: 0, Value: 1}, {Index: 1, Value: 2}}
	m.Update(Example{Label: 1, Weight: 1, Features: x}) // rate 1: w = (1, 2)
	if got := m.Predict(x); math.Abs(got-5) > 1e-6 {
		t.Errorf("after one step: got %v, want 5", got)
	}
	m.Update(Example{Label: 1, Weight: 1, Features: x}) // rate 2/3, no loss: w shrinks by 2/3
	if got := m.Predict(x); math.Abs(got-10.0/3) > 1e-6 {
		t.Errorf("after a step without loss: got %v, want %v", got, 10.0/3)
	}
	m.Update(Example{Label: -1, Weight: 0, Features: x})
	if got := m.Steps(); got != 2 {
		t.Errorf("an example of weight 0 counts: got %d steps, want 2", got)
	}
}

func TestTuneChoosesAStepThatLearns(t *testing.T) {
	examples := drawn(3, 2000, 20)
	for _, lambda := range []float64{1e-5, 1e-3, 0.1} {
		c := Config{Size: 20, Lambda: lambda}
		t0, err := Tune(c, examples[:500])
		if err != nil {
			t.Fatal(err)
		}
		c.T0 = t0
		m, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			for _, ex := range examples {
				m.Update(ex)
			}
		}
		if o := m.Evaluate(examples); o.Accuracy < 0.9 {
			t.Errorf("lambda %v, t0 %v: got accuracy %v, want 0.9", lambda, t0, o.Accuracy)
		}
	}
	if _, err := Tune(Config{Size: 2}, nil); err == nil {
		t.Error("Tune without examples: got no error")
	}
}

func TestFinishKeepsPredictions(t *testing.T) {
	examples := drawn(5, 300, 10)
	for _, average := range []bool{false, true} {
		m, err := New(Config{Size: 10, Average: average})
		if err != nil {
			t.Fatal(err)
		}
		for _, ex := range examples {
			m.Update(ex)
		}
		before := m.Evaluate(examples)
		m.Finish()
		if after := m.Evaluate(examples); math.Abs(after.Value()-before.Value()) > 1e-5 || m.Scale() != 1 {
			t.Errorf("average %v: objective before %v, after %v, scale %v", average, before.Value(), after.Value(), m.Scale())
		}
	}
}

func TestUpdateAndPredictAllocateNothing(t *testing.T) {
	examples := drawn(5, 10, 50)
	m, err := New(Config{Size: 50, Average: true})
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		for _, ex := range examples {
			m.Update(ex)
			m.Predict(ex.Features)
		}
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	err := Config{Size: 0, Lambda: -1, T0: 0.5, AverageFrom: 2}.Validate()
	modeltest.Faults(t, err, "Size", "Lambda", "T0", "AverageFrom")
}

func TestBinaryRoundTrip(t *testing.T) {
	examples := drawn(7, 200, 12)
	m, err := New(Config{Size: 12, Average: true, T0: 50})
	if err != nil {
		t.Fatal(err)
	}
	for _, ex := range examples {
		m.Update(ex)
	}
	var read Model
	modeltest.RoundTrip(t, m, &read)
	for _, ex := range examples {
		if got, want := read.Predict(ex.Features), m.Predict(ex.Features); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func FuzzUnmarshalBinary(f *testing.F) {
	m, err := New(Config{Size: 3})
	if err != nil {
		f.Fatal(err)
	}
	modeltest.Fuzz(f, m, nil)
}
