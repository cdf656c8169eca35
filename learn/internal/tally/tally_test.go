// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/vwtext"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/loss"
)

// newTally returns a quiet tally of the squared loss, which writes its warnings to log.
func newTally(t interface{ Fatal(...any) }, log *bytes.Buffer) *Tally {
	l, err := loss.New("squared")
	if err != nil {
		t.Fatal(err)
	}
	link, err := loss.NewLink("identity")
	if err != nil {
		t.Fatal(err)
	}
	table, err := vwtext.NewTable(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	return &Tally{
		Loss: l, Link: link, Stats: vwtext.NewStats(), Job: &job.Job{}, Files: &output.PredictionFiles{},
		Console: &output.Console{Table: table, Hold: &output.Hold{}}, Log: slog.New(slog.NewTextHandler(log, nil)),
	}
}

// Examples with a class get its weight, by their label without its fraction.
func TestReweigh(t *testing.T) {
	w := classWeights{{1, 3}, {-1, 0.5}, {1, 100}, {2, 0}}
	for _, c := range []struct{ label, weight, want, spared float32 }{
		{1, 2, 6, 0},
		{1.9, 2, 6, 0},  // the class of 1.9 is 1
		{-1.5, 2, 1, 0}, // and that of -1.5 is -1
		{0.5, 2, 2, 0},  // class 0 is not listed
		{2, 5, 0, 5},    // its loss is that of the prediction before learning
		{2, -5, 0, 0},   // a negative weight has no such loss
		{feature.NoLabel, 2, 2, 0},
	} {
		ex := feature.Example{Label: c.label, Weight: c.weight}
		own := ex
		w.Reweigh(&own)
		if got := SparedWeight(&ex, &own); own.Weight != c.want || got != c.spared {
			t.Errorf("label %v: weight %v, spared %v, want %v, %v", c.label, own.Weight, got, c.want, c.spared)
		}
	}
}

// The weight of a class holds only for examples that are learned from, and the batch keeps its
// own.
func TestWeighted(t *testing.T) {
	var log bytes.Buffer
	for _, c := range []struct {
		held, testOnly bool
		want           float32
	}{{false, false, 6}, {true, false, 2}, {false, true, 2}} {
		ta := newTally(t, &log)
		ta.ClassWeights, ta.TestOnly = classWeights{{1, 3}}, c.testOnly
		b := &feature.Batch{Examples: []feature.Example{{Label: 1, Weight: 2}}}
		var got float32
		visit := ta.Weighted(func(_ *feature.Batch, ex *feature.Example, _ bool) error { got = ex.Weight; return nil })
		if err := visit(b, &b.Examples[0], c.held); err != nil || got != c.want || b.Examples[0].Weight != 2 {
			t.Errorf("held %v, test %v: weight %v, want %v; in the batch %v, error %v", c.held, c.testOnly, got, c.want, b.Examples[0].Weight, err)
		}
	}
}

// The counts of calls are those of vw's learners with and without a predict before each learn.
func TestCalls(t *testing.T) {
	labeled, unlabeled := &feature.Example{Label: 1}, &feature.Example{Label: feature.NoLabel}
	for _, first := range []bool{false, true} {
		n := Calls{PredictsFirst: first}
		n.Count(labeled, true)
		n.Count(labeled, false)
		n.Count(unlabeled, true)
		want := Calls{PredictsFirst: first, Learn: 1, Predict: 2}
		if first {
			want.Predict = 3
		}
		if n != want {
			t.Errorf("predicts first: %v: got %+v, want %+v", first, n, want)
		}
	}
}

// With --binary an example with the wrong sign costs its weight, and a label besides -1 and 1
// keeps the loss of its score.
func TestSigns(t *testing.T) {
	for _, c := range []struct{ p, label, wantP, wantL float32 }{
		{0.1, 1, 1, 0},
		{0.1, -1, 1, 4},
		{-2, 1, -1, 4},
		{-2, -1, -1, 0},
		{0, 1, -1, 4}, // vw counts 0 as negative
		{0.1, 0.5, 1, 9},
		{-0.1, feature.NoLabel, -1, 9},
	} {
		if p, l := signOf(c.p, 9, &feature.Example{Label: c.label, Weight: 4}); p != c.wantP || l != c.wantL {
			t.Errorf("score %v, label %v: prediction %v, loss %v, want %v, %v", c.p, c.label, p, l, c.wantP, c.wantL)
		}
	}
}

// The range of predictions is the hull of its start and of the labels that are not held out,
// unless it is fixed. One odd label is logged, however many there are.
func TestObserve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var log bytes.Buffer
		ta := newTally(t, &log)
		ta.Fixed = rapid.Bool().Draw(t, "fixed")
		ta.Odd = OddLabels{Want: loss.Range{Min: -1, Max: 1}, Half: 0, Warns: true}
		want := loss.Range{}
		odd := false
		label := rapid.OneOf(rapid.Float32Range(-3, 3), rapid.SampledFrom([]float32{feature.NoLabel, 0, 1, -1}))
		for range rapid.IntRange(0, 10).Draw(t, "examples") {
			ex, held := &feature.Example{Label: label.Draw(t, "label")}, rapid.Bool().Draw(t, "held")
			before := ta.Seen
			ta.Observe(ex, held)
			if ta.Before != before {
				t.Fatalf("Before is %v, want %v", ta.Before, before)
			}
			if !ex.Labeled() {
				continue
			}
			odd = odd || ex.Label < -1 || ex.Label > 1 || ex.Label == 0
			if !ta.Fixed && !held {
				want.Min, want.Max = min(want.Min, ex.Label), max(want.Max, ex.Label)
			}
		}
		if ta.Seen != want {
			t.Fatalf("the range is %v, want %v", ta.Seen, want)
		}
		if n := strings.Count(log.String(), "further ones are not shown"); odd && n != 1 || !odd && n != 0 {
			t.Fatalf("%d warnings, odd labels: %v", n, odd)
		}
	})
}

// The log of passes has the figures of each pass, although the sums run over all passes.
func TestPassLogTranscript(t *testing.T) {
	var log, lines bytes.Buffer
	ta := newTally(t, &log)
	ta.Passed.Out = &lines
	ta.Holdout, ta.Stop = true, EarlyStop{On: true, Patience: 1}
	all := &ta.Job.All.Stats
	for _, pass := range []struct{ loss, weight, heldLoss, heldWeight float64 }{
		{8, 10, 3, 6},
		{4, 10, 0, 0}, // no example was held out in this pass
		{1, 10, 6, 6},
	} {
		all.Examples += 20
		all.Loss, all.Labeled = all.Loss+pass.loss, all.Labeled+pass.weight
		all.Holdout.PassLoss, all.Holdout.PassWeight = pass.heldLoss, pass.heldWeight
		better, stop := ta.Stop.endPass(pass.heldLoss, pass.heldWeight)
		ta.Passed.endPass(better, stop, ta.Holdout, &all.Holdout)
		ta.Passes++
		if err := ta.logPass("SGD"); err != nil {
			t.Fatal(err)
		}
	}
	number := func(x float64) *float64 { return &x }
	want := []PassLine{
		{Pass: 1, Method: "SGD", Examples: 20, Weight: number(10), Loss: number(0.8), Holdout: number(0.5), Best: true},
		{Pass: 2, Method: "SGD", Examples: 20, Weight: number(10), Loss: number(0.4), Stop: true},
		{Pass: 3, Method: "SGD", Examples: 20, Weight: number(10), Loss: number(0.1), Holdout: number(1), Stop: true},
	}
	var got []PassLine
	for line := range strings.Lines(lines.String()) {
		var l PassLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		l.Seconds = 0 // depends on the clock
		got = append(got, l)
	}
	close := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
	if diff := cmp.Diff(want, got, close); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if ta.Passed.best != 1 || math.Abs(ta.Passed.bestTraining-0.8) > 1e-12 {
		t.Errorf("best pass %d with training loss %v, want pass 1 with 0.8", ta.Passed.best, ta.Passed.bestTraining)
	}
}

// A pass without labelled examples has no loss: the log has null, since JSON has no NaN.
func TestPassLogOfNoLabels(t *testing.T) {
	var log, lines bytes.Buffer
	ta := newTally(t, &log)
	ta.Passed.Out, ta.Passes = &lines, 1
	if err := ta.logPass("SGD"); err != nil {
		t.Fatal(err)
	}
	if got := lines.String(); !strings.HasPrefix(got, `{"pass":1,"method":"SGD","examples":0,"weight":0,"loss":null,"seconds":`) {
		t.Errorf("got %s", got)
	}
}

// The sums of an example with an infinite weight are infinite or undefined: the log has null.
func TestPassLogOfInfiniteWeight(t *testing.T) {
	var log, lines bytes.Buffer
	ta := newTally(t, &log)
	ta.Passed.Out = &lines
	all := &ta.Job.All.Stats
	all.Examples, all.Labeled, all.Loss = 3, math.Inf(1), math.Inf(1)
	for ta.Passes = 1; ta.Passes <= 2; ta.Passes++ {
		if err := ta.logPass("SGD"); err != nil {
			t.Fatal(err)
		}
	}
	first, second, _ := strings.Cut(lines.String(), "\n")
	for want, got := range map[string]string{
		`{"pass":1,"method":"SGD","examples":3,"weight":null,"loss":null,"seconds":`: first,
		`{"pass":2,"method":"SGD","examples":0,"weight":null,"loss":null,"seconds":`: second,
	} {
		if !strings.HasPrefix(got, want) {
			t.Errorf("got %s", got)
		}
	}
}

// The same holds for the measures in the file of --metrics_file.
func TestMeasuresOfInfiniteWeight(t *testing.T) {
	m, err := NewMeasures(metric.Set{metric.Calibration}, true, false)
	if err != nil {
		t.Fatal(err)
	}
	m.Own.Add(metric.Case{Label: 1, Weight: float32(math.Inf(1)), Probability: 0.25})
	m.keepOwn()
	m.endPass(1, true, true)
	var out bytes.Buffer
	if _, err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Metrics map[string]*float64
		Curve   []struct{ Weight *float64 } `json:"calibration_curve"`
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if w := got.Curve[2].Weight; w != nil || got.Metrics["calibration"] != nil {
		t.Errorf("calibration %v, weight of its bin %v, want null", got.Metrics["calibration"], w)
	}
	if w := got.Curve[3].Weight; w == nil || *w != 0 {
		t.Errorf("weight of an empty bin %v, want 0", w)
	}
}
