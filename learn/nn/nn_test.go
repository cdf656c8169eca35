// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/modeltest"
)

// spirals returns examples of classes that no linear model separates: points on arms of a spiral.
func spirals(seed uint64, n, classes int) []Example {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]Example, n)
	for i := range out {
		class := r.IntN(classes)
		along := 0.2 + 0.8*r.Float64()
		angle := 2*math.Pi*float64(class)/float64(classes) + 2.5*along + 0.05*r.NormFloat64()
		out[i] = Example{Class: class, Weight: 1, Features: []feature.Feature{
			{Index: 0, Value: float32(along * math.Cos(angle))}, {Index: 1, Value: float32(along * math.Sin(angle))},
		}}
	}
	return out
}

func trained(t testing.TB, c Config, examples []Example, passes int) *Model {
	t.Helper()
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for pass := range passes {
		for _, ex := range examples {
			m.Update(ex, pass)
		}
		m.Flush(pass)
	}
	return m
}

func accuracy(m *Model, examples []Example) float64 {
	right := 0
	for _, ex := range examples {
		if Choose(m.Scores(ex.Features)) == ex.Class {
			right++
		}
	}
	return float64(right) / float64(len(examples))
}

// TestGradientsAreFiniteDifferences checks every weight of small nets with smooth activations.
func TestGradientsAreFiniteDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{
			Inputs: 3, Activation: Tanh, Hidden: rapid.SampledFrom([][]int{nil, {5}, {4, 3}}).Draw(t, "hidden"),
			Loss: rapid.SampledFrom(Losses).Draw(t, "loss"), Outputs: 3, Batch: 100, Seed: rapid.Uint64().Draw(t, "seed"),
			Text: rapid.Bool().Draw(t, "text"),
		}
		if c.Loss == Logistic {
			c.Outputs = 1
		}
		c.Embedding = len(c.Hidden) == 2
		m, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		ex := Example{Class: rapid.IntRange(0, max(c.Outputs-1, 1)).Draw(t, "class"), Weight: 2, Features: []feature.Feature{
			{Index: 0, Value: 1.5}, {Index: 2, Value: 0.5}, {Index: 7, Value: 9},
		}}
		slope := make([]float32, c.Outputs)
		loss := func() float64 { return m.loss(m.Scores(ex.Features), ex.Class, slope) }
		m.Update(ex, 0) // no step before 100 examples
		if c.Loss == Ranking {
			scores := m.Scores(ex.Features)
			for i, s := range scores {
				if i != ex.Class && math.Abs(float64(1-scores[ex.Class]+s)) < 0.05 {
					t.Skip("the loss has no gradient at its corner")
				}
			}
		}
		for i, l := range m.layers {
			for j := range l.w {
				const h = 1.0 / 128
				old := l.w[j]
				l.w[j] = old + h
				up := loss()
				l.w[j] = old - h
				want := 2 * (up - loss()) / float64(float32(old+h)-float32(old-h))
				l.w[j] = old
				if got := float64(l.g[j]); math.Abs(got-want) > 2e-3*(1+math.Abs(want)) {
					t.Fatalf("layer %d, weight %d: gradient %v, finite differences %v", i, j, got, want)
				}
			}
		}
	})
}

func TestKnownOutputs(t *testing.T) {
	m, err := New(Config{
		Inputs: 2, Hidden: []int{2}, Outputs: 2, Continue: true, Center: []float32{1, 0}, Scale: []float32{2, 2},
		Weights: [][]float32{{1, -1, 0.5, 0, 0, 0.5}, {1, 2, 3, 4, 0.5, -0.5}},
	})
	if err != nil {
		t.Fatal(err)
	}
	// Inputs (2−1)·2 and 1·2: hidden max(2+1, 0) and max(−2+0.5, 0); outputs 3·1+0.5 and 3·2−0.5.
	got := m.Scores([]feature.Feature{{Index: 0, Value: 2}, {Index: 1, Value: 1}})
	if diff := cmp.Diff([]float32{3.5, 5.5}, got); diff != "" {
		t.Error(diff)
	}
	if p := Probability(got, 1); math.Abs(p-1/(1+math.Exp(-2))) > 1e-12 {
		t.Errorf("probability: got %v", p)
	}
	if p := Probability([]float32{-1}, 0); math.Abs(p-1/(1+math.Exp(-1))) > 1e-12 {
		t.Errorf("probability of class 0: got %v", p)
	}
	if got := []int{Choose(got), Choose([]float32{-1}), Choose([]float32{1})}; !slices.Equal(got, []int{1, 0, 1}) {
		t.Errorf("classes: got %v", got)
	}
}

func TestKnownSteps(t *testing.T) {
	for _, c := range []struct {
		rule string
		want []float32 // weight 1 after each of two steps with the gradients 4/2 and 8/2 and lambda 0
	}{
		{Momentum, []float32{1 - 0.1*2, 0.8 - 0.1*(0.5*2+4)}},
		{AdaGrad, []float32{1 - 0.1, 0.9 - 0.1*4/4.472136}}, // √(2² + 4²)
	} {
		s := stepper{rule: c.rule, rate: 0.1, mean: 0.5, momentum: 0.5}
		w, g, state := []float32{1}, []float32{4}, []float32{0}
		for i, want := range c.want {
			s.step(w, g, state, 0)
			if math.Abs(float64(w[0]-want)) > 1e-6 || g[0] != 0 {
				t.Errorf("%s, step %d: weight %v, gradient %v, want %v and 0", c.rule, i, w[0], g[0], want)
			}
			g[0] = 8
		}
		w[0], g[0], state[0] = 1, 0, 0
		if s.step(w, g, state, 0.5); w[0] >= 1 {
			t.Errorf("%s: regularisation left the weight at %v", c.rule, w[0])
		}
	}
}

func TestHiddenLayersSeparateSpirals(t *testing.T) {
	train, test := spirals(1, 2000, 3), spirals(2, 500, 3)
	for _, c := range []Config{
		{Inputs: 2, Hidden: []int{32}, Outputs: 3, Rate: 0.05},
		{Inputs: 2, Hidden: []int{32}, Outputs: 3, Rate: 0.05, Activation: Tanh, Rule: Momentum},
		{Inputs: 2, Hidden: []int{8, 32}, Outputs: 3, Rate: 0.05, Embedding: true, Loss: Ranking},
	} {
		m := trained(t, c, train, 30)
		if got := accuracy(m, test); got < 0.97 {
			t.Errorf("%+v: accuracy %v, want 0.97", c, got)
		}
		if again := trained(t, c, train, 30); !slices.Equal(m.layers[0].w, again.layers[0].w) {
			t.Errorf("%+v: the same seed and order gave different weights", c)
		}
	}
	if got := accuracy(trained(t, Config{Inputs: 2, Outputs: 3}, train, 30), test); got > 0.9 {
		t.Errorf("accuracy of a linear model: got %v, want less: the spirals are not linear", got)
	}
}

func TestUpdateAndScoresAllocateNothing(t *testing.T) {
	examples := spirals(1, 50, 3)
	m := trained(t, Config{Inputs: 2, Hidden: []int{7, 5}, Outputs: 3, Batch: 8}, examples, 1)
	if n := testing.AllocsPerRun(100, func() {
		for _, ex := range examples {
			m.Update(ex, 0)
			m.Scores(ex.Features)
		}
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func TestVectorsAreTheirDefinitions(t *testing.T) {
	for n := range 13 {
		x, y := make([]float32, n), make([]float32, n)
		want := float32(0)
		for i := range n {
			x[i], y[i] = float32(i+1), float32(2*i-3)
			want += x[i] * y[i]
		}
		if got := dot(x, y); got != want {
			t.Errorf("dot of %d: got %v, want %v", n, got, want)
		}
		sum := slices.Clone(y)
		axpy(sum, 2, x)
		for i := range n {
			if sum[i] != y[i]+2*x[i] {
				t.Errorf("axpy of %d: got %v", n, sum)
			}
		}
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	err := Config{Hidden: []int{0}, Activation: "step", Loss: "none", Rule: "adam", Batch: -1, Rate: -1, Momentum: 1}.Validate()
	modeltest.Faults(t, err, "Inputs", "Hidden", "Outputs", "Activation", "Loss", "Rule", "Batch", "Rate", "Momentum")
	for _, c := range []Config{
		{Inputs: 1, Outputs: 2, Loss: Logistic},
		{Inputs: 1, Outputs: 1, Loss: Softmax},
		{Inputs: 1, Outputs: 1, Embedding: true},
		{Inputs: 2, Outputs: 1, Scale: []float32{1}},
		{Inputs: 2, Outputs: 1, Weights: [][]float32{{1}}},
		{Inputs: 2, Outputs: 1, Continue: true},
		{Inputs: 2, Outputs: 1, Quantiles: []float32{1, 2}},
		{Inputs: 2, Outputs: 1, Quantiles: []float32{1, 2, 3}},
		{Inputs: 2, Outputs: 1, Quantiles: []float32{1, 2, 4, 3}},
		{Inputs: 2, Outputs: 1, Quantiles: []float32{1, 2, 3, 4}, Text: true},
	} {
		if c.Validate() == nil {
			t.Errorf("%+v: got no error", c)
		}
	}
}

func TestBinaryRoundTripAndContinue(t *testing.T) {
	examples := spirals(1, 200, 3)
	for _, c := range []Config{
		{Inputs: 2, Hidden: []int{4}, Outputs: 3},
		{Inputs: 2, Hidden: []int{4}, Outputs: 3, InputIDs: []uint32{7, 8}, Center: []float32{0.1, 0}, Scale: []float32{1, 0.5}},
		{Inputs: 2, Hidden: []int{4}, Outputs: 3, Average: true, Quantiles: []float32{-1, 0, 1, -1, 0, 1}},
	} {
		m := trained(t, c, examples, 3)
		var read Model
		modeltest.RoundTrip(t, m, &read)
		if diff := cmp.Diff(m.Config(), read.Config(), cmp.Transformer("Kept", func(c Config) []any {
			return []any{c.Inputs, c.Hidden, c.Rate, c.InputIDs, c.Center, c.Scale, c.Average, c.Quantiles, c.Weights}
		})); diff != "" {
			t.Error(diff)
		}
		c = read.Config()
		c.Continue = true
		if got, want := accuracy(trained(t, c, examples, 30), examples), accuracy(m, examples); got <= want {
			t.Errorf("accuracy after more passes: got %v, want more than %v", got, want)
		}
	}
}

func FuzzUnmarshalBinary(f *testing.F) {
	m := trained(f, Config{Inputs: 2, Hidden: []int{2}, Outputs: 1, InputIDs: []uint32{3, 4}, Scale: []float32{1, 1}}, nil, 0)
	modeltest.Fuzz(f, m, func(m *Model) { m.Scores([]feature.Feature{{Index: 0, Value: 1}, {Index: math.MaxUint32, Value: 1}}) })
}

// TestStepsReportTheirRows checks that each step reports the rows of the first layer that it changes, in nets with sparse and
// with dense inputs. Momentum and L2 regularisation change only these, too. The change of a row that is reported may be 0, as
// where momentum cancels a gradient; a step reports no row of a feature that its examples do not have.
func TestStepsReportTheirRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const inputs = 6
		c := Config{
			Inputs: inputs, Outputs: 1, Batch: rapid.IntRange(1, 4).Draw(t, "batch"),
			Rule: rapid.SampledFrom(Rules).Draw(t, "rule"), Lambda: rapid.SampledFrom([]float64{0, 0.01}).Draw(t, "lambda"),
		}
		if rapid.Bool().Draw(t, "dense") {
			c.Center, c.Scale = []float32{0.5, 1.5, 2.5, 3.5, 4.5, 5.5}, []float32{1, 1, 1, 1, 1, 1}
		}
		reported := []int{}
		c.Stepped = func(rows []uint32) {
			for _, row := range rows {
				reported = append(reported, int(row))
			}
		}
		m, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		before := slices.Clone(m.layers[0].w)
		var batch []int // the features since the last step
		for _, index := range rapid.SliceOfN(rapid.Uint32Range(0, inputs+1), 1, 20).Draw(t, "features") {
			m.Update(Example{Class: 1, Weight: 1, Features: []feature.Feature{{Index: index, Value: 1}}}, 0)
			changed := []int{}
			for i := range inputs {
				if m.layers[0].w[i] != before[i] {
					changed = append(changed, i)
				}
			}
			batch = append(batch, int(index))
			for _, row := range changed {
				if !slices.Contains(reported, row) {
					t.Fatalf("after feature %d: rows %d have changed, %d are reported", index, changed, reported)
				}
			}
			for _, row := range reported {
				if c.Center == nil && !slices.Contains(batch, row) {
					t.Fatalf("after features %d: row %d is reported", batch, row)
				}
			}
			if len(reported) > 0 {
				batch = batch[:0]
			}
			copy(before, m.layers[0].w)
			reported = reported[:0]
		}
	})
}
