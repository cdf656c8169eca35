// SPDX-License-Identifier: Apache-2.0

package svrg

import (
	"math"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/reduction"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/sgd"
)

// text is examples of features 1 and 2.
func text(t *testing.T) *feature.Batch {
	t.Helper()
	p, err := feature.NewParser(feature.Config{Bits: 4, NoConstant: true})
	if err != nil {
		t.Fatal(err)
	}
	var b feature.Batch
	for i, line := range []string{"1 | 1:3 2", "-1 2 | 1", "2 | 2"} {
		if err := p.AppendLine(&b, []byte(line), int64(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	return &b
}

func newLearner(t *testing.T, stage string, rate float32) *learner {
	t.Helper()
	l, err := loss.New("squared")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Spec.New(reduction.Values{"svrg": {"true"}, "stage_size": {stage}})
	if err != nil {
		t.Fatal(err)
	}
	slots, err := sgd.NewSlots(sgd.Config{Bits: 6, LearningRate: rate, PowerT: 0.5, DecayLearningRate: 1}, l, plan.Slots, plan.Learners, 1)
	if err != nil {
		t.Fatal(err)
	}
	slots.Whole.Range = loss.Range{Min: -1, Max: 2}
	made, err := plan.Make(&reduction.Env{Base: slots, Loss: l})
	if err != nil {
		t.Fatal(err)
	}
	learner := made.(*learner)
	learner.Start()
	return learner
}

// learns learns from examples, and returns the predictions.
func (l *learner) learns(b *feature.Batch, examples []feature.Example) (scores []float32) {
	for i := range examples {
		scores = append(scores, l.Learn(b, &examples[i]).Score)
	}
	return scores
}

// ends ends a pass of a single process.
func (l *learner) ends() {
	l.Combined(l.env.Base.Whole.Weights(), l.pass+1)
	l.BeginPass(l.pass + 1)
}

func near(got, want, by float32) bool { return math.Abs(float64(got-want)) <= float64(by) }

// TestStagesAsVW compares with vw 9.11.9, for which 300 lines without labels followed the
// examples: it begins a pass while the last 256 lines of the one before are in its queue.
func TestStagesAsVW(t *testing.T) {
	b, l := text(t), newLearner(t, "2", 0.05)
	for pass, want := range [][]float32{{0, 0, 0}, {0, 0.033333, 0.1}, {0.37, -0.017667, 0.253}} {
		for i, got := range l.learns(b, b.Examples) {
			if !near(got, want[i], 2e-6) {
				t.Errorf("pass %d: prediction %d is %v, want %v", pass+1, i+1, got, want[i])
			}
		}
		l.ends()
	}
	w := l.env.Base.Whole.Weights()
	for i, want := range []float32{0.0192, 0.3277} {
		if got := w[(i+1)*width]; !near(got, want, 2e-6) {
			t.Errorf("weight %d is %v, want %v", i+1, got, want)
		}
	}
	if w[2*width+stable] != w[2*width] || w[2*width+sum] != 0 || w[count] != 0 {
		t.Errorf("row %v does not begin a stage", w[2*width:][:width])
	}
}

// Rows of two ranks average to rows whose mean gradient is that of all examples.
func TestMeanGradientIsThatOfAllRanks(t *testing.T) {
	b := text(t)
	whole, left, right := newLearner(t, "1", 0.1), newLearner(t, "1", 0.1), newLearner(t, "1", 0.1)
	whole.learns(b, b.Examples)
	left.learns(b, b.Examples[:1])
	right.learns(b, b.Examples[1:])
	mean := left.env.Base.Whole.Weights()
	for i, v := range right.env.Base.Whole.Weights() {
		mean[i] = (mean[i] + v) / 2
	}
	w := whole.env.Base.Whole.Weights()
	for _, f := range []int{1, 2} {
		if got, want := mean[f*width+sum]/mean[count], w[f*width+sum]/w[count]; want == 0 || !near(got, want, 1e-6) {
			t.Errorf("feature %d: mean gradient %v of two ranks, %v of one", f, got, want)
		}
	}
}

// At a constant rate the weights reach those of the least squares, at which single examples
// still have gradients.
func TestStepsReachTheOptimum(t *testing.T) {
	b, l := text(t), newLearner(t, "3", 0.02)
	l.env.Base.Whole.Range = loss.Range{Min: -10, Max: 10}
	for range 400 {
		l.learns(b, b.Examples)
		l.ends()
	}
	// The normal equations: 11u + 3v = 1 and 3u + 2v = 3, with the weight 2 of the second example.
	w := l.env.Base.Whole.Weights()
	if u, v := w[width], w[2*width]; !near(u, -7./13, 1e-3) || !near(v, 30./13, 1e-3) {
		t.Errorf("weights %v and %v, want %v and %v", u, v, -7./13, 30./13)
	}
}

// Counts go beyond the numbers that a float32 counts to.
func TestManyExamplesAreCounted(t *testing.T) {
	b, l := text(t), newLearner(t, "1", 0.1)
	w := l.env.Base.Whole.Weights()
	w[count] = chunk - 1
	l.learns(b, b.Examples[:2])
	if w[count] != 1 || w[width+count] != 1 {
		t.Errorf("%v units and %v chunks, want 1 and 1", w[count], w[width+count])
	}
}

func TestStageSizeMustBePositive(t *testing.T) {
	if _, err := Spec.New(reduction.Values{"svrg": {"true"}, "stage_size": {"0"}}); err == nil {
		t.Error("stages of 0 passes are accepted")
	}
}
